"""Settings that a user or a database may have, and arrays of any shape: right, or refused with a sentence."""
import unittest

from database import Case, setUpModule  # noqa: F401
from support import LOG, LOG_LINES

AMOUNT_INVALID = "SC002"


class Settings(Case):
    def test_array_nulls_off(self):
        self.sql(f"ALTER DATABASE {self.name} SET array_nulls = off")
        self.addCleanup(self.sql, f"ALTER DATABASE {self.name} RESET array_nulls")
        self.asking = None
        self.assertEqual(self.one("SHOW array_nulls"), "off")
        self.run_checked("count", str(LOG))
        self.assertEqual(self.one("SELECT sum(total) FROM page_views"), LOG_LINES)

    def test_numbers_of_ours_that_somebody_set(self):
        self.define("floating", "--key", "page", "--slots", "4", "--pick", "session")
        self.define("drawn", "--key", "page", "--slots", "4", "--pick", "random")
        session = self.session()
        for value in ("-3", "2147483647", "1024", "0"):
            session.run(f"BEGIN; SET splitcount.session = '{value}'; SET splitcount.draw = '{value}'")
            for counter in ("floating", "drawn"):
                self.assertTrue(session.value(f"SELECT {counter}_add('K')"))
            session.run("COMMIT")
        for counter in ("floating", "drawn"):
            self.assertEqual(self.one(f"SELECT total FROM {counter} WHERE page = 'K'"), 4)
            self.assertEqual(self.one(f"SELECT count(*) FROM {counter}_slots WHERE slot NOT BETWEEN 0 AND 3"), 0)


class Arguments(Case):
    def test_an_amount_that_is_null_is_refused_at_both_doors(self):
        self.define("hits")
        self.assert_state(AMOUNT_INVALID, self.session().run, "SELECT hits_add(amount => NULL)")
        self.assert_state(AMOUNT_INVALID, self.session().run, "SELECT hits_add_many(NULL, ARRAY[NULL]::bigint[])")
        self.assertTrue(self.one("SELECT hits_add()"))
        self.assertEqual(self.one("SELECT total FROM hits"), 1)

    def test_a_replay_names_the_slot_whatever_the_bounds_of_the_arrays(self):
        self.define("hits", "--key", "page", "--pick", "spread", "--retries", "once", "--slots", "4")
        holder = self.session()
        self.sql("SELECT hits_add('m1')")
        holder.run("BEGIN; SELECT hits_add('m1')")  # slot 0 of m1 is held
        first = dict(self.sql("SELECT item, slot FROM hits_add_many('[0:1]={m1,m2}', '{1,1}', '[0:1]={k1,k2}')"))
        holder.run("COMMIT")
        self.assertNotEqual(first[1], 0)
        for keys, ids in (("'{m1,m2}'", "'{k1,k2}'"), ("'[5:6]={m1,m2}'", "'[7:8]={k1,k2}'"), ("'{{m1},{m2}}'", "'{{k1},{k2}}'")):
            again = self.sql(f"SELECT item, slot, replay FROM hits_add_many({keys}, '{{1,1}}', {ids}) ORDER BY item")
            self.assertEqual(again, [(1, first[1], True), (2, first[2], True)])


if __name__ == "__main__":
    unittest.main()
