"""What SQL is refused, and under which SQLSTATE: docs/postgresql.md against the server."""
import re
import unittest

import psycopg2

from database import Case, setUpModule  # noqa: F401
from support import SOURCE

DOCS = SOURCE / "docs" / "postgresql.md"

# (counter, arguments, code); the counters are made in setUp.
REFUSED = [
    ("plain_add", "request_id => 'X'", "request_id_refused"),
    ("plain_add", "value => 5", "value_invalid"),
    ("plain_add", "slot => 4", "slot_missing"),
    ("plain_add", "slot => -1", "slot_missing"),
    ("plain_add", "9223372036854775807", "out_of_range"),
    ("keyed_add", "''", "key_invalid"),
    ("keyed_add", "NULL", "key_invalid"),
    ("keyed_add", "repeat('x', 769)", "key_invalid"),
    ("keyed_add", "'unknown'", "key_missing"),
    ("keyed_add", "'half', slot => 3", "slot_missing"),
    ("keyed_add", "'K', 2, 'known'", "request_conflict"),
    ("keyed_add", "'half', 1, 'known'", "request_conflict"),
    ("keyed_add", "'K', 1, ''", "request_id_invalid"),
    ("keyed_add", "'K', 1, repeat('x', 129)", "request_id_invalid"),
    ("by_value_add", "", "value_invalid"),
    ("by_value_add", "value => 1, slot => 1", "value_invalid"),
    ("plain_add_many", "NULL, ARRAY[1, NULL]", "amount_invalid"),
    ("plain_add_many", "ARRAY['K'], ARRAY[1]", "key_invalid"),
    ("plain_add_many", "NULL, ARRAY[1], ARRAY['X']", "request_id_refused"),
    ("plain_add_many", "NULL, ARRAY[1, 1], NULL, ARRAY[0, 4]", "slot_missing"),
    ("plain_add_many", "NULL, ARRAY[1, 9223372036854775807], NULL, ARRAY[0, 0]", "out_of_range"),
    ("keyed_add_many", "ARRAY['K', ''], ARRAY[1, 1]", "key_invalid"),
    ("keyed_add_many", "ARRAY['K', 'unknown'], ARRAY[1, 1]", "key_missing"),
    ("keyed_add_many", "ARRAY['K', 'half'], ARRAY[1, 1], NULL, ARRAY[0, 3]", "slot_missing"),
    ("keyed_add_many", "ARRAY['K', 'K'], ARRAY[1, 2], ARRAY['new', 'known']", "request_conflict"),
    ("keyed_add_many", "ARRAY['K'], ARRAY[1], ARRAY['']", "request_id_invalid"),
    ("by_value_add_many", "NULL, ARRAY[1]", "value_invalid"),
]
# Arguments that PostgreSQL itself refuses before a function of ours sees them.
REFUSED_BY_TYPE = [
    ("'1e3'", "22P02"), ("'+'", "22P02"), ("''", "22P02"), ("1.5::text", "42883"), ("9223372036854775808", "42883"),
    ("'9223372036854775808'", "22003"),
]


def documented():
    """code -> SQLSTATE, from the first table of docs/postgresql.md's section."""
    section = DOCS.read_text().split("## SQLSTATEs")[1]
    return {code: state for state, code in re.findall(r"^\| (SC\d{3}) \| (\w+) \|", section, re.M)}


class Refusals(Case):
    def setUp(self):
        super().setUp()
        self.define("plain", "--slots", "4", "--pick", "random")
        self.define("keyed", "K", "half", "--key", "page", "--missing", "error", "--retries", "once", "--slots", "4")
        self.define("by_value", "--slots", "5", "--pick", "value")
        self.sql("DELETE FROM keyed_slots WHERE page = 'half' AND slot = 3")
        self.sql("SELECT plain_add(1, slot => s) FROM generate_series(0, 3) AS s")
        self.sql("SELECT keyed_add('K', 1, 'known')")
        self.states = documented()

    def rows(self):
        tables = ("plain_slots", "keyed_slots", "keyed_requests", "by_value_slots")
        return [self.sql(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]

    def test_each_refusal_has_its_state_says_a_sentence_and_changes_nothing(self):
        session, before = self.session(), self.rows()
        for function, arguments, code in REFUSED:
            with self.subTest(f"{function}({arguments})"):
                error = self.assert_state(self.states[code], session.run, f"SELECT {function}({arguments})")
                self.assertRegex(error.diag.message_primary, rf"\A{code}: [^\n]+[^.\n]\Z")
                self.assertEqual(self.rows(), before)

    def test_what_is_no_number_is_refused_by_its_type(self):
        session, before = self.session(), self.rows()
        for argument, state in REFUSED_BY_TYPE:
            with self.subTest(argument):
                self.assert_state(state, session.run, f"SELECT plain_add({argument})")
        self.assertEqual(self.rows(), before)

    def test_each_documented_state_is_raised_and_each_raised_one_is_documented(self):
        for code, state in self.states.items():
            with self.subTest(code):
                self.assert_state(state, self.sql, f"SELECT splitcount_refuse('{code}: a sentence')")
        source = self.one("SELECT prosrc FROM pg_proc WHERE proname = 'splitcount_refuse'")
        self.assertEqual(dict(re.findall(r"WHEN '(\w+)' THEN '(\w+)'", source)), self.states)
        header = (SOURCE / "include" / "splitcount" / "error.h").read_text()
        body = re.search(r"enum class ErrorCode[^{]*\{(.*?)\};", header, re.S).group(1)
        numbers = {name: n for n, name in enumerate(re.findall(r"^\s*(\w+)(?: = \d+)?,", body, re.M), 1)}
        self.assertEqual({code: f"SC{numbers[code]:03}" for code in self.states}, self.states)

    def test_a_refusal_leaves_the_transaction_dead(self):
        session = self.session()
        session.run("BEGIN; SELECT plain_add()")
        self.assert_state("SC014", session.run, "SELECT plain_add(slot => 4)")
        self.assertRaises(psycopg2.errors.InFailedSqlTransaction, session.run, "SELECT 1")
        session.run("COMMIT")
        self.assertEqual(self.one("SELECT total FROM plain"), 4)


if __name__ == "__main__":
    unittest.main()
