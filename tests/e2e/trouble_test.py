"""Files that are no database, cannot be written, are locked or have no room; answers that nobody can read."""
import os
import sqlite3
import subprocess
import unittest

from support import (DONE, FAILED, LOG_LINES, PARTIAL, PROGRAM, UNKNOWN, Case, environment, with_file_size_limit,
                     without_capabilities)


class Removed(Case):
    """Somebody has removed what belongs to a counter: what is said of it is true and leads on."""

    def test_slots_that_have_gone_are_made_again(self):
        self.ok("define", "wins", "--slots", "3", "--missing", "error", "--pick", "random")
        self.ok("add", "wins", "--slot", "2")
        self.database().executescript("DELETE FROM wins_slots WHERE slot < 2")
        self.assertIn("was never created", self.refused(FAILED, "slot_missing", "add", "wins", "--slot", "1"))
        self.assertEqual(self.json("define", "wins")["slots_restored"], 2)
        self.ok("add", "wins", "--slot", "1")
        self.assertEqual(self.total("wins"), 2)
        self.database().executescript("DELETE FROM wins_slots")
        self.assertIn("define it again", self.refused(FAILED, "key_missing", "total", "wins"))
        self.assertIn("had lost 3 slots", self.ok("define", "wins"))
        self.assertIn("unchanged", self.ok("define", "wins"))

    def test_an_object_that_has_gone_is_named(self):
        self.ok("define", "hits", "--key", "page", "--retries", "once:1h")
        self.database().executescript("DROP TABLE hits_slots")
        for words in (("define", "hits"), ("add", "hits", "K"), ("total", "hits", "K"), ("total", "hits"), ("top", "hits"),
                      ("slots", "hits", "K"), ("describe", "hits")):
            with self.subTest(words):
                said = self.refused(FAILED, "database_corrupt", *words)
                self.assertIn("hits_slots has gone", said)
        self.assertIn("hits_slots has gone", " ".join(self.json("status")["warnings"]))
        self.ok("drop", "hits", "--yes")
        self.ok("define", "hits", "--key", "page")
        self.ok("add", "hits", "K")

    def test_maintain_names_what_it_cannot_do(self):
        self.ok("define", "logins", "--retries", "once:1h")
        self.ok("define", "hits")
        self.database().executescript("DROP TABLE logins_requests")
        self.assertIn("logins_requests has gone", self.refused(FAILED, "database_corrupt", "maintain", "logins"))
        answer = self.run_program("maintain")
        self.assertEqual(answer.code, PARTIAL, answer)
        self.assertIn("logins_requests has gone", answer.err)


class NoDatabase(Case):
    def assert_untouched(self, name, content):
        for words in (("list",), ("define", "hits"), ("add", "hits"), ("status",), ("uninstall", "--yes")):
            with self.subTest(words):
                self.refused(FAILED, "not_a_database", *words, "--db", name)
                self.assertEqual(self.path(name).read_bytes(), content)
                self.assertEqual(self.files(), [name])

    def test_a_text_file(self):
        content = b"this is a text and no database\n" * 200
        self.write("notes.txt", content)
        self.assert_untouched("notes.txt", content)

    def test_a_short_text_file(self):
        self.write("notes.txt", b"short\n")
        self.assert_untouched("notes.txt", b"short\n")

    def test_a_directory(self):
        self.path("folder").mkdir()
        for words in (("list",), ("define", "hits"), ("add", "hits")):
            answer = self.run_program(*words, "--db", "folder")
            self.assertEqual(answer.code, FAILED, answer)
            self.assert_one_sentence(answer.err)
            self.assertIn("folder", answer.err)
        self.assertEqual(list(self.path("folder").iterdir()), [])

    def test_a_damaged_database_is_an_error_and_no_crash(self):
        self.copy_log()
        self.json("count", "access.log")
        self.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        content = bytearray(self.path("splitcount.db").read_bytes())
        for page in range(4096, len(content), 4096):
            content[page:page + 64] = b"\xa5" * 64
        self.write("damaged.db", bytes(content))
        for words in (("list",), ("total", "page_views"), ("add", "page_views", "/home"), ("top", "page_views")):
            answer = self.run_program(*words, "--db", "damaged.db")
            self.assertEqual(answer.code, FAILED, answer)
            self.assert_one_sentence(answer.err)


class ReadOnly(Case):
    """Run without capabilities, so that permissions bind root too."""

    def test_a_database_that_cannot_be_written_still_answers_reads(self):
        self.ok("define", "hits")
        self.ok("add", "hits", "--by", "3")
        self.database().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        before = self.dump()
        for name in self.files():
            if name != "splitcount.db":
                self.path(name).unlink()
        self.path("splitcount.db").chmod(0o444)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        for words in (("add", "hits"), ("define", "more"), ("drop", "hits", "--yes")):
            with self.subTest(words):
                self.refused(FAILED, "read_only", *words, preexec_fn=without_capabilities)
        self.folder.chmod(0o755)
        self.assertEqual(self.dump(), before)

    def test_a_folder_in_which_no_file_can_be_created(self):
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        self.refused(FAILED, "permission_denied", "define", "hits", preexec_fn=without_capabilities)
        self.assertEqual(self.files(), [])

    def test_a_log_that_may_not_be_read(self):
        self.copy_log()
        self.path("access.log").chmod(0o000)
        self.refused(FAILED, "file_unreadable", "count", "access.log", preexec_fn=without_capabilities)
        self.assertEqual(self.files(), ["access.log"])


class Locked(Case):
    def test_beyond_the_timeout_it_is_busy_and_can_be_tried_again(self):
        self.ok("define", "hits")
        self.ok("add", "hits")
        other = self.database()
        other.execute("BEGIN IMMEDIATE")
        self.refused(FAILED, "database_busy", "add", "hits")
        self.assertTrue(self.error["retryable"])
        self.assertFalse(self.error["outcome_unknown"])
        self.assertEqual(self.total("hits"), 1)
        self.refused(FAILED, "database_busy", "define", "more")
        other.execute("ROLLBACK")
        self.ok("add", "hits")
        self.assertEqual(self.total("hits"), 2)

    def test_a_lock_that_goes_in_time_is_waited_for(self):
        self.ok("define", "hits")
        other = self.database()
        other.execute("BEGIN IMMEDIATE")
        child = subprocess.Popen([PROGRAM, "add", "hits"], cwd=self.folder, env=environment(), stdout=subprocess.PIPE)
        self.assertRaises(subprocess.TimeoutExpired, child.wait, 1)
        other.execute("COMMIT")
        child.communicate(timeout=60)
        self.assertEqual(child.returncode, DONE)
        self.assertEqual(self.total("hits"), 1)


class NoRoom(Case):
    """A limit on the size of files, and where it can be mounted a real full disk."""

    def test_an_add_beyond_the_limit_is_never_reported_as_done_and_loses_nothing(self):
        self.ok("define", "k", "--key", "page")
        self.ok("add", "k", "first")
        before = self.counts("k")
        key = "x" * 700
        answer = None
        for n in range(200):
            answer = self.run_program("add", "k", f"{n} {key}", "--json", preexec_fn=with_file_size_limit(40_000))
            if answer.code != DONE:
                break
            before[f"{n} {key}"] = 1
        self.assertRegex(answer.out, r'"code":"(io_error|disk_full|outcome_unknown)"')
        self.assert_one_sentence(answer.err)
        counts = self.counts("k")
        if answer.code == UNKNOWN:
            counts.pop(f"{n} {key}", None)
        else:
            self.assertEqual(answer.code, FAILED, answer)
        self.assertEqual(counts, before)
        self.ok("add", "k", "after")
        self.assertEqual(self.database().execute("PRAGMA integrity_check").fetchone(), ("ok",))

    def test_count_stops_part_way_and_goes_on_where_it_stopped(self):
        self.copy_log("big.log", times=3)
        answer = self.run_program("count", "big.log", "--counter", "w", "--key", "line", preexec_fn=with_file_size_limit(300_000))
        self.assertIn(answer.code, (FAILED, PARTIAL), answer)
        self.assertIn("splitcount: ", answer.err)
        self.json("count", "big.log", "--counter", "w", "--key", "line")
        self.assertEqual(self.total("w"), 3 * (LOG_LINES - 2))  # two lines are longer than a key may be

    def test_a_full_disk(self):
        script = ('mount -t tmpfs -o size=256k none disk && cd disk && "$0" define k --key page > /dev/null && '
                  'n=0; while [ $n -lt 2000 ]; do "$0" --json add k "$n $1" || exit $?; n=$((n + 1)); done')
        self.path("disk").mkdir()
        mounted = ["unshare", "--mount", "--map-root-user", "--user"] if os.geteuid() else ["unshare", "--mount"]
        done = subprocess.run([*mounted, "sh", "-c", script, PROGRAM, "x" * 700], cwd=self.folder, env=environment(),
                              capture_output=True, text=True, timeout=300, check=False)
        if "unshare: " in done.stderr or "mount: " in done.stderr:
            print("no file system could be mounted here; the tests above have shown it with a limit", flush=True)
            return
        self.assertEqual(done.returncode, FAILED, done)
        self.assertIn('"code":"disk_full"', done.stdout.splitlines()[-1])
        self.assert_one_sentence(done.stderr)


class Answers(Case):
    """Where the answer cannot be written."""

    def test_a_full_device_fails_a_read(self):
        self.ok("define", "hits")
        with open("/dev/full", "wb") as full:
            for words in (("list",), ("--help",), ("total", "hits", "--json"), ("--version",)):
                answer = self.run_program(*words, stdout=full)
                self.assertEqual(answer.code, FAILED, answer)
                self.assert_one_sentence(answer.err)

    def test_what_was_done_is_not_reported_as_failed(self):
        self.ok("define", "hits")
        with open("/dev/full", "wb") as full:
            answer = self.run_program("add", "hits", stdout=full)
        self.assertEqual(answer.code, UNKNOWN, answer)
        self.assertIn("done all the same", answer.err)
        self.assertEqual(self.total("hits"), 1)

    def test_a_reader_that_has_gone_is_no_error(self):
        self.copy_log()
        self.json("count", "access.log")
        done = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" top page_views -n 1498 | head -n 1', PROGRAM],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (DONE, ""))
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as gone:
            answer = self.run_program("top", "page_views", "-n", "1498", stdout=gone)
        self.assertEqual((answer.code, answer.err), (DONE, ""))

    def test_a_slow_reader_of_a_stream_that_does_not_block_gets_everything(self):
        self.copy_log()
        self.json("count", "access.log", "--key", "line")
        whole = self.ok("top", "page_views", "-n", "10000")
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        child = subprocess.Popen([PROGRAM, "top", "page_views", "-n", "10000"], cwd=self.folder, env=environment(), stdout=writer)
        os.close(writer)
        got = b""
        while piece := os.read(reader, 1000):
            got += piece
        os.close(reader)
        self.assertEqual(child.wait(timeout=60), DONE)
        self.assertEqual(got.decode().splitlines()[:-1], whole.splitlines()[:-1])  # the last line is the time

    def test_closed_standard_streams_never_become_files(self):
        self.write("words", b"a\n\xff\n")
        script = '"$0" count words --format lines --key line --counter w --rejects rejects.txt <&- >&- 2>&-'
        subprocess.run(["sh", "-c", script, PROGRAM], cwd=self.folder, env=environment(), timeout=60, check=False)
        self.assertEqual(self.counts("w"), {"a": 1})
        self.assertNotIn("lines read", self.path("rejects.txt").read_text(errors="replace"))
        with sqlite3.connect(self.path("splitcount.db")) as connection:
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        connection.close()


if __name__ == "__main__":
    unittest.main()
