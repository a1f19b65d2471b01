"""compare and advise on SQLite: in a file of their own beside the database's, which may not be there yet."""
import json
import os
import subprocess
import time

import support


class FileTest(support.Case):
    """The same on SQLite, beside a file that may not be there yet."""

    def test_totals_are_exact_and_nothing_is_left(self):
        self.run_program("define", "hits")
        before = sorted(os.listdir(self.folder))
        answer = self.run_program("compare", "--sessions", "3", "--seconds", "1", "--rounds", "1", "--json")
        self.assertEqual(answer.code, support.DONE, answer)
        designs = {one["name"]: one for one in json.loads(answer.out)["designs"]}
        self.assertTrue(all(one["exact"] and one["adds"] > 0 for one in designs.values()), designs)
        self.assertLessEqual({"limit", "count_rows", "one_row", "trigger", "random_11", "counter", "once", "batched"}, set(designs))
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        help_text = " ".join(self.run_program("compare", "--help").out.split())
        for name in set(designs) - {"limit"}:
            self.assertRegex(help_text, rf"[:,] {name}\b", "named in the help")

    def test_figures_of_one_round_say_so(self):
        self.run_program("define", "hits")
        for rounds in ("1", "2"):
            answer = self.run_program("compare", "--sessions", "1", "--seconds", "1", "--rounds", rounds, "--designs", "one_row")
            self.assertEqual(answer.code, support.DONE, answer)
            self.assertEqual("One round: another one may say something else" in answer.out, rounds == "1")

    def test_one_slot_is_right_and_batches_help(self):
        self.run_program("define", "hits")
        answer = self.run_program("advise", "--sessions", "2", "--seconds", "1", "--rounds", "1", "--json")
        self.assertEqual(answer.code, support.DONE, answer)
        advice = json.loads(answer.out)["advice"]
        self.assertEqual(advice["slots"], 1)
        self.assertEqual(advice["define"], "splitcount define NAME")
        self.assertIn("one writer", advice["sentence"])

    def test_a_database_that_is_not_there_is_told(self):
        answer = self.run_program("--db", "mistyped.db", "compare", "--sessions", "1", "--seconds", "1")
        self.assertEqual(answer.code, support.FAILED, answer)
        self.assertIn("there is no database file", answer.err)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_run_that_is_killed_while_it_begins_is_cleaned_up_after(self):
        self.run_program("define", "hits")
        def trial_files():
            return [name for name in os.listdir(self.folder) if "-trial" in name]

        left = 0
        for later_ms in range(0, 15):
            process = subprocess.Popen([support.PROGRAM, "inspect", "locks"], cwd=self.folder, env=support.environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not trial_files() and process.poll() is None:
                pass  # until its first file is there
            time.sleep(later_ms / 1000)
            process.kill()
            process.wait()
            left += len(trial_files()) > 0
            self.assertEqual(self.run_program("inspect", "locks").code, support.DONE)
            self.assertEqual([name for name in os.listdir(self.folder) if "-trial" in name], [])
        self.assertGreater(left, 0)

    def test_files_of_those_names_that_are_not_ours(self):
        self.run_program("define", "hits")
        for ending in ("", "-wal", "-journal", ".lock"):
            for text in ("precious", ""):
                if ending == ".lock" and not text:
                    continue  # nothing tells it from our own
                precious = os.path.join(self.folder, f"splitcount.db-trial{ending}")
                with open(precious, "w") as file:
                    file.write(text)
                answer = self.run_program("inspect", "locks")
                self.assertEqual(answer.code, support.FAILED, answer)
                self.assertIn("none of ours", answer.err)
                with open(precious) as file:
                    self.assertEqual(file.read(), text)
                os.remove(precious)
                self.assertEqual([name for name in os.listdir(self.folder) if "-trial" in name], [])

    def test_a_killed_run_is_cleaned_up_after(self):
        self.run_program("--db", "mine.db", "define", "hits")
        process = subprocess.Popen([support.PROGRAM, "--db", "mine.db", "compare", "--sessions", "2", "--seconds", "60"],
                                   cwd=self.folder, env=support.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not os.path.exists(os.path.join(self.folder, "mine.db-trial-wal")) and time.monotonic() < deadline:
            time.sleep(0.01)
        busy = self.run_program("--db", "mine.db", "compare", "--sessions", "1", "--seconds", "1")
        self.assertEqual(busy.code, support.FAILED)
        self.assertIn("another trial is running", busy.err)
        process.kill()
        process.wait()
        self.assertIn("mine.db-trial", os.listdir(self.folder))
        again = self.run_program("--db", "mine.db", "compare", "--sessions", "1", "--seconds", "1", "--rounds", "1", "--designs", "counter")
        self.assertEqual(again.code, support.DONE, again)
        self.assertEqual([name for name in os.listdir(self.folder) if "-trial" in name], [])

    def test_a_file_of_that_name_that_is_not_ours(self):
        self.run_program("--db", "mine.db", "define", "hits")
        precious = os.path.join(self.folder, "mine.db-trial")
        with open(precious, "w") as file:
            file.write("precious")
        answer = self.run_program("--db", "mine.db", "compare", "--sessions", "1", "--seconds", "1")
        self.assertEqual(answer.code, support.FAILED, answer)
        self.assertIn("none of ours", answer.err)
        with open(precious) as file:
            self.assertEqual(file.read(), "precious")

    def test_there_is_one_isolation_level(self):
        self.run_program("define", "hits")
        answer = self.run_program("compare", "--isolation", "repeatable-read")
        self.assertEqual(answer.code, support.FAILED, answer)
        self.assertIn("one isolation level", answer.err)
