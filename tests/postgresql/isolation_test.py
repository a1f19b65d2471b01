"""What an add does in a transaction of the caller's, at each isolation level, with savepoints, prepared, under a
statement_timeout; and how often it has to be tried again where sixteen sessions count at once."""
import unittest

import psycopg2

from database import VERSION, Case, at_once, setUpModule  # noqa: F401

LEVELS = ("READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
SERIALIZATION, DEADLOCK = "40001", "40P01"


class Together(Case):
    """Sixteen sessions and sixteen slots, each transaction with one add, and open for a moment."""

    SESSIONS = 16
    ADDS = 25 if VERSION == 15 else 10

    def share_to_try_again(self, call, level):
        refused = []

        def count(session, number):
            for n in range(self.ADDS):
                session.run(f"BEGIN ISOLATION LEVEL {level}; SELECT 1")
                try:
                    session.run(f"SELECT {call}, pg_sleep(0.003)", {"number": number * self.ADDS + n})
                    session.run("COMMIT")
                except psycopg2.Error as error:
                    session.run("ROLLBACK")
                    self.assertIn(error.pgcode, (SERIALIZATION, DEADLOCK))
                    refused.append(error.pgcode)

        before = self.total_of(call)
        at_once([lambda s=s, n=n: count(s, n) for n, s in enumerate(self.counting)])
        adds = self.SESSIONS * self.ADDS
        self.assertEqual(self.total_of(call) - before, adds - len(refused))
        return len(refused) / adds

    def total_of(self, call):
        return self.one(f"SELECT coalesce(sum(total), 0) FROM {call.partition('_add(')[0]}")

    def test_each_pick_at_each_level(self):
        self.counting = self.sessions(self.SESSIONS)
        slots = ("--slots", "16")
        self.define("by_session", *slots)
        self.define("by_free", *slots, "--pick", "free")
        self.define("by_spread", *slots, "--key", "page")
        self.define("by_random", *slots, "--pick", "random")
        self.define("by_value", "--slots", "17", "--pick", "value")
        self.define("by_request", *slots, "--pick", "request", "--retries", "once")
        self.define("by_journal", *slots, "--layout", "journal")
        self.define("with_ids", *slots, "--pick", "session", "--retries", "once")
        calls = {"session": "by_session_add()", "free": "by_free_add()", "spread": "by_spread_add('/home')",
                 "random": "by_random_add()", "value, 17 slots": "by_value_add(value => %(number)s)",
                 "request": "by_request_add(request_id => {level} || %(number)s)",
                 "journal": "by_journal_add()",
                 "session, with ids": "with_ids_add(request_id => {level} || %(number)s)"}
        for call in calls.values():  # rows that are written for the first time are another matter
            self.sql(f"SELECT {call.format(level=repr('first'))}", {"number": 0})
        shares = {(name, level): self.share_to_try_again(call.format(level=repr(level)), level)
                  for name, call in calls.items() for level in LEVELS}
        print(f"\nadds to try again (40001), {self.SESSIONS} sessions, PostgreSQL {VERSION}")
        print(f"{'':18}" + "".join(f"{level:>17}" for level in LEVELS))
        for name in calls:
            print(f"{name:18}" + "".join(f"{shares[name, level]:17.1%}" for level in LEVELS), flush=True)
        for name in calls:
            self.assertEqual(shares[name, "READ COMMITTED"], 0, name)
        for name in ("session", "free", "journal"):
            for level in LEVELS:
                self.assertLessEqual(shares[name, level], 0.01, (name, level))
        for level in LEVELS[1:]:  # the measure sees what there is
            self.assertGreater(shares["random", level], 0.1)


class TwoSessions(Case):
    def test_own_slots_at_every_level(self):
        self.define("hits", "--slots", "4")
        for level in LEVELS:
            with self.subTest(level):
                first, second = self.sessions(2)
                before = self.one("SELECT total FROM hits")
                second.run("SELECT hits_add(0)")  # so it has a number, and a slot, already
                first.run(f"BEGIN ISOLATION LEVEL {level}; SELECT count(*) FROM pg_class")
                second.run("SELECT hits_add()")  # committed after the snapshot
                first.run("SELECT hits_add()")
                second.run(f"BEGIN ISOLATION LEVEL {level}; SELECT hits_add()")  # open at the same time
                first.run("SELECT hits_add(); COMMIT")
                second.run("COMMIT")
                self.assertEqual(self.one("SELECT total FROM hits"), before + 4)
                first.close()
                second.close()

    def test_one_slot_that_was_written_after_the_snapshot_is_a_retry_above_read_committed(self):
        self.define("hits", "--key", "page")
        self.sql("SELECT hits_add('/home')")
        session = self.session()
        for level in LEVELS:
            session.run(f"BEGIN ISOLATION LEVEL {level}; SELECT count(*) FROM pg_class")
            self.sql("SELECT hits_add('/home')")
            if level == "READ COMMITTED":
                session.run("SELECT hits_add('/home'); COMMIT")
            else:
                self.assert_state(SERIALIZATION, session.run, "SELECT hits_add('/home')")
                self.assert_state("25P02", session.run, "SELECT 1")  # dead; ROLLBACK is what is left
                session.run("ROLLBACK")
        self.assertEqual(self.one("SELECT total FROM hits"), 1 + 3 + 1)

    def test_a_transaction_that_reads_the_total_and_then_adds_is_serialised_by_its_own_wish(self):
        self.define("hits", "--slots", "4")
        first, second = self.sessions(2)
        for session in (first, second):
            session.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
        for session in (first, second):
            self.assertEqual(session.value("SELECT total FROM hits"), 0)
            session.run("SELECT hits_add()")
        first.run("COMMIT")
        self.assert_state(SERIALIZATION, second.run, "COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 1)

    def test_a_total_in_a_repeatable_read_transaction_is_of_its_snapshot_and_its_own_adds(self):
        self.define("hits", "--slots", "4")
        session = self.session()
        session.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
        self.assertEqual(session.value("SELECT total FROM hits"), 0)
        self.sql("SELECT hits_add(5)")
        session.run("SELECT hits_add()")
        self.assertEqual(session.value("SELECT total FROM hits"), 1)
        self.assertEqual(session.value("SELECT hits_total()"), 1)
        session.run("COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 6)


class Endings(Case):
    def test_savepoints(self):
        self.define("hits", "--key", "page", "--missing", "error")
        self.run_checked("define", "hits", "K")
        session = self.session()
        session.run("BEGIN; SELECT hits_add('K'); SAVEPOINT s; SELECT hits_add('K', 10); ROLLBACK TO s; "
                    "SELECT hits_add('K', 100); SAVEPOINT t; SELECT hits_add('K', 1000); RELEASE t")
        self.assert_state("SC013", session.run, "SELECT hits_add('L')")
        session.run("ROLLBACK TO s; SELECT hits_add('K', 10000); COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 10_001)

    def test_a_savepoint_before_an_add_saves_the_transaction_from_its_refusal(self):
        self.define("hits", "--slots", "1", "--pick", "random")
        session = self.session()
        session.run("BEGIN; SELECT hits_add(); SAVEPOINT s")
        self.assert_state("SC014", session.run, "SELECT hits_add(slot => 5)")
        session.run("ROLLBACK TO s; SELECT hits_add(); COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 2)

    def test_prepared_transactions(self):
        self.define("hits", "--slots", "4", "--retries", "once")
        session = self.session()
        for ending, total in (("ROLLBACK", 0), ("COMMIT", 1)):
            session.run("BEGIN; SELECT hits_add(request_id => 'X'); PREPARE TRANSACTION 'p'")
            session.run("SELECT hits_add(10)")  # its own slot is held by what it prepared, so it takes another
            self.assertEqual(self.one("SELECT total FROM hits"), 10)
            session.run(f"{ending} PREPARED 'p'")
            session.run("SELECT hits_add(-10)")
            self.assertEqual(self.one("SELECT total FROM hits"), total)

    def test_statement_timeout(self):
        self.define("hits", "--slots", "1", "--pick", "random")
        holder, session = self.session(), self.session(settings="-c statement_timeout=100ms")
        holder.run("BEGIN; SELECT hits_add()")
        session.run("BEGIN")
        self.assert_state("57014", session.run, "SELECT hits_add()")
        self.assert_state("25P02", session.run, "SELECT hits_add()")
        session.run("ROLLBACK")
        holder.run("COMMIT")
        session.run("SELECT hits_add()")
        self.assertEqual(self.one("SELECT total FROM hits"), 2)

    def test_a_read_only_transaction(self):
        self.define("hits")
        session = self.session()
        session.run("BEGIN READ ONLY")
        self.assertEqual(session.value("SELECT total FROM hits"), 0)
        self.assert_state("25006", session.run, "SELECT hits_add()")
        session.run("ROLLBACK")
        self.assertEqual(self.one("SELECT total FROM hits"), 0)

    def test_a_lost_connection_takes_its_adds_with_it(self):
        self.define("hits", "--slots", "2")
        session = self.session()
        session.run("BEGIN; SELECT hits_add()")
        self.sql("SELECT pg_terminate_backend(%s)", session.pid)
        with self.assertRaises(psycopg2.OperationalError):
            session.run("COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 0)


if __name__ == "__main__":
    unittest.main()
