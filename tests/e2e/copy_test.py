"""`copy` from one SQLite file to another: what holds between any two engines, and what only files can show."""
import os
import unittest

from copies import Copies, FromSqlite, ToSqlite
from support import FAILED, PARTIAL, USAGE, Case, with_file_size_limit, without_capabilities


class SqliteToSqlite(FromSqlite, ToSqlite, Copies, Case):
    def test_a_target_that_is_not_there_is_not_created_where_the_source_is_wrong(self):
        self.refuse(FAILED, "database_unavailable")
        self.at(self.here, "define", "hits")
        self.refuse(FAILED, "unknown_counter", "--counter", "misses")
        self.assertEqual([name for name in self.files() if name.startswith("there")], [])

    def test_a_source_that_may_only_be_read_is_copied_and_not_closed(self):
        self.at(self.here, "define", "hits")
        self.at(self.here, "add", "hits")
        self.database("here.db").execute("PRAGMA journal_mode = DELETE").fetchall()
        os.chmod(self.path("here.db"), 0o444)
        os.chmod(self.folder, 0o777)
        answer = self.run_program("copy", "--from", self.here, "--to", self.there, preexec_fn=without_capabilities)
        self.assertEqual(answer.code, 0, answer)
        answer = self.run_program("copy", "--from", self.here, "--to", self.there, "--final", preexec_fn=without_capabilities)
        self.assertIn(answer.code, (FAILED, PARTIAL), answer)
        self.assertIn("can be read but not written", answer.err)

    def test_a_schema_of_a_newer_program_is_refused_on_either_side(self):
        self.at(self.here, "define", "hits")
        self.at(self.there, "define", "other")
        for name in ("there.db", "here.db"):
            self.database(name).execute("UPDATE splitcount_schema SET version = version + 1")
            self.refuse(FAILED, "schema_too_new")
            self.database(name).execute("UPDATE splitcount_schema SET version = version - 1")
        self.copy()

    def test_a_full_disk_leaves_what_the_next_run_goes_on_from(self):
        self.fill("pv", (f"{n:09d} a key that takes some room on the disk" for n in range(20_000)))
        answer = self.run_program("copy", "--from", self.here, "--to", self.there, preexec_fn=with_file_size_limit(1_000_000))
        self.assertEqual(answer.code, PARTIAL, answer)
        self.assertRegex(answer.err, "no room|system failed")
        part = self.total_at(self.there, "pv")
        self.assertTrue(0 < part < 20_000, part)
        self.assertLess(self.copy()["keys_written"], 20_000)
        self.assertEqual(self.total_at(self.there, "pv"), 20_000)

    def test_one_side_may_be_the_usual_database(self):
        self.ok("define", "hits")
        self.ok("copy", "--to", "there.db")
        self.ok("drop", "hits", "--yes")
        self.ok("copy", "--from", "there.db")
        self.assertEqual(self.total("hits"), 0)

    def test_wrong_words(self):
        self.refused(USAGE, "invalid_argument", "copy")
        self.refused(USAGE, "config_invalid", "copy", "--to", "")
        message = self.refused(USAGE, "config_invalid", "copy", "--to", "postgresql://a:secret@h/d")
        self.assertNotIn("secret", message)
        self.assertIn("--to holds a password", message)


if __name__ == "__main__":
    unittest.main()
