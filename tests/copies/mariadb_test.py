"""`copy` between MariaDB and SQLite, and from MariaDB to MariaDB."""
import unittest

from copies import AgainAndBesideWriters, Copies, ForGood, FromSqlite, Refused, ToSqlite, WhatIsCopied
from mariadb_database import setUpModule, shared_server  # noqa: F401
from support import FAILED, Case


class FromMariadb:
    engine_here = "mariadb"

    def setUp(self):
        super().setUp()
        self.server = shared_server()
        self.name_here = self.server.new_database()
        self.here = self.server.address(self.name_here)

    def same_as_here(self):
        return [self.here, f"mariadb://root@localhost/{self.name_here}?socket={self.server.folder}/./socket"]

    def many_ids(self, count):
        self.server.sql(self.name_here, "BEGIN;" + "".join(f"CALL pv_add('/', 1, 'id {n}', NULL, NULL, @counted);" for n in range(count)) + "COMMIT;")


class ToMariadb:
    engine_there = "mariadb"
    named_there = "the MariaDB database"

    def setUp(self):
        super().setUp()
        self.server = shared_server()
        self.name_there = self.server.new_database()
        self.there = self.server.address(self.name_there)

    def tamper(self, table, key):
        self.server.sql(self.name_there, f"UPDATE {table} SET n = n + 1 WHERE line = '{key}'")

    def notes_there(self):
        return int(self.server.sql(self.name_there, "SELECT count(*) FROM splitcount_copied")[0])


class SqliteToMariadb(FromSqlite, ToMariadb, Copies, Case):
    pass


class MariadbToSqlite(FromMariadb, ToSqlite, WhatIsCopied, AgainAndBesideWriters, ForGood, Refused, Case):
    def test_plain_sql_hears_of_the_close(self):
        self.at(self.here, "define", "pv", "--key", "page", "--retries", "once")
        self.copy("--final")
        for call in ("CALL pv_add('/', 1, NULL, NULL, NULL, @counted)", "CALL pv_add('/', 1, 'id', NULL, NULL, @counted)",
                     "INSERT INTO pv_slots VALUES ('/', 0, 1)"):
            with self.assertRaisesRegex(RuntimeError, r"ERROR 1644 \(SC041\).*counter_closed: pv has moved to"):
                self.server.sql(self.name_here, call)


class MariadbToMariadb(FromMariadb, ToMariadb, Refused, Case):
    def test_a_counter_goes_over_whole(self):
        self.at(self.here, "define", "pv", "--key", "page")
        self.at(self.here, "add", "pv", "/", "--by", "4")
        self.assertTrue(self.copy("--final")["complete"])
        self.assertEqual(self.total_at(self.there, "pv", "/"), 4)
        self.refused(FAILED, "counter_closed", "--db", self.here, "add", "pv", "/")


if __name__ == "__main__":
    unittest.main()
