"""Nobody waits for a row: sessions that count at once each find a slot of their own, or at least a free one.

Each wait is seen for itself, not sampled: transactions stay open after their add, and either a lock_timeout of a
millisecond makes of each wait an error, or the transactions that wait are noted while they do.
"""
import random
import threading
import time
import unittest

import psycopg2

from database import LOCK_NOT_AVAILABLE, Case, at_once, setUpModule  # noqa: F401
from support import random_numbers

SESSIONS = 64
WAVES = 10
WAITED_MAX = 0.01  # the share of adds that may have waited


class SharpTest(Case):
    """64 sessions and 64 slots, pick session."""

    def setUp(self):
        super().setUp()
        self.define("hits", "--slots", str(SESSIONS), "--pick", "session")
        self.numbers = random_numbers(self.id())
        self.added = 0
        # Room for new versions of the rows: a wait for the table's growth would look like one for a row.
        self.sql("DO $$ BEGIN FOR n IN 1..500 LOOP UPDATE hits_slots SET n = hits_slots.n; END LOOP; END $$")
        self.sql("VACUUM (TRUNCATE false) hits_slots")

    def assert_nobody_blocks(self, sessions):
        """All transactions are open at once after their add, in an order of chance."""
        self.numbers.shuffle(sessions)
        for session in sessions:
            session.run("BEGIN; SET LOCAL lock_timeout = '1s'; SELECT hits_add()")
        held = self.one("SELECT count(DISTINCT virtualtransaction) FROM pg_locks WHERE relation = 'hits_slots'::regclass "
                        "AND pid = ANY(%s)", [session.pid for session in sessions])
        self.assertEqual(held, len(sessions))
        for session in sessions:
            session.run("COMMIT")
        self.added += len(sessions)

    def share_that_waited(self, sessions, adds):
        """Each add holds its slot for a few milliseconds, and gives up when it waits for one."""
        waited = []

        def count(session, numbers):
            for _ in range(adds):
                session.run("BEGIN; SET LOCAL lock_timeout = 1")
                try:
                    session.run("SELECT hits_add(), pg_sleep(%s)", numbers.uniform(0.002, 0.008))
                    session.run("COMMIT")
                except psycopg2.Error as error:
                    session.run("ROLLBACK")
                    self.assertEqual(error.pgcode, LOCK_NOT_AVAILABLE, error)
                    waited.append(session.pid)

        at_once([lambda s=s, n=random.Random(self.numbers.random()): count(s, n) for s in sessions])
        self.added += adds * len(sessions) - len(waited)
        return len(waited) / (adds * len(sessions))

    def assert_exact(self):
        self.assertEqual(self.one("SELECT total FROM hits"), self.added)

    def reconnected(self, sessions):
        """An eighth of them, of chance, go and come again."""
        going = self.numbers.sample(sessions, len(sessions) // 8)
        for session in going:
            session.close()
        pids = [session.pid for session in going]
        self.wait_until(lambda: self.one("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)", pids) == 0,
                        "the old sessions end")
        return [session for session in sessions if session not in going] + self.sessions(len(going))

    def test_at_most_one_in_a_hundred_waits_also_after_ten_waves_of_reconnects(self):
        sessions = self.sessions(SESSIONS)
        self.assert_nobody_blocks(sessions)
        first = self.share_that_waited(sessions, 15)
        for _ in range(WAVES):
            sessions = self.reconnected(sessions)
            self.assert_nobody_blocks(sessions)
        numbers = {session.value("SELECT current_setting('splitcount.session')::integer") for session in sessions}
        self.assertEqual(numbers, set(range(SESSIONS)))
        last = self.share_that_waited(sessions, 15)
        print(f"waited: {first:.2%} at first, {last:.2%} after {WAVES} waves of reconnects", flush=True)
        self.assertLessEqual(first, WAITED_MAX)
        self.assertLessEqual(last, WAITED_MAX)
        self.assert_exact()

    def test_the_measure_sees_waits_where_there_are_some(self):
        self.sql("DELETE FROM hits_slots WHERE slot >= 2")
        self.assertGreater(self.share_that_waited(self.sessions(32), 5), 0.2)
        self.assert_exact()


class FreeSlots(Case):
    """While a slot is free nobody waits, whoever holds the others and however."""

    SLOTS = 16

    def setUp(self):
        super().setUp()
        self.define("by_session", "--slots", str(self.SLOTS), "--pick", "session")
        self.define("by_free", "--slots", str(self.SLOTS), "--pick", "free")
        self.define("by_spread", "--slots", str(self.SLOTS), "--pick", "spread", "--key", "page")
        self.define("by_session_new", "--slots", str(self.SLOTS), "--pick", "session", "--missing", "create")
        self.adds = {"by_session": "by_session_add()", "by_free": "by_free_add()",
                     "by_spread": "by_spread_add('/home')", "by_session_new": "by_session_new_add()"}
        for add in self.adds.values():  # the first add of a key may be waited for
            self.sql(f"SELECT {add}")

    def hold(self, session, add):
        session.run(f"BEGIN; SET LOCAL lock_timeout = '1s'; SELECT {add}")

    def assert_they_pass(self, sessions, add):
        for session in sessions:
            session.run(f"BEGIN; SET LOCAL lock_timeout = '1s'; SELECT {add}; COMMIT")

    def assert_total(self, counter, total):
        self.assertEqual(self.one(f"SELECT sum(total) FROM {counter}"), total)

    def test_more_sessions_than_slots(self):
        others, holders = self.sessions(self.SLOTS // 2), self.sessions(self.SLOTS)
        for counter, add in self.adds.items():
            with self.subTest(counter):
                for holder in holders[1:]:
                    self.hold(holder, add)
                self.assert_they_pass(others, add)
                # The last free slot is taken: now there is something to wait for, and it is waited for.
                self.hold(holders[0], add)
                others[0].run("BEGIN; SET LOCAL lock_timeout = '50ms'")
                self.assert_state(LOCK_NOT_AVAILABLE, others[0].run, f"SELECT {add}")
                others[0].run("ROLLBACK")
                for holder in holders:
                    holder.run("COMMIT")
                self.assert_total(counter, 1 + len(others) + len(holders))

    def test_slots_held_by_prepared_transactions(self):
        preparing, others = self.session(), self.sessions(self.SLOTS)
        for counter, add in self.adds.items():
            with self.subTest(counter):
                for number in range(self.SLOTS - 1):
                    self.hold(preparing, add)
                    preparing.run(f"PREPARE TRANSACTION '{counter} {number}'")
                self.assert_they_pass([preparing, *others], add)
                for number in range(self.SLOTS - 1):
                    self.sql(f"{'COMMIT' if number % 2 else 'ROLLBACK'} PREPARED '{counter} {number}'")
                self.assert_total(counter, 1 + 1 + len(others) + self.SLOTS // 2 - 1)

    def test_a_session_that_idles_in_its_transaction(self):
        idle, others = self.session(), self.sessions(self.SLOTS)
        for counter, add in self.adds.items():
            with self.subTest(counter):
                self.hold(idle, add)
                self.assert_they_pass(others, add)
                idle.run("ROLLBACK")
                self.assert_total(counter, 1 + len(others))


class Picks(Case):
    """How many adds wait for a row, for each pick: a table for the docs. 64 sessions, 64 slots."""

    HOLD_SECONDS = 0.015
    WAITING = """SELECT virtualtransaction FROM pg_locks
                 WHERE NOT granted AND locktype IN ('transactionid', 'tuple') AND pid <> pg_backend_pid()"""

    def waited(self, call, adds=8):
        """The share of transactions that were seen waiting, by a session that looks all the time."""
        watcher = self.session()
        seen, done = set(), threading.Event()

        def watch():
            while not done.is_set():
                seen.update(transaction for (transaction,) in watcher.rows(self.WAITING))
                time.sleep(0.001)

        def count(session, number):
            for add in range(adds):
                session.run(f"BEGIN; SELECT {call}; SELECT pg_sleep({self.HOLD_SECONDS}); COMMIT",
                            {"number": number * adds + add})

        looking = threading.Thread(target=watch)
        looking.start()
        try:
            at_once([lambda s=s, n=n: count(s, n) for n, s in enumerate(self.counting)])
        finally:
            done.set()
            looking.join()
            watcher.close()
        counter = call.partition("_add(")[0]
        self.assertEqual(self.one(f"SELECT total FROM {counter}"), SESSIONS * adds)
        return len(seen) / (SESSIONS * adds)

    def test_what_each_pick_costs(self):
        self.counting = self.sessions(SESSIONS)
        shares = {}
        for pick in ("session", "free", "spread", "random"):
            self.define(f"by_{pick}", "--slots", str(SESSIONS), "--pick", pick)
            shares[pick] = self.waited(f"by_{pick}_add()")
        self.define("by_request", "--slots", str(SESSIONS), "--pick", "request", "--retries", "once")
        shares["request"] = self.waited("by_request_add(request_id => 'id ' || %(number)s)")
        self.define("by_value", "--slots", "61", "--pick", "value")
        shares["value, 61 slots"] = self.waited("by_value_add(value => %(number)s * 7)")
        self.define("by_journal", "--layout", "journal", "--pick", "random")
        shares["journal"] = self.waited("by_journal_add()")
        self.define("one_row", "--slots", "1", "--pick", "random")
        shares["one slot"] = self.waited("one_row_add()", adds=2)
        print(f"\nadds that waited for a row, {SESSIONS} sessions and slots, PostgreSQL {self.server.version}")
        for name, share in shares.items():
            print(f"{name:18} {share:7.1%}", flush=True)
        for pick in ("session", "free", "spread", "journal"):
            self.assertLessEqual(shares[pick], WAITED_MAX, pick)
        self.assertGreater(shares["one slot"], 0.5)  # the measure sees what there is


if __name__ == "__main__":
    unittest.main()
