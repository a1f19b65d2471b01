"""count: each line once, whatever happens to the file."""
import gzip
import json
import os
import signal
import subprocess
import time
import unittest

from support import DONE, FAILED, LOG, LOG_LINES, PARTIAL, PROGRAM, Case, environment, targets_of


def lines_of(*words):
    return "".join(f"{word}\n" for word in words)


class AccessLog(Case):
    def test_the_log_is_counted_exactly(self):
        self.copy_log()
        answer = self.run_program("count", "access.log", "--counter", "page_views", "--key", "target", "--sessions", "2")
        self.assertEqual(answer.code, DONE, answer)
        self.assertIn("the counter page_views was not there; it is defined now, with the key target", answer.err)
        for row in (r"lines read +10,000\n", r"lines counted +10,000\n", r"lines rejected +0\n", r"distinct keys +1,498\n",
                    r"total +10,000  as the database has it\n", r"lines per second +[\d,]+\n", r"/favicon.ico +807  █+\n",
                    r"(?s)Next:\n  splitcount total page_views /favicon.ico\n"):
            self.assertRegex(answer.out, row)
        self.assertEqual(self.counts(), targets_of(LOG.read_bytes()))
        self.assertEqual(self.total("page_views"), LOG_LINES)

    def test_the_second_time_nothing_is_new_and_it_says_so(self):
        self.copy_log()
        self.run_program("count", "access.log")
        before = self.counts()
        text = self.ok("count", "access.log")
        self.assertIn("access.log: counted before: its 10,000 lines are in; nothing new; --again counts them once more\n", text)
        self.assertEqual(self.counts(), before)
        self.assertEqual(self.json("count", "access.log")["lines_read"], 0)

    def test_as_json(self):
        self.copy_log()
        answer = self.json("count", "access.log")
        self.assertEqual((answer["counter"], answer["field"], answer["defined"]), ("page_views", "target", True))
        self.assertEqual((answer["lines_read"], answer["lines_counted"], answer["lines_rejected"]), (LOG_LINES, LOG_LINES, 0))
        self.assertEqual((answer["keys"], answer["total"]), (1498, LOG_LINES))
        self.assertEqual(len(answer["top"]), 10)
        self.assertEqual((answer["top"][0]["key"], answer["top"][0]["total"]), ("/favicon.ico", 807))
        self.assertEqual([(f["file"], f["lines_read"], f["counted_before"]) for f in answer["files"]], [("access.log", LOG_LINES, False)])
        again = self.json("count", "access.log")
        self.assertEqual((again["files"][0]["counted_before"], again["files"][0]["lines_before"]), (True, LOG_LINES))

    def test_into_a_counter_that_was_defined_otherwise(self):
        self.copy_log()
        self.ok("define", "page_views", "--key", "page", "--slots", "16", "--pick", "random", "--retries", "once:24h")
        self.ok("count", "access.log", "--counter", "page_views", "--key", "target", "--sessions", "2")
        self.assertEqual(self.counts(), targets_of(LOG.read_bytes()))
        self.assertEqual(self.json("describe", "page_views")["rule"]["key"], "page")

    def test_each_field(self):
        self.copy_log()
        for field, key in (("target", "/favicon.ico"), ("path", "/favicon.ico"), ("status", "200"), ("host", None),
                           ("referer", "-"), ("agent", None), ("line", None)):
            with self.subTest(field):
                answer = self.json("count", "access.log", "--counter", f"by_{field}", "--key", field)
                self.assertEqual(answer["total"], answer["lines_counted"])
                # Longer than a key may be: two lines as a whole, and one referer.
                self.assertEqual(answer["lines_counted"], LOG_LINES - {"line": 2, "referer": 1}.get(field, 0))
                if key:
                    self.assertEqual(answer["top"][0]["key"], key)


class KnownFiles(Case):
    def test_a_grown_file_counts_its_new_lines(self):
        self.write("words", lines_of("a", "b", "a"))
        self.json("count", "words", "--format", "lines", "--key", "line", "--counter", "w")
        self.write("words", lines_of("a", "b", "a", "c", "a"))
        text = self.ok("count", "words", "--format", "lines", "--key", "line", "--counter", "w")
        self.assertIn("words: known: its first 3 lines are in from before; 2 lines are new\n", text)
        self.assertEqual(self.counts("w"), {"a": 3, "b": 1, "c": 1})

    def test_renamed_gzipped_or_from_a_pipe_it_is_still_known(self):
        data = LOG.read_bytes()
        self.copy_log()
        self.json("count", "access.log")
        os.rename(self.path("access.log"), self.path("old.log"))
        self.assertEqual(self.json("count", "old.log")["lines_read"], 0)
        self.write("old.log.1.gz", gzip.compress(data))
        self.assertEqual(self.json("count", "old.log.1.gz")["lines_read"], 0)
        self.assertEqual(self.json("count", "-", stdin=data)["lines_read"], 0)
        self.assertEqual(self.counts(), targets_of(data))

    def test_a_gzipped_file_first_and_the_longer_plain_one_afterwards(self):
        data = LOG.read_bytes()
        half = data[: data.index(b"\n", len(data) // 2) + 1]
        self.write("half.gz", gzip.compress(half))
        self.json("count", "half.gz")
        self.copy_log()
        answer = self.json("count", "access.log")
        self.assertEqual(answer["lines_read"], data.count(b"\n") - half.count(b"\n"))
        self.assertEqual(self.counts(), targets_of(data))

    def test_another_counter_or_field_does_not_know_it(self):
        self.copy_log()
        self.json("count", "access.log")
        self.assertEqual(self.json("count", "access.log", "--counter", "others")["lines_read"], LOG_LINES)
        self.assertEqual(self.json("count", "access.log", "--key", "status")["lines_read"], LOG_LINES)

    def test_again_counts_everything_once_more(self):
        self.copy_log()
        self.json("count", "access.log")
        self.assertEqual(self.json("count", "access.log", "--again")["lines_counted"], LOG_LINES)
        self.assertEqual(self.counts(), {key: 2 * n for key, n in targets_of(LOG.read_bytes()).items()})
        self.assertEqual(self.json("count", "access.log")["lines_read"], 0)

    def test_the_same_file_twice_in_one_run_counts_once(self):
        self.copy_log()
        answer = self.json("count", "access.log", "access.log", "./access.log")
        self.assertEqual([f["lines_read"] for f in answer["files"]], [LOG_LINES, 0, 0])
        self.assertEqual(answer["total"], LOG_LINES)

    def test_several_files(self):
        self.write("a", lines_of("x", "y"))
        self.write("b", lines_of("x"))
        answer = self.json("count", "a", "b", "--format", "lines", "--key", "line", "--counter", "w")
        self.assertEqual(([f["lines_read"] for f in answer["files"]], answer["lines_read"]), ([2, 1], 3))
        self.assertEqual(self.counts("w"), {"x": 2, "y": 1})

    def test_a_dropped_counter_forgets_its_files(self):
        self.copy_log()
        self.json("count", "access.log")
        self.ok("drop", "page_views", "--yes")
        self.assertEqual(self.json("count", "access.log")["lines_read"], LOG_LINES)


class HardFiles(Case):
    COUNT = ("--format", "lines", "--key", "line", "--counter", "w")

    def test_standard_input(self):
        answer = self.json("count", "-", *self.COUNT, stdin=lines_of("a", "a"))
        self.assertEqual((answer["lines_counted"], answer["files"][0]["file"]), (2, "-"))

    def test_an_unfinished_last_line_waits_for_the_next_run(self):
        self.write("words", "a\nb")
        answer = self.json("count", "words", *self.COUNT)
        self.assertEqual((answer["lines_counted"], answer["files"][0]["bytes_unfinished"]), (1, 1))
        self.assertIn("unfinished last line of 1 byte waits for the next run", self.ok("count", "words", *self.COUNT))
        self.write("words", "a\nbcd\n")
        self.json("count", "words", *self.COUNT)
        self.assertEqual(self.counts("w"), {"a": 1, "bcd": 1})

    def test_an_empty_file(self):
        self.write("empty", "")
        answer = self.json("count", "empty", *self.COUNT)
        self.assertEqual((answer["lines_read"], answer["total"]), (0, 0))
        self.ok("count", "empty", *self.COUNT)

    def test_crlf_is_no_part_of_a_key(self):
        self.write("words", "a\r\na\n")
        self.json("count", "words", *self.COUNT)
        self.assertEqual(self.counts("w"), {"a": 2})

    def test_binary_and_very_long_lines_are_rejected_and_tallied(self):
        self.write("words", b"good\n" + b"\xff\xfe\x00\n" + b"x" * 10_000_000 + b"\n" + b"\n" + b"good\n")
        answer = self.json("count", "words", *self.COUNT, "--rejects", "rejects.txt")
        self.assertEqual((answer["lines_read"], answer["lines_counted"], answer["lines_rejected"]), (5, 2, 3))
        self.assertEqual(sum(answer["files"][0]["rejects"].values()), 3)
        self.assertEqual(self.counts("w"), {"good": 2})
        self.assertGreater(self.path("rejects.txt").stat().st_size, 0)

    def test_rejects_are_shown_by_reason_and_exit_stays_zero(self):
        self.write("bad.log", b"not a log line\n" + LOG.read_bytes().split(b"\n")[0] + b"\n")
        answer = self.run_program("count", "bad.log", "--format", "combined")
        self.assertEqual(answer.code, DONE, answer)
        self.assertRegex(answer.out, r"lines rejected +1\n +1  \w.*\n")

    def test_rejects_cannot_land_in_a_log_or_a_database(self):
        self.write("words", "a\n")
        self.ok("define", "hits")
        database = self.path("splitcount.db").read_bytes()
        self.refused(FAILED, "file_unreadable", "count", "words", *self.COUNT, "--rejects", "words")
        self.refused(FAILED, "file_unreadable", "count", "words", *self.COUNT, "--rejects", "./splitcount.db")
        self.refused(FAILED, "file_unreadable", "count", "words", *self.COUNT, "--rejects", "no/folder/x")
        self.assertEqual(self.path("words").read_bytes(), b"a\n")
        self.assertEqual(self.path("splitcount.db").read_bytes(), database)

    def test_a_file_with_an_odd_name(self):
        name = os.fsdecode(b"odd \xff\n\x1b[2J.log")
        self.write(name, "a\n")
        answer = self.run_program("count", name, *self.COUNT)
        self.assertEqual(answer.code, DONE, answer)
        self.assertNotIn("\x1b", answer.out + answer.err)
        self.assertEqual(self.json("count", name, *self.COUNT)["lines_read"], 0)

    def test_keys_that_a_terminal_would_obey_are_shown_in_quotes(self):
        self.write("words", b"\x1b[31mred\n")
        self.assertIn('"\\x1B[31mred"', self.run_program("count", "words", *self.COUNT).out)


class SideBySide(Case):
    def test_of_runs_over_one_file_at_one_moment_each_line_counts_once(self):
        self.copy_log(times=5)
        children = [subprocess.Popen([PROGRAM, "count", "access.log"], cwd=self.folder, env=environment(),
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(4)]
        for child in children:
            err = child.communicate(timeout=300)[1].decode()
            self.assertIn(child.returncode, (DONE, FAILED, PARTIAL), err)
        self.json("count", "access.log")
        self.assertEqual(self.counts(), {key: 5 * n for key, n in targets_of(LOG.read_bytes()).items()})

    def test_runs_over_different_files_share_one_counter(self):
        for n in range(4):
            self.write(f"part_{n}", "".join(f"{n} {i % 100}\n" for i in range(20_000)))
        children = [subprocess.Popen([PROGRAM, "count", f"part_{n}", "--format", "lines", "--key", "line", "--counter", "w"],
                                     cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    for n in range(4)]
        for child in children:
            err = child.communicate(timeout=300)[1].decode()
            self.assertEqual(child.returncode, DONE, err)
        self.assertEqual(self.counts("w"), {f"{n} {i}": 200 for n in range(4) for i in range(100)})


class Signals(Case):
    """A signal ends a run after what is committed; the next run counts the rest."""

    COUNT = ("count", "-", "--counter", "w", "--key", "line", "--format", "lines", "--json", "--db")

    def interrupted(self, name, database):
        reader, writer = os.pipe()
        child = subprocess.Popen([PROGRAM, *self.COUNT, database], cwd=self.folder, env=environment(), stdin=reader,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(b"a\n" * 1000)
            pipe.flush()
            # The pipe stays open: without the signal the run would not end. It listens before it opens the database.
            deadline = time.monotonic() + 120
            while not self.path(database).exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            child.send_signal(name)
            out, err = child.communicate(timeout=120)
        return child.returncode, out.decode(), err.decode()

    def test_it_stops_part_way_says_so_and_the_next_run_counts_the_rest(self):
        for name in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(name):
                database = f"{name.name}.db"
                code, out, err = self.interrupted(name, database)
                self.assertEqual(code, PARTIAL, (out, err))
                self.assertIn("run it again", err)
                self.assertEqual(json.loads(out)["stopped"], True)
                self.ok(*self.COUNT, database, stdin=b"a\n" * 1000)
                self.assertEqual(self.total("w", "a", "--db", database), 1000)


if __name__ == "__main__":
    unittest.main()
