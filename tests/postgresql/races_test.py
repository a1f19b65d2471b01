"""Many at once: order of locks, equal keys in one call, first adds of a key, random slots, open transactions; and ids, keys
and numbers at their ends, all by SQL."""
import random
import unittest

from database import VERSION, Case, at_once, setUpModule  # noqa: F401
from support import IS_LONG, random_numbers

OUT_OF_RANGE, CONFLICT, KEY_INVALID = "SC015", "SC017", "SC004"
MAX, MIN = 2**63 - 1, -(2**63)


class ManyKeysInOneCall(Case):
    """Two writers with the same 200 keys, one up, one down. They meet in slot 0, which is where a deadlock would be."""

    ROUNDS = 10_000 if IS_LONG else 1_000 if VERSION == 15 else 300
    LOOP = """DO $$ DECLARE keys text[]; BEGIN FOR i IN 1..{rounds} LOOP
                SELECT array_agg('k' || n ORDER BY {order}) INTO keys FROM generate_series(1, 200) AS n;
                PERFORM {counter}_add_many(keys, array_fill(1::bigint, ARRAY[200]){slots}); COMMIT;
              END LOOP; END $$"""

    def write(self, counter, orders, rounds, slots=""):
        tasks = [lambda s=self.session(), o=order: s.run(self.LOOP.format(counter=counter, order=o, rounds=rounds, slots=slots))
                 for order in orders]
        at_once(tasks)
        totals = self.sql(f"SELECT DISTINCT total FROM {counter}")
        self.assertEqual(totals, [(rounds * len(orders),)])

    def test_up_and_down_through_one_slot_never_deadlocks(self):
        self.define("hits", "--key", "page", "--pick", "random", "--slots", "4")
        self.write("hits", ("n", "-n"), self.ROUNDS, ", slots => array_fill(0, ARRAY[200])")

    def test_random_orders_through_one_slot_never_deadlock(self):
        self.define("hits", "--key", "page", "--pick", "random", "--slots", "4")
        self.write("hits", ("random()",) * 4, self.ROUNDS // 4, ", slots => array_fill(0, ARRAY[200])")

    def test_up_and_down_by_each_pick(self):
        for pick in ("spread", "session", "random"):
            with self.subTest(pick):
                self.define(f"by_{pick}", "--key", "page", "--pick", pick, "--slots", "4")
                self.write(f"by_{pick}", ("n", "-n"), self.ROUNDS // 10)

    def test_ids_in_opposite_orders(self):
        self.define("hits", "--key", "page", "--retries", "once", "--slots", "4")
        sessions = self.sessions(2)
        for number in range(20):
            ids = [f"{number} {n:03}" for n in range(100)]

            def send(session, words):
                return session.rows("SELECT replay FROM hits_add_many(%s, %s, %s)", ["k"] * 100, [1] * 100, words)

            answers = at_once([lambda: send(sessions[0], ids), lambda: send(sessions[1], ids[::-1])])
            self.assertEqual(sum(replay for rows in answers for (replay,) in rows), 100)
        self.assertEqual(self.one("SELECT total FROM hits"), 2_000)

    def test_one_key_three_times_in_one_call(self):
        self.define("hits", "--key", "page")
        answered = self.sql("SELECT item, replay FROM hits_add_many(ARRAY['K', 'L', 'K', 'M', 'K'], ARRAY[1, 10, 2, 20, 3])")
        self.assertEqual(sorted(answered), [(n, False) for n in range(1, 6)])
        self.assertEqual(self.sql("SELECT * FROM hits ORDER BY page"), [("K", 6), ("L", 10), ("M", 20)])


class FirstAdds(Case):
    SESSIONS = 32

    def test_at_one_instant(self):
        for pick in ("spread", "session", "random"):
            self.define(f"by_{pick}", "--key", "page", "--pick", pick, "--slots", "16")
        sessions = self.sessions(self.SESSIONS)
        for n in range(10):
            for pick in ("spread", "session", "random"):
                at_once([lambda s=s: s.run(f"SELECT by_{pick}_add(%s)", f"key {n}") for s in sessions])
        for pick in ("spread", "session", "random"):
            self.assertEqual(self.sql(f"SELECT DISTINCT total FROM by_{pick}"), [(self.SESSIONS,)])

    def test_a_thousand_new_keys_each_from_every_session(self):
        keys = 1_000 if VERSION == 15 or IS_LONG else 200
        self.define("hits", "--key", "page", "--slots", "16")
        loop = f"DO $$ BEGIN FOR i IN 1..{keys} LOOP PERFORM hits_add('key ' || i); COMMIT; END LOOP; END $$"
        at_once([lambda s=s: s.run(loop) for s in self.sessions(self.SESSIONS)])
        self.assertEqual(self.sql("SELECT count(*), min(total), max(total) FROM hits"),
                         [(keys, self.SESSIONS, self.SESSIONS)])


class RandomSlots(Case):
    def test_each_add_changes_exactly_one_row(self):
        sessions, adds = 64, 10_000
        self.define("hits", "--slots", "11", "--pick", "random")
        loop = """DO $$ BEGIN FOR i IN 1..{} LOOP
                    IF NOT hits_add() THEN RAISE 'not counted'; END IF; COMMIT; END LOOP; END $$"""
        shares = [adds // sessions + (n < adds % sessions) for n in range(sessions)]
        at_once([lambda s=self.session(), n=share: s.run(loop.format(n)) for share in shares])
        self.assertEqual(self.one("SELECT total FROM hits"), adds)
        rows = [n for (n,) in self.sql("SELECT n FROM hits_slots")]
        self.assertEqual(len(rows), 11)
        for n in rows:  # five standard deviations
            self.assertLess(abs(n - adds / 11), 150, rows)

    def test_one_transaction_draws_once(self):
        self.define("hits", "--slots", "64", "--pick", "random", "--key", "page")
        session = self.session()
        for _ in range(20):
            session.run("BEGIN; SELECT hits_add('K'); SELECT hits_add('K'); SAVEPOINT s; SELECT hits_add('K'); COMMIT")
        rows = [n for (n,) in self.sql("SELECT n FROM hits_slots")]
        self.assertTrue(all(n % 3 == 0 for n in rows), rows)
        self.assertGreater(len(rows), 5)


class OpenTransactions(Case):
    def test_another_session_ends_at_once_and_sees_what_is_committed(self):
        for pick in ("spread", "session"):
            for ending, after in (("COMMIT", 2), ("ROLLBACK", 1)):
                with self.subTest(pick=pick, ending=ending):
                    counter = f"{pick}_{ending.lower()}"
                    self.define(counter, "--key", "page", "--pick", pick)
                    self.sql(f"SELECT {counter}_add('a', 0)")
                    first, second = self.session(), self.session(settings="-c lock_timeout=1s")
                    first.run(f"BEGIN; SELECT {counter}_add('a')")
                    second.run(f"SELECT {counter}_add('a')")
                    total = f"SELECT total FROM {counter} WHERE page = 'a'"
                    self.assertEqual(self.one(total), 1)
                    self.assertEqual(first.value(total), 2)  # its own adds are seen by itself
                    first.run(ending)
                    self.assertEqual(self.one(total), after)

    def test_two_keys_in_opposite_order_in_two_transactions_cost_one_of_them_a_retry(self):
        self.define("hits", "--key", "page", "--slots", "1", "--pick", "random")
        self.sql("SELECT hits_add('K'), hits_add('L')")
        first, second = self.sessions(2)
        first.run("BEGIN; SELECT hits_add('K')")
        second.run("BEGIN; SELECT hits_add('L')")
        refused = []

        def go_on(session, other, key):
            try:
                session.run("SELECT hits_add(%s)", key)
                session.run("COMMIT")
            except Exception as error:  # noqa: BLE001
                refused.append((error.pgcode, session, other))
                session.run("ROLLBACK")

        at_once([lambda: go_on(first, "K", "L"), lambda: go_on(second, "L", "K")])
        ((state, victim, _),) = refused
        self.assertEqual(state, "40P01")
        victim.run("BEGIN; SELECT hits_add('K'), hits_add('L'); COMMIT")
        self.assertEqual(self.sql("SELECT total FROM hits"), [(3,), (3,)])


class Ids(Case):
    def test_the_same_id_with_another_amount_or_key_is_refused(self):
        self.define("hits", "--key", "page", "--retries", "once")
        session = self.session()
        self.assertTrue(session.value("SELECT hits_add('K', 1, 'X')"))
        self.assert_state(CONFLICT, session.run, "SELECT hits_add('K', 5, 'X')")
        self.assert_state(CONFLICT, session.run, "SELECT hits_add('L', 1, 'X')")
        self.assert_state(CONFLICT, session.run, "SELECT hits_add_many(ARRAY['M', 'K'], ARRAY[1, 2], ARRAY['Y', 'X'])")
        self.assertFalse(session.value("SELECT hits_add('K', 1, 'X')"))
        self.assertEqual(self.sql("SELECT * FROM hits"), [("K", 1)])
        self.assertEqual(self.sql("SELECT request_id FROM hits_requests"), [("X",)])

    def test_an_id_goes_with_its_savepoint_and_its_transaction(self):
        self.define("hits", "--retries", "once")
        session = self.session()
        session.run("BEGIN; SELECT hits_add(request_id => 'X'); ROLLBACK")
        session.run("BEGIN; SAVEPOINT s; SELECT hits_add(request_id => 'X'); ROLLBACK TO s; COMMIT")
        self.assertEqual(self.one("SELECT total FROM hits"), 0)
        self.assertTrue(session.value("SELECT hits_add(request_id => 'X')"))

    def test_an_id_that_another_session_has_open_is_waited_for_within_bounds(self):
        self.define("hits", "--retries", "once")
        holder, other = self.sessions(2)
        holder.run("BEGIN; SELECT hits_add(request_id => 'X')")
        self.assert_state("55P03", other.run, "SELECT hits_add(request_id => 'X')")
        holder.run("COMMIT")
        self.assertFalse(other.value("SELECT hits_add(request_id => 'X')"))
        self.assertEqual(self.one("SELECT total FROM hits"), 1)


class KeysAndNumbers(Case):
    def test_different_keys_are_different_numbers(self):
        keys = ["Ab", "ab", "AB", "ab ", " ab", "e\u0301", "\u00e9", "x" * 299 + "1", "x" * 299 + "2", "11", "011", "1.1e1",
                "x" * 768, "\u00e9" * 384]
        self.define("hits", "--key", "page")
        session = self.session()
        for n, key in enumerate(keys):
            session.run("SELECT hits_add(%s, %s)", key, n + 1)
        self.assertEqual(dict(self.sql("SELECT * FROM hits")), {key: n + 1 for n, key in enumerate(keys)})
        for key in ("", "x" * 769, "\u00e9" * 385, None):
            self.assert_state(KEY_INVALID, session.run, "SELECT hits_add(%s)", key)
        self.assert_state("22021", session.run, r"SELECT hits_add(E'a\377')")
        self.assert_state("54000", session.run, r"SELECT hits_add('a' || chr(0))")
        self.assertEqual(self.one("SELECT count(*) FROM hits"), len(keys))

    def test_below_zero(self):
        self.define("hits", "--pick", "random", "--slots", "1")
        self.sql("SELECT hits_add(-1)")
        self.assertEqual(self.one("SELECT total FROM hits"), -1)
        self.sql("SELECT hits_add(1)")
        self.assertEqual(self.one("SELECT total FROM hits"), 0)

    def test_the_ends_of_64_bits(self):
        self.define("hits", "--slots", "2", "--pick", "random")
        session = self.session()
        session.run("SELECT hits_add(%s, slot => 0)", MAX)
        self.assert_state(OUT_OF_RANGE, session.run, "SELECT hits_add(1, slot => 0)")
        self.assertEqual(self.one("SELECT total FROM hits"), MAX)
        session.run("SELECT hits_add(-1, slot => 0)")
        self.assertEqual(self.one("SELECT total FROM hits"), MAX - 1)
        session.run("SELECT hits_add(3000000000, slot => 1)")
        for read in ("SELECT total FROM hits", "SELECT hits_total()"):  # each slot is in range, their sum is not
            self.assert_state("22003", session.run, read)
        session.run("SELECT hits_add(%s, slot => 1)", -3000000000)
        session.run("SELECT hits_add(%s, slot => 1)", MIN)
        self.assert_state(OUT_OF_RANGE, session.run, "SELECT hits_add(-1, slot => 1)")
        self.assertEqual(self.sql("SELECT slot, n FROM hits_slots ORDER BY slot"), [(0, MAX - 1), (1, MIN)])
        self.assertEqual(self.one("SELECT total FROM hits"), -2)

    def test_no_generated_number_is_used_up(self):
        self.define("hits", "--retries", "once", "--key", "page")
        self.sql("SELECT hits_add('K', 1, 'X')")
        self.sql("SELECT hits_add('K', 1, 'X')")
        self.assertEqual(self.one("SELECT count(*) FROM pg_class WHERE relkind = 'S'"), 0)


if __name__ == "__main__":
    unittest.main()
