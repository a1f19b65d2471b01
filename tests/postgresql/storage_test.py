"""What counters take on disk: one row for a key seen once, a page of its own for each padded slot, bounded growth.

Adds come from loops on the server, each in a transaction of its own, so that a million of them are soon done.
"""
import unittest

from database import VERSION, Case, at_once, setUpModule  # noqa: F401
from support import IS_LONG

# The whole number on the version that Debian has, a tenth on the other one.
MILLION = 1_000_000 if VERSION == 15 or IS_LONG else 100_000
WRITERS = 2
GROWTH_BYTES_PER_ADD_MAX = 64
# Without an old snapshot: what piles up while a transaction happens to be kept from the processor for a moment.
PAUSE_BYTES_MAX = 256 * 1024


class Storage(Case):
    def run_adds(self, count, call):
        """That many, each in a transaction of its own; `call` may use `i`, which counts up."""
        sessions = self.sessions(WRITERS, settings="-c synchronous_commit=off")
        loop = "DO $$ BEGIN FOR i IN {}..{} LOOP PERFORM {}; COMMIT; END LOOP; END $$"
        part = count // WRITERS
        at_once([lambda s=s, n=n: s.run(loop.format(n * part + 1, (n + 1) * part, call))
                 for n, s in enumerate(sessions)])
        for session in sessions:
            session.close()

    def size_bytes(self, counter):
        return self.one(f"SELECT pg_total_relation_size('{counter}_slots')")


class Spread(Storage):
    CHUNK = 10_000
    CALL = """SELECT count(*) FROM views_add_many((SELECT array_agg('/page ' || n) FROM generate_series(%s, %s) AS n),
              array_fill(1::bigint, ARRAY[%s]))"""

    def test_a_million_keys_seen_once_leave_a_million_rows_and_a_hot_one_among_them_spreads(self):
        self.define("views", "--key", "page", "--pick", "spread", "--slots", "16")

        def load(session, first, last):
            for at in range(first, last, self.CHUNK):
                session.run(self.CALL, at, at + self.CHUNK - 1, self.CHUNK)

        part = MILLION // WRITERS
        at_once([lambda s=s, n=n: load(s, n * part, (n + 1) * part) for n, s in enumerate(self.sessions(WRITERS))])
        self.assertEqual(self.sql("SELECT count(*), sum(n), max(slot) FROM views_slots"), [(MILLION, MILLION, 0)])
        sessions = self.sessions(8)
        for session in sessions:
            session.run("BEGIN; SELECT views_add('/page 7')")
        for session in sessions:
            session.run("COMMIT")
        rows = self.sql("SELECT n FROM views_slots WHERE page = '/page 7'")
        self.assertEqual(sorted(rows), [(1,)] * 7 + [(2,)])
        self.assertEqual(self.one("SELECT count(*) FROM views_slots"), MILLION + 7)
        self.assertEqual(self.one("SELECT total FROM views WHERE page = '/page 7'"), 9)


class Padded(Storage):
    def pages(self):
        return dict(self.sql("SELECT slot, (ctid::text::point)[0]::integer FROM hits_slots ORDER BY slot"))

    def test_each_slot_stays_on_a_page_of_its_own_through_a_hundred_thousand_adds_and_a_vacuum(self):
        self.define("hits", "--slots", "16", "--layout", "padded", "--pick", "random")
        before = self.pages()
        self.assertEqual(len(set(before.values())), 16, before)
        self.run_adds(MILLION // 10, "hits_add()")
        self.assertEqual(len(set(self.pages().values())), 16)
        self.sql("VACUUM hits_slots")
        self.run_adds(1_000, "hits_add()")
        after = self.pages()
        self.assertEqual(len(set(after.values())), 16, after)
        self.assertEqual(self.one("SELECT total FROM hits"), MILLION // 10 + 1_000)

    def test_compact_slots_share_a_page(self):
        self.define("hits", "--slots", "16", "--pick", "random")
        self.assertEqual(len(set(self.pages().values())), 1)


class Growth(Storage):
    """While an old snapshot is open no version of a row can go, and each add leaves one. A row is looked up through all
    of its versions then, so the million is spread over many keys; a hot one grows just the same, only its adds take
    longer and longer."""

    def assert_growth(self, counter, adds, add):
        old = self.session()
        old.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1")
        before = self.size_bytes(counter)
        add(adds)
        grown = self.size_bytes(counter) - before
        print(f"{counter}: {grown / adds:.1f} bytes an add while an old snapshot is open, PostgreSQL {VERSION}", flush=True)
        self.assertLessEqual(grown, GROWTH_BYTES_PER_ADD_MAX * adds)
        self.assertGreater(grown, 8 * adds)  # the snapshot did hold them
        old.run("COMMIT")

    def assert_no_growth(self, counter, adds, add):
        before = self.size_bytes(counter)
        add(adds)
        self.assertLessEqual(self.size_bytes(counter) - before, PAUSE_BYTES_MAX)

    def test_a_million_adds_to_many_keys(self):
        keys, at_a_time = MILLION // 10, 50
        self.define("views", "--key", "page", "--slots", "16")
        call = (f"views_add_many((SELECT array_agg('/page/' || (i * {at_a_time} + j) % {keys}) "
                f"FROM generate_series(1, {at_a_time}) AS j), array_fill(1::bigint, ARRAY[{at_a_time}]))")

        def add(count):
            self.run_adds(count // at_a_time, call)

        add(keys)
        self.assert_growth("views", MILLION, add)
        self.sql("VACUUM views_slots")
        self.assert_no_growth("views", MILLION // 10, add)
        self.assertEqual(self.one("SELECT sum(total) FROM views"), keys + MILLION + MILLION // 10)

    def test_adds_to_one_hot_key_and_autovacuum(self):
        adds = 20_000
        self.define("hits", "--slots", "16")

        def add(count):
            self.run_adds(count, "hits_add()")

        add(1_000)
        self.assert_growth("hits", adds, add)
        # One that comes while the snapshot is open leaves them dead, and another one follows.
        cleared = "SELECT autovacuum_count > 0 AND n_dead_tup < 1000 FROM pg_stat_user_tables WHERE relname = 'hits_slots'"
        self.wait_until(lambda: self.one(cleared), "autovacuum comes", seconds=120)
        self.assert_no_growth("hits", adds, add)
        self.assertEqual(self.one("SELECT total FROM hits"), 1_000 + 2 * adds)


if __name__ == "__main__":
    unittest.main()
