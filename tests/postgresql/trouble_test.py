"""What the program says when something is wrong with the server, the address or the rights: one sentence, the right exit
code, no password in it, and nothing half done; and a running writer goes on by itself when the server is back."""
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from database import VERSION, Case, setUpModule  # noqa: F401
from server import Server
from support import DONE, FAILED, LOG_LINES, PROGRAM, SOURCE, USAGE, environment, random_numbers

SECRET = "correct horse"
CALL_SECONDS_MAX = 30  # what a call may take at most; it waits five seconds for the server and for locks


class Trouble(Case):
    """A server of its own, since it is stopped, filled and set up anew."""

    @classmethod
    def setUpClass(cls):
        cls.own = Server(VERSION, log_statement="all", log_connections="on", max_connections="40")
        cls.addClassCleanup(cls.own.stop)

    def find_server(self):
        return self.own

    def address_of(self, **more):
        return self.server.address(self.name, **more)

    def set_up(self, **settings):
        for name, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {name} = {value}")
            self.addCleanup(self.sql, f"ALTER SYSTEM RESET {name}")
        self.addCleanup(self.server.control, "reload")
        self.server.control("reload")


class NoServer(Trouble):
    VERBS = (("list",), ("add", "hits"), ("total", "hits"), ("status",), ("define", "more"), ("drop", "hits", "--yes"))

    def test_a_server_that_is_down(self):
        self.define("hits")
        self.server.shut_down()
        self.copy_log()
        try:
            for words in (*self.VERBS, ("count", "access.log")):
                with self.subTest(words):
                    said = self.refused(FAILED, "database_unavailable", *words)
                    self.assertIn(f'"{self.name}" on "{self.server.folder}" cannot be reached', said)
                    self.assertTrue(self.error["retryable"])
        finally:
            self.server.start_again()
        self.assertEqual(self.json("list")[0]["counter"], "hits")
        self.assertEqual(self.total("hits"), 0)

    def test_a_host_that_is_none_and_a_port_where_nobody_listens(self):
        said = self.refused(FAILED, "database_unavailable", "list", "--db", "postgresql://127.0.0.1:1/shop")
        self.assertRegex(said, r'"shop" on "127.0.0.1" port "1" cannot be reached: Connection refused')
        said = self.refused(FAILED, "database_unavailable", "list", "--db", "postgresql://nowhere.invalid/shop")
        self.assertRegex(said, 'on "nowhere.invalid" cannot be reached: could not translate host name')

    def test_a_server_that_stands_still(self):
        self.define("hits")
        postmaster = self.server.postmaster()
        os.kill(postmaster, signal.SIGSTOP)
        try:
            begun = time.monotonic()
            said = self.refused(FAILED, "database_unavailable", "add", "hits")
            self.assertLess(time.monotonic() - begun, 2 * CALL_SECONDS_MAX)
            self.assertIn("did not answer in time", said)
        finally:
            os.kill(postmaster, signal.SIGCONT)
        self.assertEqual(self.total("hits"), 0)


class WrongAddress(Trouble):
    def test_no_such_database(self):
        said = self.refused(FAILED, "database_unavailable", "add", "hits", "--db", self.server.address("nowhere"))
        self.assertIn('database "nowhere" does not exist (SQLSTATE 3D000)', said)

    def test_an_address_that_cannot_be_read(self):
        for address in ("postgresql://[::", "postgresql:host", "postgresql:colour=blue", "postgresql://h/%zz"):
            with self.subTest(address):
                self.assertIn("postgresql://USER@HOST:PORT/DATABASE", self.refused(USAGE, "config_invalid", "list", "--db", address))

    def test_a_service_file(self):
        self.define("hits")
        services = self.write("services.conf", f"[shop]\nhost={self.server.folder}\ndbname={self.name}\nuser=postgres\n")
        with_file = environment(PGSERVICEFILE=str(self.path(services)))
        self.ok("add", "hits", "--db", "postgresql:service=shop", env=with_file)
        self.assertEqual(self.total("hits"), 1)
        said = self.refused(FAILED, "database_unavailable", "list", "--db", "postgresql:service=market", env=with_file)
        self.assertIn('of the service "market"', said)

    def test_variables_of_libpq(self):
        self.define("hits")
        variables = environment(PGHOST=str(self.server.folder), PGDATABASE=self.name, PGUSER="postgres")
        self.ok("add", "hits", "--db", "postgresql:", env=variables)
        self.assertEqual(self.total("hits"), 1)

    def test_a_database_that_cannot_hold_every_key(self):
        self.sql("DROP DATABASE IF EXISTS latin")
        self.sql("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        said = self.refused(FAILED, "not_on_this_engine", "define", "hits", "--db", self.server.address("latin"))
        self.assertIn("stores text as LATIN1", said)
        self.sql("DROP DATABASE latin")


class Passwords(Trouble):
    """No output and no log of the server holds a password."""

    def setUp(self):
        super().setUp()
        self.role = f"guarded_{self.name}"
        rules = self.server.folder / "data" / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text(f"local all {self.role} scram-sha-256\nlocal all {self.role}_md5 md5\n{before}")
        self.addCleanup(self.server.control, "reload")
        self.addCleanup(rules.write_text, before)
        self.server.control("reload")
        self.define("hits")
        admin = self.session(settings="-c log_statement=none")
        for role, method in ((self.role, "scram-sha-256"), (f"{self.role}_md5", "md5")):
            admin.run(f"SET password_encryption = '{method}'; CREATE ROLE {role} LOGIN SUPERUSER PASSWORD '{SECRET}'")
            self.addCleanup(self.sql, f"DROP ROLE {role}")
        self.addCleanup(lambda: self.assertNotIn(SECRET, self.server.log()))

    def run_program(self, *words, **how):
        answer = super().run_program(*words, **how)
        self.assertNotIn(SECRET, answer.out + answer.err)
        self.assertNotIn("wrong one", answer.out + answer.err)
        return answer

    def with_file(self, password):
        file = self.path("passwords")
        file.write_text(f"*:*:*:*:{password}\n")
        file.chmod(0o600)
        return environment(PGPASSFILE=str(file))

    def test_a_file_of_passwords(self):
        for role in (self.role, f"{self.role}_md5"):
            with self.subTest(role):
                address = self.address_of(user=role)
                self.ok("add", "hits", "--db", address, env=self.with_file(SECRET))
                said = self.refused(FAILED, "permission_denied", "add", "hits", "--db", address, env=self.with_file("wrong one"))
                self.assertIn(f'password authentication failed for user "{role}" (SQLSTATE 28P01)', said)
        self.assertEqual(self.total("hits"), 2)

    def test_none_at_all(self):
        said = self.refused(FAILED, "permission_denied", "add", "hits", "--db", self.address_of(user=self.role),
                            env=environment(HOME=str(self.folder)))
        self.assertIn("PGPASSFILE", said)
        self.assertIn("SPLITCOUNT_DB", said)

    def test_in_a_variable_or_in_the_configuration(self):
        host = str(self.server.folder).replace("/", "%2F")
        right = (f"postgresql://{self.role}:{SECRET.replace(' ', '%20')}@{host}/{self.name}",
                 self.address_of(user=self.role, password=f"'{SECRET}'"))
        for address in right:
            self.ok("add", "hits", env=environment(SPLITCOUNT_DB=address))
            self.assertNotIn(SECRET.replace(" ", "%20"), self.ok("status", env=environment(SPLITCOUNT_DB=address)))
        self.write("splitcount.toml", f'db = "{right[0]}"\n')
        self.ok("add", "hits", env=environment())
        self.assertEqual(self.total("hits"), 3)
        wrong = environment(SPLITCOUNT_DB=self.address_of(user=self.role, password="'wrong one'"))
        self.refused(FAILED, "permission_denied", "add", "hits", env=wrong)

    def test_in_the_arguments_it_is_refused(self):
        for address in (self.address_of(user=self.role, password=f"'{SECRET}'"),
                        f"postgresql://{self.role}:{SECRET}@h/{self.name}",
                        f"postgresql://h/{self.name}?password={SECRET}"):
            said = self.refused(USAGE, "config_invalid", "add", "hits", "--db", address)
            self.assertIn("SPLITCOUNT_DB", said)


class Rights(Trouble):
    def test_a_right_that_is_missing_is_named(self):
        self.define("hits", "--key", "page")
        self.sql("CREATE ROLE weak LOGIN")
        self.addCleanup(self.sql, "DROP OWNED BY weak; DROP ROLE weak")
        weak = self.address_of(user="weak")
        for grant, words, missing in (
                ("USAGE ON SCHEMA public", ("add", "hits", "K"), "table splitcount_schema"),
                ("SELECT ON splitcount_schema", ("add", "hits", "K"), "table splitcount_counters"),
                ("SELECT ON splitcount_counters", ("add", "hits", "K"), "function hits_add_one"),
                ("EXECUTE ON FUNCTION hits_add_one", ("total", "hits", "K"), "table hits_slots"),
                ("SELECT ON hits_slots, hits", ("drop", "hits", "--yes"), "hits_add")):
            self.sql(f"GRANT {grant} TO weak")
            said = self.refused(FAILED, "permission_denied", *words, "--db", weak)
            self.assertRegex(said, f"the role lacks a right .*{missing}.*SQLSTATE 42501")
        said = self.refused(FAILED, "permission_denied", "define", "more", "--db", weak)
        self.assertIn("lacks GRANT SELECT, UPDATE ON public.splitcount_schema TO weak", said)
        self.ok("add", "hits", "K", "--db", weak)
        self.assertEqual(self.total("hits", "K", "--db", weak), 1)

    def test_a_role_that_is_none(self):
        said = self.refused(FAILED, "permission_denied", "list", "--db", self.address_of(user="ghost"))
        self.assertIn('role "ghost" does not exist', said)


class Busy(Trouble):
    def test_too_many_connections(self):
        self.define("hits")
        self.sql("CREATE ROLE narrow LOGIN SUPERUSER CONNECTION LIMIT 1")
        self.sql("ALTER ROLE narrow NOSUPERUSER")
        self.addCleanup(self.sql, "DROP ROLE narrow")
        only = self.session(user="narrow")
        said = self.refused(FAILED, "database_busy", "list", "--db", self.address_of(user="narrow"))
        self.assertIn("too many connections", said)
        self.assertTrue(self.error["retryable"])
        only.close()
        held = []
        try:
            while True:
                held.append(self.session())
        except Exception:  # noqa: BLE001
            self.assertGreater(len(held), 30)
        self.refused(FAILED, "database_busy", "add", "hits")
        self.assertTrue(self.error["retryable"])
        for session in held:
            session.close()
        self.wait_until(lambda: self.run_program("total", "hits").code == DONE, "there is room again")
        self.assertEqual(self.total("hits"), 0)

    def test_what_others_have_locked(self):
        self.define("hits", "--slots", "1", "--pick", "random")
        holder = self.session()
        holder.run("BEGIN; SELECT hits_add()")
        said = self.refused(FAILED, "database_busy", "add", "hits")
        self.assertIn("SQLSTATE 55P03", said)
        self.assertTrue(self.error["retryable"])
        self.assertEqual(self.total("hits"), 0)
        self.assertEqual(self.run_program("drop", "hits", "--yes").code, FAILED)
        holder.run("COMMIT")
        self.ok("add", "hits")
        self.assertEqual(self.total("hits"), 2)

    def test_a_time_limit_of_the_servers(self):
        self.define("hits", "--slots", "1", "--pick", "random")
        holder = self.session()
        holder.run("BEGIN; SELECT hits_add()")
        self.refused(FAILED, "transaction_failed", "add", "hits", "--db", self.address_of(options="'-c statement_timeout=100'"))
        self.assertTrue(self.error["retryable"])
        holder.run("COMMIT")
        self.assertEqual(self.total("hits"), 1)


class OnlyReads(Trouble):
    WRITES = (("add", "hits", "K"), ("define", "more"), ("define", "hits", "L"), ("drop", "hits", "--yes"), ("uninstall", "--yes"))

    def assert_only_reads(self, address, warning):
        for words in self.WRITES:
            with self.subTest(words):
                said = self.refused(FAILED, "read_only", *words, "--db", address)
                self.assertRegex(said, "PostgreSQL only reads here, as a standby or by a setting: .*SQLSTATE 25006")
        self.copy_log()
        self.refused(FAILED, "read_only", "count", "access.log", "--counter", "hits", "--key", "target", "--db", address)
        self.assertEqual(self.total("hits", "K", "--db", address), 3)
        self.assertEqual(self.json("top", "hits", "--db", address)[0]["key"], "K")
        self.assertIn(warning, " ".join(self.json("status", "--db", address)["warnings"]))

    def test_a_setting(self):
        self.define("hits", "--key", "page")
        self.ok("add", "hits", "K", "--by", "3")
        self.assert_only_reads(self.address_of(options="'-c default_transaction_read_only=on'"), "default_transaction_read_only")

    def test_a_standby(self):
        self.define("hits", "--key", "page")
        with self.server.standby() as standby:
            self.ok("add", "hits", "K", "--by", "3")
            there = standby.address(self.name)
            self.wait_until(lambda: self.total("hits", "K", "--db", there) == 3, "the standby has it")
            self.assert_only_reads(there, "standby")
            session = standby.connect(self.name).cursor()
            self.assert_state("25006", session.execute, "SELECT hits_add('K')")
            session.connection.close()
            # It becomes the server: counting goes on there.
            standby.control("promote")
            self.ok("add", "hits", "K", "--db", there)
            self.assertEqual(self.total("hits", "K", "--db", there), 4)


class Durability(Trouble):
    def warnings(self, **more):
        status = self.json("status", "--db", self.address_of(**more))
        return status["durability"], " ".join(status["warnings"])

    def test_status_warns_of_what_is_set_weaker(self):
        durability, warnings = self.warnings()
        self.assertRegex(warnings, "fsync is off.*full_page_writes is off")
        self.set_up(fsync="on", full_page_writes="on")
        self.wait_until(lambda: self.warnings()[1] == "", "the settings are in force")
        durability, _ = self.warnings()
        self.assertEqual(durability, "synced commit (synchronous_commit is on)")
        durability, warnings = self.warnings(options="'-c synchronous_commit=off'")
        self.assertIn("synced later", durability)
        self.assertIn("synchronous_commit is off", warnings)
        self.sql(f"ALTER DATABASE {self.name} SET synchronous_commit = off")
        self.addCleanup(self.sql, f"ALTER DATABASE {self.name} RESET synchronous_commit")
        self.assertIn("synchronous_commit is off", self.warnings()[1])


class Interrupted(Trouble):
    """`count` while its server goes away and comes back: it ends by itself, and exactly."""

    KEYS, LINES = 2_000, 30_000

    def start_count(self, *words, **how):
        self.define("seen", "--key", "line")
        counting = subprocess.Popen([PROGRAM, "count", *words, "--counter", "seen", "--key", "line", "--json"], cwd=self.folder,
                                    env=environment(SPLITCOUNT_DB=self.address), stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, **how)
        self.addCleanup(counting.kill)
        return counting

    def lines(self):
        return "".join(f"line {n % self.KEYS}\n" for n in range(self.LINES))

    def assert_ends_well(self, counting, lines):
        out, err = counting.communicate(timeout=120)
        self.assertEqual((counting.returncode, err), (DONE, ""), out)
        self.assertEqual(self.sql("SELECT count(*), sum(total) FROM seen"), [(self.KEYS, lines)])

    def assert_goes_on(self, interrupt):
        """It reads from a pipe that stays open, so it is in the middle, and nothing ends before the server is back."""
        counting = self.start_count("-", stdin=subprocess.PIPE)
        for part in range(1, 4):
            counting.stdin.write(self.lines())
            counting.stdin.flush()
            self.wait_until(lambda: self.one("SELECT coalesce(sum(n), 0) FROM seen_slots") >= (part - 1) * self.LINES + 1,
                            "it counts")
            self.asking.close()  # the server is about to end it
            interrupt()
            counting.stdin.write(self.lines())
        self.assertIsNone(counting.poll())
        self.assert_ends_well(counting, 6 * self.LINES)

    def test_a_restart(self):
        self.assert_goes_on(lambda: (self.server.shut_down(), self.server.start_again()))

    def test_a_crash(self):
        self.assert_goes_on(lambda: (self.server.shut_down("immediate"), self.server.start_again()))

    def test_connections_that_are_ended(self):
        ended = []
        self.assert_goes_on(lambda: ended.append(self.one(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid() "
            "AND application_name = 'splitcount'", self.name)))
        self.assertGreater(sum(ended), 0)

    def test_a_server_that_is_away_for_a_while_at_any_moment(self):
        numbers = random_numbers(self.id())
        self.write("lines.txt", self.lines() * 40)  # so that it is not done before it was seen
        for _ in range(2):
            counting = self.start_count("lines.txt")
            self.wait_until(lambda: self.one("SELECT count(*) FROM seen_slots") > 0, "it counts")
            self.asking.close()
            time.sleep(numbers.uniform(0, 0.3))
            self.server.shut_down()
            time.sleep(1)
            self.server.start_again()
            self.assert_ends_well(counting, 40 * self.LINES)
            self.run_checked("drop", "seen", "--yes")


class FromEndToEnd(Trouble):
    def test_run_counts_the_example_into_postgresql(self):
        if Path(PROGRAM) != SOURCE / "build" / "release" / "splitcount":
            self.assertNotEqual(os.environ.get("CI"), "true", "./run builds and runs build/release, and this is another")
            self.skipTest("./run builds and runs build/release")
        done = subprocess.run([SOURCE / "run", "--db", self.address, "count", SOURCE / "examples" / "access.log", "--key", "target"],
                              cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, DONE, done.stderr)
        self.assertEqual(self.one("SELECT sum(total) FROM page_views"), LOG_LINES)


if __name__ == "__main__":
    unittest.main()
