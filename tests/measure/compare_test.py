"""compare and advise on PostgreSQL: the schema splitcount_trial (see trials.py)."""
import psycopg2

import support
from database import Case, setUpModule  # noqa: F401
from trials import SHORT, Advises, Endings, LostConnections, Refusals, Totals, WrongTotals

OURS = "FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'splitcount'"


class Postgresql(Case):
    def is_there(self):
        return self.one("SELECT count(*) FROM pg_namespace WHERE nspname = 'splitcount_trial'") == 1

    def is_adding(self):
        return self.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND "
                        "query LIKE '%%INSERT INTO%%entries(session%%'") > 1

    def has_counted(self):
        return self.one("SELECT coalesce(sum(n_tup_upd), 0) FROM pg_stat_user_tables WHERE schemaname = 'splitcount_trial'") > 0

    def is_counting(self):
        return self.one(f"SELECT count(*) {OURS} AND query LIKE '%%trial_1%%' AND state = 'active'") > 0

    def sessions(self):
        return self.one(f"SELECT count(*) {OURS}")

    def end_sessions(self):
        return self.one(f"SELECT count(pg_terminate_backend(pid)) {OURS}")

    def remove_place(self):
        self.sql("DROP SCHEMA IF EXISTS splitcount_trial CASCADE")

    def take_place(self):
        self.sql("CREATE SCHEMA splitcount_trial")
        self.sql("CREATE TABLE splitcount_trial.precious(n int)")

    def is_taken_place_whole(self):
        return self.one("SELECT count(*) FROM pg_class WHERE relname = 'precious'") == 1

    def meddle(self, table):
        try:
            if self.meddler.value(f"SELECT sum(n) > 20 FROM {table}"):
                self.meddler.run(f"UPDATE {table} SET n = n + 7")
        except psycopg2.Error:
            pass


class CompareTest(Totals, Postgresql):
    designs = Totals.designs | {"padded"}
    setting = "synchronous_commit"

    def look_at(self, designs):
        self.assertGreater(designs["random_11"]["retries"], 0)


class EndingsTest(Endings, Postgresql):
    pass


class LostConnectionsTest(LostConnections, Postgresql):
    pass


class RefusalTest(Refusals, Postgresql):
    def test_a_role_that_may_not_create(self):
        self.sql("DROP ROLE IF EXISTS reader")
        self.sql("CREATE ROLE reader LOGIN")
        self.addCleanup(self.sql, "DROP ROLE reader")
        env = support.environment(SPLITCOUNT_DB=self.server.address(self.name).replace("user=postgres", "user=reader"))
        self.assert_refused(support.FAILED, *SHORT, "GRANT CREATE ON DATABASE", env=env)


class WrongTotalsTest(WrongTotals, Postgresql):
    def setUp(self):
        super().setUp()
        self.meddler = self.session()


class AdviseTest(Advises, Postgresql):
    pass
