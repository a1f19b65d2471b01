"""`copy` between SQLite and PostgreSQL, in every direction."""
import unittest

import support
from copies import Copies, ForGood, FromSqlite, Refused, ToSqlite
from database import Case, setUpModule  # noqa: F401


class PostgresqlCase(Case):
    def run_program(self, *words, **how):
        how.setdefault("env", support.environment())
        return super().run_program(*words, **how)

    def another_database(self):
        """A second one, emptied like the first."""
        self.others = self.server.empty_databases.pop() if self.server.empty_databases else self.new_database()
        self.addCleanup(self.empty, self.others)
        return self.server.address(self.others)

    def empty(self, name):
        own, self.name = self.name, name
        self.empty_database()
        self.name = own


class FromPostgresql:
    engine_here = "postgresql"

    def setUp(self):
        super().setUp()
        self.here = self.address

    def same_as_here(self):
        folder, name = self.server.folder, self.name
        return [self.here, f"postgresql://postgres@/{name}?host={folder}", f"postgresql:host={folder}/ dbname={name} user=postgres"]

    def many_ids(self, count):
        self.sql("SELECT count(pv_add('/', request_id => 'id ' || n)) FROM generate_series(1, %s) AS n", count)


class ToPostgresql:
    engine_there = "postgresql"
    named_there = 'the PostgreSQL database "'

    def tamper(self, table, key):
        self.rows_there(f"UPDATE {table} SET n = n + 1 WHERE line = %s", key)

    def notes_there(self):
        return self.rows_there("SELECT count(*) FROM splitcount_copied")[0][0]

    def rows_there(self, text, *values):
        return self.sql(text, *values)


class SqliteToPostgresql(FromSqlite, ToPostgresql, Copies, PostgresqlCase):
    def setUp(self):
        super().setUp()
        self.there = self.address


class PostgresqlToSqlite(FromPostgresql, ToSqlite, Copies, PostgresqlCase):
    def test_a_journal_is_compact_there_and_its_deltas_come_along(self):
        self.at(self.here, "define", "pv", "--key", "page", "--layout", "journal")
        for key in ("a", "b", "c"):
            self.at(self.here, "add", "pv", key, "--by", "2")
        self.at(self.here, "maintain")
        for key in ("b", "bb", "d"):
            self.at(self.here, "add", "pv", key, "--by", "5")
        notes = self.copy("--final")["notes"]
        self.assertTrue(any("layout compact there, since SQLite has no journal" in note for note in notes), notes)
        self.assertEqual(self.totals_at(self.there, "pv", 10), {"a": 2, "b": 7, "bb": 5, "c": 2, "d": 5})

    def test_a_journal_of_many_pages_is_read_whole(self):
        self.at(self.here, "define", "pv", "--key", "page", "--layout", "journal")
        self.sql("SELECT count(*) FROM pv_add_many((SELECT array_agg(n::text) FROM generate_series(1, 4000) AS n), "
                 "(SELECT array_agg(n) FROM generate_series(1, 4000) AS n))")
        self.sql("SELECT * FROM pv_fold()")
        self.sql("SELECT count(*) FROM pv_add_many((SELECT array_agg((n + 2000)::text) FROM generate_series(1, 4000) AS n), "
                 "(SELECT array_agg(1) FROM generate_series(1, 4000) AS n))")
        self.assertEqual(self.copy()["keys"], 6_000)
        right = {f"{n}": (n if n <= 4000 else 0) + (1 if n > 2000 else 0) for n in range(1, 6001)}
        self.assertEqual(self.totals_at(self.there, "pv", 6_000), right)

    def test_plain_sql_hears_of_the_close_under_its_own_state(self):
        self.at(self.here, "define", "pv", "--key", "page")
        self.copy("--final")
        error = self.assert_state("SC041", self.sql, "SELECT pv_add('/')")
        self.assertIn("there.db", str(error))
        self.assert_state("SC041", self.sql, "SELECT * FROM pv_add_many(ARRAY['/'], ARRAY[1])")
        self.assert_state("SC041", self.sql, "INSERT INTO pv_slots VALUES ('/', 0, 1)")


class PostgresqlToPostgresql(FromPostgresql, ToPostgresql, ForGood, Refused, PostgresqlCase):
    def setUp(self):
        super().setUp()
        self.there = self.another_database()

    def rows_there(self, text, *values):
        connection = self.server.connect(self.others)
        cursor = connection.cursor()
        cursor.execute(text, values or None)
        rows = cursor.fetchall() if cursor.description else []
        connection.close()
        return rows

    def test_padded_and_journal_stay_what_they_are(self):
        for layout in ("padded", "journal"):
            self.at(self.here, "define", layout, "--key", "page", "--layout", layout, "--slots", "3")
            self.at(self.here, "add", layout, "/", "--by", "4")
        self.assertEqual([one["notes"] for one in self.copy("--final")], [[], []])
        self.assertEqual([one["rule"]["layout"] for one in self.json_at(self.there, "list")], ["journal", "padded"])
        self.assertEqual([self.total_at(self.there, name, "/") for name in ("journal", "padded")], [4, 4])

    def test_a_role_that_may_not_create_there_changes_nothing(self):
        self.at(self.here, "define", "hits")
        self.rows_there("DROP ROLE IF EXISTS looks_only")
        self.rows_there("CREATE ROLE looks_only LOGIN")
        self.addCleanup(self.sql, "DROP ROLE looks_only")
        address = self.server.address(self.others, user="looks_only")
        self.refuse(support.FAILED, "permission_denied", there=address)
        self.refuse(support.FAILED, "permission_denied", "--final", there=address)
        self.at(self.here, "add", "hits")


if __name__ == "__main__":
    unittest.main()
