"""compare and advise on any server: totals are exact, waits are seen where there are some, and nothing is left behind, however
a run ends. A class beside these says how the server is asked:

    is_there()      whether the trial's place is there
    is_adding()     whether more than one session of a trial adds
    has_counted()   whether the design that is tried first beside the limit has counted something
    is_counting()   whether it counts now
    sessions()      how many connections of the program there are
    end_sessions()  ends them; how many
    remove_place()
    meddle(table)   adds 7 to each row of a table of the trial as soon as it has counted
    take_place()    makes a place of that name that is somebody else's; is_taken_place_whole()
"""
import json
import signal
import subprocess
import threading
import time

import support

SHORT = ["--sessions", "8", "--seconds", "1", "--rounds", "1"]


class Trial:
    def compared(self, *words, sizes=SHORT, env=None):
        answer = self.run_program("compare", *sizes, *words, "--json", env=env)
        self.assertEqual(answer.code, support.DONE, answer)
        report = json.loads(answer.out)
        return report, {one["name"]: one for one in report["designs"]}

    def start(self, *words, env=None):
        process = subprocess.Popen([support.PROGRAM, "compare", *words], env=env or support.environment(SPLITCOUNT_DB=self.address),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def started(self, *words):
        """A run whose sessions are adding."""
        process = self.start(*words)
        self.wait_until(self.is_adding, "the run adds")
        return process

    def assert_nothing_left(self):
        self.assertFalse(self.is_there())
        self.wait_until(lambda: self.sessions() == 0, "its sessions are closed")


class Totals(Trial):
    designs = {"limit", "count_rows", "one_row", "trigger", "random_11", "session", "free", "spread", "random", "value", "request",
               "once", "journal", "journal_folded", "batched"}
    setting = None  # one that the report has

    def test_every_total_is_exact_and_nothing_is_left(self):
        report, designs = self.compared()
        for name, one in designs.items():
            self.assertTrue(one["exact"], one)
            self.assertGreater(one["adds"], 0, name)
        self.assertEqual(set(designs), self.designs)
        self.assertEqual(report["designs"][0]["name"], "limit")
        help_text = " ".join(self.run_checked("compare", "--help").split())
        for name in set(designs) - {"limit"}:
            self.assertRegex(help_text, rf"[:,] {name}\b", "named in the help")
        self.assertEqual((report["sessions"], report["isolation"], report["work"]), (8, "read committed", "insert+count"))
        self.assertIn(self.setting, report["settings"])
        for name in ("once", "journal"):
            self.assertGreater(designs[name]["bytes_per_add"], 0, designs[name])
        self.assert_nothing_left()

    def test_waits_are_seen_at_one_row_and_not_at_a_slot_of_ones_own(self):
        _, designs = self.compared("--designs", "one_row,trigger,session,free,journal", "--work", "count")
        for name in ("one_row", "trigger"):
            self.assertGreater(designs[name]["share_waited"], 0.5, designs[name])
        for name in ("session", "free", "journal"):
            self.assertLessEqual(designs[name]["share_waited"], 0.05, designs[name])
        # The waits of one design leave nothing behind for the next one.
        self.assertEqual([one["retries"] for one in designs.values()], [0] * 6)

    def test_totals_above_read_committed(self):
        for level in ("repeatable-read", "serializable"):
            with self.subTest(level):
                report, designs = self.compared("--isolation", level, "--designs", "random_11,session,journal,once,batched")
                self.assertEqual(report["isolation"], level.replace("-", " "))
                self.assertTrue(all(one["exact"] for one in designs.values()), designs)
                self.look_at(designs)

    def look_at(self, designs):
        """What else is right above READ COMMITTED."""

    def test_the_users_own_counters_are_left_alone(self):
        self.define("hits", "--slots", "4")
        self.run_checked("add", "hits")
        self.compared("--designs", "session")
        self.assertEqual(int(self.one("SELECT total FROM hits")), 1)
        self.assertEqual([c["counter"] for c in json.loads(self.run_checked("list", "--json"))], ["hits"])


class Endings(Trial):
    def test_ctrl_c_removes_the_tables(self):
        process = self.started("--sessions", "4", "--seconds", "60", "--designs", "one_row")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, support.PARTIAL, (out, err))
        self.assertIn("removed", err)
        self.assert_nothing_left()

    def test_what_a_killed_run_left_is_removed_by_the_next(self):
        process = self.started("--sessions", "4", "--seconds", "60", "--designs", "one_row")
        process.kill()
        process.communicate()
        self.assertTrue(self.is_there())
        self.compared("--designs", "one_row")
        self.assert_nothing_left()

    def test_two_at_once(self):
        first = self.started("--sessions", "2", "--seconds", "60", "--designs", "one_row")
        second = self.run_program("compare", *SHORT)
        self.assertEqual(second.code, support.FAILED)
        self.assertIn("another trial is running", second.err)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, support.PARTIAL)
        self.assert_nothing_left()


class LostConnections(Trial):
    def test_the_rounds_that_were_done_are_shown(self):
        process = self.start("--sessions", "2", "--seconds", "1", "--rounds", "20", "--designs", "one_row", "--json",
                             env=self.environment_to_end())
        self.addCleanup(lambda: (process.kill(), process.communicate(), self.remove_place()))
        # The first update is of the first round's second turn; whoever is ended three seconds later is in a later round.
        self.wait_until(self.has_counted, "it has counted")
        time.sleep(3.5)
        self.wait_until(self.is_counting, "it counts")
        self.assertGreater(self.end_sessions(), 2)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, support.FAILED, (out, err))
        report = json.loads(out)
        self.assertGreaterEqual(report["rounds"], 1)
        self.assertLess(report["rounds"], 20)
        self.assertTrue(report["stopped"])
        self.assertTrue(all(len(one["adds_per_second"]["rounds"]) == report["rounds"] and one["exact"] for one in report["designs"]), report)
        self.assertRegex(err, r"\nsplitcount: \d+ rounds? of 20 done and shown, and then: \S")
        # Without a connection it cannot take its tables away; the next run does.
        self.run_checked("compare", *SHORT, "--designs", "one_row")
        self.assertFalse(self.is_there())

    def environment_to_end(self):
        """Of the program whose sessions end_sessions ends."""
        return None


class Refusals(Trial):
    """What cannot be right is refused before anything is created."""

    def assert_refused(self, code, *words_then_text, env=None):
        *words, text = words_then_text
        answer = self.run_program("compare", *words, env=env)
        self.assertEqual(answer.code, code, answer)
        self.assertIn(text, answer.err)
        self.assertFalse(self.is_there())

    def test_words_that_are_not_right(self):
        self.assert_refused(support.USAGE, "--sessions", "0", "a whole number from 1 to 1,000")
        self.assert_refused(support.USAGE, "--sessions", "+4", "a whole number")
        self.assert_refused(support.USAGE, "--seconds", "0", "a whole number")
        self.assert_refused(support.USAGE, "--rounds", "1e3", "a whole number")
        self.assert_refused(support.USAGE, "--designs", "one_row,two_rows", '"two_rows"')
        self.assert_refused(support.USAGE, "--work", "insert", "insert+count and count")
        self.assert_refused(support.USAGE, "--isolation", "snapshot", "read-committed")
        self.assert_refused(support.USAGE, "--slots", "1025", "1 to 1024")
        answer = self.run_program("advise", "--pick", "foo")
        self.assertEqual(answer.code, support.USAGE)
        self.assertIn('--pick "foo" is not right; session, spread, random, free and value are', answer.err)

    def test_more_sessions_than_the_server_has_room_for(self):
        self.assert_refused(support.FAILED, "--sessions", "900", "more than this server has room for")

    def test_a_place_of_that_name_that_is_not_ours(self):
        self.take_place()
        self.addCleanup(self.remove_place)
        answer = self.run_program("compare", *SHORT)
        self.assertEqual(answer.code, support.FAILED)
        self.assertIn("none of ours", answer.err)
        self.assertTrue(self.is_taken_place_whole())


class WrongTotals(Trial):
    """Somebody writes into the trial's tables: it is told, and nothing is advised."""

    def meddling(self, table):
        """Now and then."""
        def work():
            while not ended.is_set():
                self.meddle(table)

        ended = threading.Event()
        thread = threading.Thread(target=work)
        thread.start()
        self.addCleanup(lambda: (ended.set(), thread.join()))

    def test_compare_tells_and_exits_3(self):
        self.meddling("splitcount_trial.trial_1_slots")
        answer = self.run_program("compare", *SHORT, "--designs", "session", "--json")
        self.assertEqual(answer.code, support.DIFFERENCE, answer)
        self.assertIn("the total of session was wrong by", answer.err)
        self.assertFalse(json.loads(answer.out)["designs"][1]["exact"])

    def test_advise_advises_nothing(self):
        self.meddling("splitcount_trial.trial_1_slots")
        answer = self.run_program("advise", "--sessions", "2", "--seconds", "1", "--rounds", "2")
        self.assertEqual(answer.code, support.DIFFERENCE, answer)
        self.assertIn("Nothing is advised: the total of slots_1 was wrong by", answer.out)
        self.assertNotIn("splitcount define", answer.out)
        self.assertIn("was wrong by", answer.err)


class Advises(Trial):
    def test_it_advises_a_slot_count_or_says_that_it_cannot(self):
        answer = self.run_program("advise", "--sessions", "8", "--seconds", "1", "--rounds", "3", "--json")
        self.assertEqual(answer.code, support.DONE, answer)
        report = json.loads(answer.out)
        self.assertEqual([one["slots"] for one in report["designs"]][1:], [1, 2, 4, 8])
        self.assertTrue(all(one["exact"] for one in report["designs"] + report["picks"]))
        advice = report["advice"]
        if advice["sure"]:
            self.assertEqual(advice["define"].split()[:3], ["splitcount", "define", "NAME"])
            self.run_checked("define", "advised", *advice["define"].split()[3:])
        else:
            self.assertIn("too noisy to tell", advice["sentence"])
            self.assertIsNone(advice["define"])
        self.assert_nothing_left()

    def test_the_pick_by_value_is_tried_with_primes(self):
        answer = self.run_program("advise", "--pick", "value", "--sessions", "4", "--seconds", "1", "--rounds", "1", "--json")
        self.assertEqual(answer.code, support.DONE, answer)
        report = json.loads(answer.out)
        self.assertEqual([one["slots"] for one in report["designs"]][1:], [2, 5])
        self.assertEqual(report["picks"], [])
        self.assertFalse(report["advice"]["sure"])
        self.assertIn("One round cannot tell", report["advice"]["sentence"])
