"""compare and advise on MariaDB: the database splitcount_trial (see trials.py)."""
import re

import support
from mariadb_database import MariadbCase, setUpModule  # noqa: F401
from trials import SHORT, Advises, Endings, LostConnections, Refusals, Totals, WrongTotals


class Mariadb(MariadbCase):
    def count(self, what):
        return int(self.one(f"SELECT COUNT(*) FROM information_schema.{what}", "mysql"))

    def is_there(self):
        return self.count("SCHEMATA WHERE SCHEMA_NAME = 'splitcount_trial'") == 1

    def is_adding(self):
        return self.count("PROCESSLIST WHERE DB = 'splitcount_trial' AND COMMAND = 'Query'") > 1

    def has_counted(self):
        try:
            return int(self.one("SELECT n FROM splitcount_trial.trial_1_count")) > 0
        except (RuntimeError, ValueError):  # it is not there yet
            return False

    def is_counting(self):
        return self.count("PROCESSLIST WHERE DB = 'splitcount_trial' AND INFO LIKE '%trial_1%'") > 0

    def sessions(self):
        return self.count(f"PROCESSLIST WHERE DB IN ('splitcount_trial', '{self.name}')")

    def remove_place(self):
        self.sql("DROP DATABASE IF EXISTS splitcount_trial")

    def take_place(self):
        self.sql("CREATE DATABASE splitcount_trial; CREATE TABLE splitcount_trial.precious(n INT)")

    def is_taken_place_whole(self):
        return self.count("TABLES WHERE TABLE_SCHEMA = 'splitcount_trial' AND TABLE_NAME = 'precious'") == 1

    def meddle(self, table):
        try:
            if self.one(f"SELECT SUM(n) > 20 FROM {table}", "mysql") == "1":
                self.sql(f"UPDATE {table} SET n = n + 7", "mysql")
        except RuntimeError:
            pass


class CompareTest(Totals, Mariadb):
    setting = "innodb_flush_log_at_trx_commit"

    def test_padded_is_no_design_here(self):
        answer = self.run_program("compare", *SHORT, "--designs", "padded")
        self.assertEqual(answer.code, support.USAGE, answer)
        self.assertRegex(answer.err, r'there is no design "padded"; right are, with commas between: .*\bjournal\b')

    def test_limits_of_the_server_do_not_end_it(self):
        """Sessions that are idle, or open, or wait for longer than the server lets others."""
        for name, value in (("wait_timeout", "1"), ("idle_transaction_timeout", "1"), ("max_statement_time", "0.001"),
                            ("innodb_lock_wait_timeout", "1")):
            before = self.one(f"SELECT @@GLOBAL.{name}")
            self.addCleanup(self.sql, f"SET GLOBAL {name} = {before}", "mysql")
            self.sql(f"SET GLOBAL {name} = {value}")
        _, designs = self.compared("--designs", "one_row,batched", sizes=["--sessions", "8", "--seconds", "1", "--rounds", "2"])
        self.assertTrue(all(one["exact"] and one["retries"] == 0 for one in designs.values()), designs)


class EndingsTest(Endings, Mariadb):
    pass


class LostConnectionsTest(LostConnections, Mariadb):
    def environment_to_end(self):
        return self.user("app", "ALL PRIVILEGES ON `splitcount\\_trial`.*", f"ALL PRIVILEGES ON {self.name}.*")

    def end_sessions(self):
        """At once: where one is ended the program closes the others."""
        found = self.count("PROCESSLIST WHERE USER = 'app'")
        self.sql("KILL USER app")
        return found


class RefusalTest(Refusals, Mariadb):
    def test_an_account_that_may_not_create(self):
        env = self.user("reader", f"SELECT ON {self.name}.*")
        self.assert_refused(support.FAILED, *SHORT, "may not; right is GRANT ALL PRIVILEGES ON `splitcount\\_trial`.* TO 'reader'@'localhost'",
                            env=env)

    def test_an_account_that_may_create_and_not_drop_leaves_nothing(self):
        env = self.user("reader", f"SELECT ON {self.name}.*", "CREATE ON `splitcount\\_trial`.*")
        self.assert_refused(support.FAILED, *SHORT, "right is GRANT ALL PRIVILEGES", env=env)

    def test_the_right_that_is_named_is_enough(self):
        env = self.user("reader", f"SELECT ON {self.name}.*")
        answer = self.run_program("compare", *SHORT, "--designs", "session", env=env)
        (grant,) = re.findall(r"right is (GRANT .*)\n", answer.err)
        self.sql(grant)
        _, designs = self.compared("--designs", "one_row,session,once,value,journal_folded,batched", env=env)
        self.assertTrue(all(one["exact"] for one in designs.values()), designs)
        self.assert_nothing_left()

    def test_what_lacks_a_right_of_its_own_is_named(self):
        """With a binary log only SUPER makes triggers."""
        env = self.user("reader", f"SELECT ON {self.name}.*", "ALL PRIVILEGES ON `splitcount\\_trial`.*")
        self.assert_refused(support.FAILED, *SHORT, "the design trigger cannot be made here", env=env)
        self.sql("SET GLOBAL log_bin_trust_function_creators = ON")
        self.addCleanup(self.sql, "SET GLOBAL log_bin_trust_function_creators = OFF", "mysql")
        _, designs = self.compared("--designs", "trigger", env=env)
        self.assertTrue(designs["trigger"]["exact"])

    def test_a_server_that_only_reads(self):
        env = self.user("reader", f"SELECT ON {self.name}.*", "ALL PRIVILEGES ON `splitcount\\_trial`.*")
        self.sql("SET GLOBAL read_only = ON")
        self.addCleanup(self.sql, "SET GLOBAL read_only = OFF", "mysql")
        self.assert_refused(support.FAILED, *SHORT, "this server, or this session, only reads", env=env)
        _, designs = self.compared("--designs", "session")  # root passes it
        self.assertTrue(designs["session"]["exact"])

    def test_an_account_with_few_connections(self):
        env = self.user("reader", "ALL PRIVILEGES ON `splitcount\\_trial`.*", f"SELECT ON {self.name}.*")
        self.sql("ALTER USER reader@localhost WITH MAX_USER_CONNECTIONS 6")
        self.assert_refused(support.FAILED, "--sessions", "4", "4 sessions are more than this server has room for: 3 can be opened now",
                            env=env)
        _, designs = self.compared("--designs", "journal_folded", sizes=["--sessions", "3", "--seconds", "1", "--rounds", "1"], env=env)
        self.assertTrue(designs["journal_folded"]["exact"])

    def test_somebody_elses_place_that_cannot_be_seen(self):
        self.take_place()
        self.addCleanup(self.remove_place)
        env = self.user("reader", f"SELECT ON {self.name}.*")
        answer = self.run_program("compare", *SHORT, env=env)
        self.assertEqual(answer.code, support.FAILED, answer)
        self.assertIn("may not", answer.err)
        self.assertTrue(self.is_taken_place_whole())


class WrongTotalsTest(WrongTotals, Mariadb):
    pass


class AdviseTest(Advises, Mariadb):
    pass
