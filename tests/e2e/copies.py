"""What the tests of `copy` share: two databases, `here` and `there`, as addresses; a kind of test says of which engines."""
import json
import signal
import sqlite3
import subprocess
import threading
import time

from support import DIFFERENCE, DONE, FAILED, IS_SHORT, LOG, PARTIAL, PROGRAM, environment, kill_points, random_numbers, targets_of

ODD_KEYS = ["/home", "Ab", "ab", " ab ", "a'b", 'a"b', "a\\b", "{key}", "k,1", "é", "e\u0301", "\U0001f600", "x\ny", "0", "00", "k" * 768]
ENDS = [2**63 - 1, -(2**63), 0, -1]


def many(keys):
    """Fewer under sanitizers."""
    return keys // 4 if IS_SHORT else keys


class Two:
    """Beside a Case, which says what `here` and `there` are."""

    default_slots = {"sqlite": 1, "postgresql": 16, "mariadb": 16}

    def at(self, dsn, *words, **how):
        return self.ok("--db", dsn, *words, **how)

    def json_at(self, dsn, *words, **how):
        return json.loads(self.at(dsn, *words, "--json", **how))

    def total_at(self, dsn, name, *key):
        return self.json_at(dsn, "total", name, *key)["total"]

    def copy(self, *words, here=None, there=None, code=DONE):
        answer = self.run_program("copy", "--from", here or self.here, "--to", there or self.there, *words, "--json")
        self.assertEqual(answer.code, code, answer)
        self.told = answer.err
        counters = json.loads(answer.out)["counters"]
        return counters[0] if len(counters) == 1 else counters

    def refuse(self, exit_code, error_code, *words, here=None, there=None):
        return self.refused(exit_code, error_code, "copy", "--from", here or self.here, "--to", there or self.there, *words)

    def fill(self, name, keys, dsn=None, times=1):
        """Lines of a file: fast for very many keys."""
        self.write(f"{name}.txt", "".join(f"{key}\n" for key in keys) * times)
        self.at(dsn or self.here, "define", name, "--key", "line")
        self.at(dsn or self.here, "count", f"{name}.txt", "--format", "lines", "--counter", name)

    def totals_at(self, dsn, name, keys):
        return {one["key"]: one["total"] for one in self.json_at(dsn, "top", name, "-n", str(keys))}

    def start(self, *words):
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class WhatIsCopied(Two):
    def test_odd_keys_and_the_ends_of_64_bits_come_out_as_they_were(self):
        self.at(self.here, "define", "pv", "--key", "page")
        for n, key in enumerate(ODD_KEYS):
            self.at(self.here, "add", "pv", f"--by={ENDS[n % len(ENDS)]}", "--", key)
        self.assertEqual(self.copy()["keys_written"], len(ODD_KEYS))
        for n, key in enumerate(ODD_KEYS):
            self.assertEqual(self.total_at(self.there, "pv", key), ENDS[n % len(ENDS)], key)
        # From one end to the other is more than 64 bits can say.
        self.at(self.here, "add", "pv", f"--by={-(2**63 - 1)}", ODD_KEYS[0])
        self.at(self.here, "add", "pv", f"--by={-(2**63)}", ODD_KEYS[0])
        self.at(self.here, "add", "pv", f"--by={2**63 - 1}", ODD_KEYS[1])
        self.at(self.here, "add", "pv", f"--by={2**63 - 1}", ODD_KEYS[1])
        self.assertEqual(self.copy()["keys_written"], 2)
        self.assertEqual(self.total_at(self.there, "pv", ODD_KEYS[0]), -(2**63))
        self.assertEqual(self.total_at(self.there, "pv", ODD_KEYS[1]), 2**63 - 2)

    def test_a_counter_without_a_key_and_one_with_defined_keys(self):
        self.at(self.here, "define", "hits")
        self.at(self.here, "add", "hits", "--by", "-7")
        self.at(self.here, "define", "untouched")
        self.at(self.here, "define", "votes", "yes", "no", "--key", "answer", "--missing", "error", "--slots", "3")
        self.at(self.here, "add", "votes", "no", "--by", "4")
        self.copy()
        self.assertEqual(self.total_at(self.there, "hits"), -7)
        self.assertEqual(self.total_at(self.there, "untouched"), 0)
        self.assertEqual(self.json_at(self.there, "slots", "votes", "yes"), [{"slot": n, "n": 0} for n in range(3)])
        self.assertEqual(self.total_at(self.there, "votes", "no"), 4)
        self.refused(FAILED, "key_missing", "--db", self.there, "add", "votes", "maybe")
        for _ in range(2):
            self.at(self.there, "add", "hits")
        self.assertEqual(self.total_at(self.there, "hits"), -5)

    def test_request_ids_are_known_there_until_their_window_ends(self):
        self.at(self.here, "define", "pv", "--key", "page", "--retries", "once:4s")
        self.at(self.here, "define", "wins", "--retries", "once")
        self.at(self.here, "add", "pv", "/", "--by", "5", "--request-id", "é 'r1'")
        counted = time.monotonic()
        self.at(self.here, "add", "wins", "--request-id", "w")
        copied = {one["counter"]: one["ids_written"] for one in self.copy()}
        self.assertEqual(copied, {"pv": 1, "wins": 1})
        self.assertTrue(self.json_at(self.there, "add", "wins", "--request-id", "w")["replay"])
        if time.monotonic() - counted < 3:
            self.assertTrue(self.json_at(self.there, "add", "pv", "/", "--by", "5", "--request-id", "é 'r1'")["replay"])
            self.refused(FAILED, "request_conflict", "--db", self.there, "add", "pv", "/", "--by", "6", "--request-id", "é 'r1'")
        time.sleep(max(0.0, counted + 4.5 - time.monotonic()))
        self.assertFalse(self.json_at(self.there, "add", "pv", "/", "--by", "5", "--request-id", "é 'r1'")["replay"],
                         "the time of an id is that of its add, not that of the copy")
        self.assertEqual(self.total_at(self.there, "pv", "/"), 10)

    def test_ids_of_many_pages(self):
        self.at(self.here, "define", "pv", "--key", "page", "--retries", "once")
        self.at(self.here, "add", "pv", "/", "--request-id", "one")
        self.many_ids(2_500)
        self.assertEqual(self.copy()["ids_written"], 2_501)
        self.assertEqual(self.copy()["ids_written"], 0)

    def test_a_log_that_was_counted_half_is_counted_to_its_end_there(self):
        lines = LOG.read_bytes().splitlines(keepends=True)
        self.write("access.log", b"".join(lines[:5_000]))
        self.at(self.here, "define", "page_views", "--key", "target")
        self.at(self.here, "count", "access.log")
        self.assertEqual(self.copy()["files_written"], 1)
        self.write("access.log", b"".join(lines))
        self.assertEqual(self.json_at(self.there, "count", "access.log")["lines_read"], 5_000)
        self.assertEqual(self.totals_at(self.there, "page_views", 10_000), targets_of(LOG.read_bytes()))

    def test_a_rule_that_the_engine_does_not_take_is_told_of(self):
        self.at(self.here, "define", "pv", "--key", "page")
        notes = self.copy()["notes"]
        here, there = self.default_slots[self.engine_here], self.default_slots[self.engine_there]
        self.assertEqual(len(notes), 0 if here == there else 1, notes)
        self.assertEqual(self.json_at(self.there, "list")[0]["rule"]["slots"], there)
        self.assertEqual(self.copy()["notes"], [])


class AgainAndBesideWriters(Two):
    def test_again_it_brings_what_has_changed_and_keeps_what_was_counted_there(self):
        self.fill("pv", range(3_000))
        self.assertEqual(self.copy()["keys_written"], 3_000)
        self.assertEqual(self.copy()["keys_written"], 0)
        self.at(self.here, "add", "pv", "7", "--by", "10")
        self.at(self.here, "add", "pv", "new")
        self.at(self.there, "add", "pv", "7", "--by", "100")
        self.at(self.there, "add", "pv", "own", "--by", "5")
        again = self.copy(code=DIFFERENCE)
        self.assertEqual((again["keys_written"], again["keys_behind"], again["keys_ahead"]), (2, 0, 2))
        self.assertEqual(again["differences"], [{"key": "7", "from": 11, "to": 111}, {"key": "own", "from": None, "to": 5}])
        self.assertIn("pv holds something of its own there", self.told)
        self.assertEqual([self.total_at(self.there, "pv", key) for key in ("7", "new", "own", "8")], [111, 1, 5, 1])

    def test_what_a_hand_changed_there_is_found(self):
        self.fill("pv", range(2_500))
        self.copy()
        self.tamper("pv_slots", "1234")
        self.assertEqual(self.copy(code=DIFFERENCE)["differences"], [{"key": "1234", "from": 1, "to": 2}])

    def test_writers_at_the_source_are_told_of(self):
        self.fill("pv", range(many(20_000)))
        stop, failed = threading.Event(), []

        def write():
            while not stop.is_set():
                if self.run_program("--db", self.here, "add", "pv", "0").code != DONE:
                    failed.append(1)

        writers = [threading.Thread(target=write) for _ in range(2)]
        for writer in writers:
            writer.start()
        report = self.copy(code=DIFFERENCE)
        stop.set()
        for writer in writers:
            writer.join()
        self.assertEqual((report["keys_behind"], failed), (1, []))
        self.assertRegex(self.told, r"\Asplitcount: pv was counted in here while it was copied.*\(0: .*run it again with --final")
        self.copy()
        self.assertEqual(self.total_at(self.there, "pv"), self.total_at(self.here, "pv"))


class ForGood(Two):
    def test_final_closes_the_source_under_eight_writers_and_no_acknowledged_add_is_lost(self):
        self.fill("pv", range(5_000))
        acknowledged, wrong, lock, closing = [0], [], threading.Lock(), threading.Event()

        def write(number):
            while True:
                answer = self.run_program("--db", self.here, "add", "pv", f"{number}", "--json")
                if answer.code == DONE:
                    with lock:
                        acknowledged[0] += 1
                elif json.loads(answer.out)["error"]["code"] == "counter_closed":
                    return
                elif json.loads(answer.out)["error"]["code"] != "database_busy":
                    wrong.append(answer)
                    return

        writers = [threading.Thread(target=write, args=(n,)) for n in range(8)]
        for writer in writers:
            writer.start()
        time.sleep(0.5)
        report = self.copy("--final")
        for writer in writers:
            writer.join()
        self.assertEqual((wrong, report["closed"], report["complete"]), ([], True, True))
        self.assertGreater(acknowledged[0], 8)
        self.assertEqual(self.total_at(self.there, "pv"), 5_000 + acknowledged[0])
        self.assertEqual(self.total_at(self.here, "pv"), 5_000 + acknowledged[0])

    def test_a_closed_counter_says_where_it_went_without_a_password(self):
        self.at(self.here, "define", "hits")
        self.copy("--final")
        self.refused(FAILED, "counter_closed", "--db", self.here, "add", "hits")
        self.assertIn(self.named_there, self.error["message"])
        self.assertFalse(self.error["retryable"])
        self.assertIn(self.named_there, self.json_at(self.here, "list")[0]["moved_to"])
        self.assertIn("Closed: hits has moved to", self.at(self.here, "status"))
        self.assertIn("Closed: it has moved to", self.at(self.here, "describe", "hits"))
        self.refused(FAILED, "counter_closed", "--db", self.here, "define", "hits")
        self.assertTrue(self.copy("--final")["complete"], "again there is nothing to do")
        self.at(self.there, "add", "hits")
        self.assertEqual(self.notes_there(), 0, "what was noted of each key goes when it is complete")

    def test_an_opened_counter_takes_adds_and_a_dropped_one_can_come_back(self):
        self.at(self.here, "define", "hits")
        self.at(self.here, "add", "hits", "--by", "3")
        self.copy("--final")
        self.assertEqual(self.at(self.here, "open", "hits"), "hits takes adds here again\n")
        self.at(self.here, "add", "hits")
        self.refuse(FAILED, "name_clash")
        self.at(self.there, "add", "hits", "--by", "10")
        self.refuse(FAILED, "name_clash", here=self.there, there=self.here)
        self.at(self.here, "drop", "hits", "--yes")
        self.assertTrue(self.copy("--final", here=self.there, there=self.here)["complete"])
        self.assertEqual(self.total_at(self.here, "hits"), 13)
        self.refused(FAILED, "counter_closed", "--db", self.there, "add", "hits")

    def test_a_closed_counter_is_not_copied_for_good_to_a_third_place(self):
        self.at(self.here, "define", "hits")
        self.copy("--final")
        self.refuse(FAILED, "counter_closed", "--final", there="third.db")
        self.copy(there="third.db")


class Underway(Two):
    def test_killed_at_any_moment_it_goes_on_and_doubles_nothing(self):
        numbers = random_numbers(f"copy {self.engine_here} {self.engine_there}")
        keys = many(12_000)
        self.fill("pv", range(keys))
        started = time.monotonic()
        self.copy(there="timed.db")
        longest, killed, own = 1.5 * (time.monotonic() - started), 0, 0
        for n in range(kill_points(8, 2, 100)):
            child = self.start("copy", "--from", self.here, "--to", self.there, "--final" if n % 4 == 3 else "--json")
            try:  # every other one surely in the middle
                child.communicate(timeout=numbers.uniform(0, longest / 3 if n % 2 == 0 else longest))
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                child.communicate()
                killed += 1
            self.at(self.here, "open", "pv")
            self.at(self.here, "add", "pv", f"{numbers.randrange(keys)}", "--by", "3")
            if n == 0:
                self.copy("--max-seconds", "600")
            if self.run_program("--db", self.there, "add", "pv", f"{numbers.randrange(keys)}", "--by", "1000").code == DONE:
                own += 1000
        report = self.copy(code=DIFFERENCE)
        self.assertEqual(report["keys_behind"], 0)
        self.assertEqual(self.total_at(self.there, "pv"), self.total_at(self.here, "pv") + own)
        self.assertGreater(killed, 0)
        print(f"copy from {self.engine_here} to {self.engine_there}: {killed} kills", flush=True)

    def test_of_two_at_once_one_goes_on_and_nothing_is_doubled(self):
        self.fill("pv", range(many(8_000)))
        children = [self.start("copy", "--from", self.here, "--to", self.there) for _ in range(2)]
        codes = []
        for child in children:
            _, err = child.communicate(timeout=300)
            codes.append(child.returncode)
            if child.returncode not in (DONE,):
                self.assertIn(child.returncode, (FAILED, PARTIAL, DIFFERENCE), err)
        self.assertIn(DONE, codes + [self.run_program("copy", "--from", self.here, "--to", self.there).code])
        self.assertEqual(self.total_at(self.there, "pv"), many(8_000))
        self.copy()
        self.assertEqual(self.total_at(self.there, "pv"), many(8_000))

    def test_stopped_by_a_signal_it_says_so_and_goes_on(self):
        self.fill("pv", range(many(30_000)))
        child = self.start("copy", "--from", self.here, "--to", self.there)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        if child.returncode != DONE:
            self.assertEqual(child.returncode, PARTIAL, err)
            self.assertIn(b"stopped part-way by a signal", err)
        self.copy()
        self.assertEqual(self.total_at(self.there, "pv"), many(30_000))


class Refused(Two):
    def test_a_counter_that_is_there_already_is_left_alone(self):
        self.at(self.here, "define", "aa")
        self.at(self.here, "define", "hits")
        self.at(self.there, "define", "hits")
        self.at(self.there, "add", "hits", "--by", "3")
        self.assertIn("hits", self.refuse(FAILED, "name_clash"))
        self.assertEqual([one["counter"] for one in self.json_at(self.there, "list")], ["hits"])
        self.copy("--counter", "aa")
        self.assertEqual(self.total_at(self.there, "hits"), 3)

    def test_another_counter_of_that_name_is_not_taken_for_the_first(self):
        self.at(self.here, "define", "hits")
        self.copy()
        self.at(self.here, "drop", "hits", "--yes")
        self.at(self.here, "define", "hits")
        self.refuse(FAILED, "name_clash")

    def test_the_same_database_on_both_sides(self):
        self.at(self.here, "define", "hits")
        for same in self.same_as_here():
            self.assertIn("same database", self.refuse(FAILED, "invalid_argument", there=same))

    def test_a_source_that_holds_nothing_like_it(self):
        self.at(self.here, "define", "hits")
        self.refuse(FAILED, "unknown_counter", "--counter", "hist")
        self.refuse(2, "name_invalid", "--counter", "hits,")
        self.refuse(2, "invalid_argument", "--counter", "hits,hits")
        self.refuse(2, "invalid_argument", "--max-seconds", "0")


class Copies(WhatIsCopied, AgainAndBesideWriters, ForGood, Underway, Refused):
    """All of it."""


class FromSqlite:
    engine_here = "sqlite"
    here = "here.db"

    def same_as_here(self):
        self.path("hard.db").hardlink_to(self.path("here.db"))
        self.path("soft.db").symlink_to("here.db")
        return ["here.db", "./here.db", str(self.path("here.db")), "sqlite:here.db", "hard.db", "soft.db"]

    def many_ids(self, count):
        with sqlite3.connect(self.path("here.db")) as connection:
            connection.executemany("INSERT INTO pv_add(page, request_id) VALUES ('/', ?)", [(f"id {n}",) for n in range(count)])
        connection.close()


class ToSqlite:
    engine_there = "sqlite"
    there = "there.db"
    named_there = "there.db"

    def tamper(self, table, key):
        with sqlite3.connect(self.path("there.db")) as connection:
            connection.execute(f"UPDATE {table} SET n = n + 1 WHERE line = ?", (key,))
        connection.close()

    def notes_there(self):
        with sqlite3.connect(self.path("there.db")) as connection:
            ((notes,),) = connection.execute("SELECT count(*) FROM splitcount_copied")
        connection.close()
        return notes
