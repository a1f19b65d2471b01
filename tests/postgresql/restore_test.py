"""A database with counters that is dumped and restored counts on exactly. Debian's pg_dump is of version 15, and so is this."""
import subprocess
import unittest

from database import Case, setUpModule  # noqa: F401
from server import DEBIAN_BIN
from support import LOG_LINES, environment


class Restored(Case):
    def client(self, program, *words, **how):
        done = subprocess.run([DEBIAN_BIN / program, *words], capture_output=True, env=environment(), check=False, **how)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    def fill(self):
        self.copy_log()
        self.run_checked("count", "access.log", "--counter", "views", "--key", "target")
        self.define("wins", "--slots", "11", "--pick", "value")
        self.define("hits", "--key", "page", "--retries", "once:24h", "--layout", "padded")
        self.run_checked("add", "hits", "K", "--request-id", "X", "--by", "5")
        self.run_checked("add", "wins", "--value", "7")
        return self.one("SELECT count(*) FROM views_slots"), self.run_checked("describe", "views", "--json")

    def restored(self, restore):
        target = self.new_database()
        restore(target)
        self.name, self.address, self.asking = target, self.server.address(target), None
        self.addCleanup(self.empty_database)

    def assert_it_counts_on(self, rows, described):
        self.assertEqual(self.one("SELECT count(*) FROM views_slots"), rows)
        self.assertEqual(self.run_checked("describe", "views", "--json"), described)
        self.assertEqual(self.total("views"), LOG_LINES)
        self.assertEqual(self.one("SELECT sum(total) FROM views"), LOG_LINES)
        self.run_checked("count", "access.log", "--counter", "views", "--key", "target")  # it knows how far it came
        self.assertEqual(self.total("views"), LOG_LINES)
        self.assertTrue(self.json("add", "hits", "K", "--request-id", "X", "--by", "5")["replay"])
        self.assertFalse(self.one("SELECT hits_add('K', 5, 'X')"))
        self.sql("SELECT hits_add('K', 2, 'Y')")
        self.assertEqual(self.total("hits", "K"), 7)
        self.assertEqual(self.json("add", "wins", "--value", "7")["slot"], 7)
        self.assertEqual(self.sql("SELECT slot, n FROM wins_slots WHERE n <> 0"), [(7, 2)])
        self.assertEqual(self.one("SELECT has_function_privilege('public', 'wins_add(bigint,text,bigint,integer)', 'EXECUTE')"),
                         False)
        self.run_checked("drop", "hits", "--yes")
        self.define("hits", "--key", "page")

    def test_by_pg_dump_and_pg_restore(self):
        state = self.fill()
        dump = self.client("pg_dump", "--format=custom", self.server.conninfo(self.name))
        self.restored(lambda target: self.client("pg_restore", "--exit-on-error", "--clean", "--if-exists", "--dbname",
                                                 self.server.conninfo(target), input=dump))
        self.assert_it_counts_on(*state)

    def test_as_plain_sql(self):
        state = self.fill()
        dump = self.client("pg_dump", self.server.conninfo(self.name))
        self.restored(lambda target: self.client("psql", "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--output",
                                                 "/dev/null", self.server.conninfo(target), input=dump))
        self.assert_it_counts_on(*state)


if __name__ == "__main__":
    unittest.main()
