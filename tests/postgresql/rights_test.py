"""Rights: an owner that may create in one schema and nothing else, and a role that may count and read and nothing else,
whatever it puts into its own search_path and into pg_temp."""
import re
import subprocess
import unittest

import psycopg2

from database import Case, setUpModule  # noqa: F401
from server import DEBIAN_BIN
from support import environment

DENIED = "42501"

OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "||", "&", "#")
OPERAND_TYPES = ("bigint", "integer", "smallint", "text", "timestamptz")


class Rights(Case):
    """The role `keeper` owns the counters, `app` counts."""

    def setUp(self):
        super().setUp()
        roles = {"keeper": f"keeper_{self.name}", "app": f"app_{self.name}"}
        self.keeper, self.app = roles["keeper"], roles["app"]
        for role in roles.values():
            self.sql(f"CREATE ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT")
        self.addCleanup(self.drop_roles)
        self.sql(f"REVOKE CREATE ON DATABASE {self.name} FROM PUBLIC; GRANT CREATE ON SCHEMA public TO {self.keeper}")
        self.address = self.server.address(self.name, user=self.keeper)

    def drop_roles(self):
        for role in (self.app, self.keeper):
            self.sql(f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")

    def grant(self, *grants):
        for grant in grants:
            self.sql(f"GRANT {grant} TO {self.app}")

    def as_app(self, **how):
        return self.session(user=self.app, **how)


class Owner(Rights):
    def test_an_owner_needs_no_more_than_a_schema_to_create_in(self):
        self.define("hits", "--key", "page", "--retries", "once:24h", "--layout", "padded")
        self.run_checked("add", "hits", "K", "--request-id", "X")
        self.assertEqual(self.total("hits", "K"), 1)
        owners = self.sql("SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relnamespace = 'public'::regnamespace "
                          "UNION SELECT proowner::regrole::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace")
        self.assertEqual(owners, [(self.keeper,)])
        self.run_checked("drop", "hits", "--yes")
        self.run_checked("uninstall", "--yes")

    def test_every_function_has_a_search_path_of_its_own_and_none_is_for_everybody(self):
        self.define("hits", "--key", "page", "--retries", "once")
        self.define("wins")
        functions = self.sql("""SELECT oid::regprocedure::text, prosecdef, proconfig,
                                  has_function_privilege('public', oid, 'EXECUTE')
                                FROM pg_proc WHERE pronamespace = 'public'::regnamespace""")
        self.assertGreater(len(functions), 8)
        for name, is_definer, settings, is_public in functions:
            with self.subTest(name):
                self.assertIn("search_path=pg_catalog, pg_temp", settings)
                self.assertFalse(is_public)
                self.assertEqual(is_definer, not name.startswith("splitcount_"))

    def test_the_printed_script_makes_revokes_and_grants_in_one_transaction(self):
        script = self.run_checked("sql", "define", "hits", "--key", "page", "--dialect", "postgresql")
        grants = re.findall(r"^--\s+(GRANT .*;)$", script, re.M)
        self.assertEqual(len(grants), 3)
        script += "\n" + "\n".join(grant.replace("TO app;", f"TO {self.app};") for grant in grants)
        watcher = self.session()
        looking = "SELECT count(*) FROM pg_proc WHERE proname IN ('hits_add', 'hits_add_many', 'splitcount_session')"

        def run(text):
            return subprocess.run([DEBIAN_BIN / "psql", "--single-transaction", "--no-psqlrc", "--quiet", "--set",
                                   "ON_ERROR_STOP=1", self.server.conninfo(self.name, user=self.keeper)], input=text,
                                  text=True, capture_output=True, env=environment(), check=False)

        failed = run(script + "\nSELECT 1 / 0;")
        self.assertNotEqual(failed.returncode, 0)
        self.assertEqual(watcher.value(looking), 0)  # half a script leaves nothing
        done = run(script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(watcher.value(looking), 3)
        app = self.as_app()
        self.assertTrue(app.value("SELECT hits_add('/home')"))
        self.assertEqual(app.rows("SELECT * FROM hits"), [("/home", 1)])


class Application(Rights):
    def setUp(self):
        super().setUp()
        self.define("hits", "--key", "page", "--retries", "once")
        self.define("wins")
        # The words of docs/postgresql.md.
        self.grant("USAGE ON SCHEMA public", "EXECUTE ON FUNCTION hits_add", "SELECT ON hits")

    def test_it_counts_and_reads(self):
        app = self.as_app()
        app.run("BEGIN; SELECT hits_add('/home'); SELECT hits_add('/home', 3, 'X'); COMMIT")
        self.assertFalse(app.value("SELECT hits_add('/home', 3, 'X')"))
        self.assertEqual(app.rows("SELECT * FROM hits"), [("/home", 4)])
        self.assert_state("SC017", app.run, "SELECT hits_add('/home', 4, 'X')")
        self.assert_state("SC004", app.run, "SELECT hits_add('')")

    def test_it_can_do_nothing_else(self):
        app = self.as_app()
        tables = ("hits_slots", "hits_requests", "wins_slots", "splitcount_counters", "splitcount_schema",
                  "splitcount_streams")
        tries = [f"SELECT 1 FROM {table}" for table in tables]
        tries += [f"{verb} {table}" for table in tables for verb in ("DELETE FROM", "TRUNCATE", "DROP TABLE")]
        tries += [f"BEGIN; LOCK {table}" for table in tables]
        tries += ["UPDATE hits_slots SET n = 5", "INSERT INTO hits_slots VALUES ('K', 0, 5)", "SELECT * FROM wins",
                  "UPDATE splitcount_counters SET slots = 1", "DROP VIEW hits",
                  "SELECT wins_add()", "SELECT hits_add_many(ARRAY['K'], ARRAY[1])", "SELECT hits_total('K')",
                  "SELECT public.splitcount_session()", "SELECT public.splitcount_draw()",
                  "SELECT public.splitcount_refuse('x: y')", "SELECT public.splitcount_request_hash('x')",
                  "CREATE TABLE public.mine()", "CREATE FUNCTION public.hits_add(text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
                  "CREATE OR REPLACE FUNCTION public.splitcount_session() RETURNS integer LANGUAGE sql AS 'SELECT 1'",
                  "DROP FUNCTION hits_add", "ALTER FUNCTION hits_add RESET search_path", "CREATE SCHEMA mine",
                  "ALTER FUNCTION hits_add SECURITY INVOKER", f"SET ROLE {self.keeper}",
                  "GRANT EXECUTE ON FUNCTION hits_add TO PUBLIC"]
        before = self.sql("SELECT * FROM hits_slots")
        for text in tries:
            with self.subTest(text):
                if text.startswith("GRANT"):  # that is a warning, and does nothing
                    app.run(text)
                else:
                    self.assert_state(DENIED, app.run, text)
                app.run("ROLLBACK")
        self.assertEqual(self.sql("SELECT * FROM hits_slots"), before)
        self.assertFalse(self.one("SELECT has_function_privilege('public', 'hits_add(text,bigint,text,bigint,integer)', 'EXECUTE')"))

    def test_settings_that_it_changes_lose_no_add(self):
        self.define("made", "--slots", "4", "--pick", "session", "--missing", "create")
        self.define("drawn", "--slots", "4", "--pick", "random")
        self.grant("EXECUTE ON FUNCTION made_add, drawn_add")
        app, counted = self.as_app(), {"made": 0, "drawn": 0}
        for value in ("3", "1023", "2147483647", "-1", "-2147483648", "", "x", "99999999999999999999"):
            for counter in counted:
                app.run(f"BEGIN; SET splitcount.session = '{value}'; SET splitcount.draw = '{value}'")
                try:
                    app.run(f"SELECT {counter}_add(); COMMIT")
                    counted[counter] += 1
                except psycopg2.Error:
                    app.run("ROLLBACK")
        for counter, count in counted.items():
            self.assertGreater(count, 3)
            self.assertEqual(self.one(f"SELECT total FROM {counter}"), count)
            self.assertEqual(self.one(f"SELECT count(*) FROM {counter}_slots WHERE slot NOT BETWEEN 0 AND 3"), 0)

    def test_somebody_without_rights_cannot_count(self):
        self.sql(f"REVOKE ALL ON FUNCTION hits_add FROM {self.app}")
        self.assert_state(DENIED, self.as_app().run, "SELECT hits_add('K')")

    def test_the_library_needs_what_the_docs_say(self):
        self.address = self.server.address(self.name, user=self.app)
        refused = self.run_program("add", "hits", "K")
        self.assertIn("permission denied", refused.err)
        self.grant("SELECT ON splitcount_schema, splitcount_counters, hits_slots", "EXECUTE ON FUNCTION hits_add_one",
                   "EXECUTE ON FUNCTION hits_add_many")
        self.run_checked("add", "hits", "K")
        self.assertEqual(self.total("hits", "K"), 1)
        self.write("lines.txt", "a\nb\na\n")
        self.refused(1, "permission_denied", "count", "lines.txt", "--counter", "hits", "--key", "line")
        self.grant("SELECT, INSERT, UPDATE, DELETE ON splitcount_streams")
        self.run_checked("count", "lines.txt", "--counter", "hits", "--key", "line")
        self.assertEqual(self.total("hits"), 4)


class Shadows(Rights):
    """The application has a schema of its own in front of everything, with operators, functions and tables named like
    those that our functions use; each of them would be noticed when it is used."""

    def shadow(self, app, schema):
        app.run(f"CREATE FUNCTION {schema}.trap() RETURNS boolean LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'a shadow was used by %', current_user USING ERRCODE = 'TRAP1'; END $$")
        called = set(re.findall(r"\b([a-z_0-9]+)\(", self.one(
            "SELECT string_agg(prosrc, ' ') FROM pg_proc WHERE pronamespace = 'public'::regnamespace")))
        functions = self.sql("""SELECT DISTINCT proname, pg_get_function_identity_arguments(oid), proretset, prorettype::regtype
                                FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname = ANY(%s)
                                AND prokind = 'f' AND NOT 'internal'::regtype = ANY(proargtypes)
                                AND NOT 2281 = ANY(proargtypes) AND prorettype::regtype::text NOT LIKE 'any%%'""", list(called))
        self.assertGreater(len(functions), 10)
        for name, arguments, is_set, answer in functions:
            if "VARIADIC" in arguments or "any" in arguments:
                continue
            kind = f"SETOF {answer}" if is_set else answer
            app.run(f"CREATE FUNCTION {schema}.{name}({arguments}) RETURNS {kind} LANGUAGE plpgsql AS "
                    f"$$ BEGIN PERFORM {schema}.trap(); RETURN{'' if is_set else ' NULL'}; END $$")
        if schema == "pg_temp":
            return
        for operand in OPERAND_TYPES:
            app.run(f"CREATE FUNCTION {schema}.trap_operator({operand}, {operand}) RETURNS boolean LANGUAGE plpgsql AS "
                    f"$$ BEGIN RETURN {schema}.trap(); END $$")
            for operator in OPERATORS:
                app.run(f"CREATE OPERATOR {schema}.{operator} (FUNCTION = {schema}.trap_operator, "
                        f"LEFTARG = {operand}, RIGHTARG = {operand})")

    def shadow_tables(self, app, schema):
        app.run(f"CREATE TABLE {schema}.hits_slots(page text, slot smallint, n bigint)")
        app.run(f"CREATE TABLE {schema}.hits_requests(request_id text, page text, amount bigint, slot smallint, counted timestamptz)")
        app.run(f"CREATE TABLE {schema}.splitcount_counters(name text, version bigint, created_at timestamptz)")
        for table in ("pg_locks", "pg_database"):
            app.run(f"CREATE TABLE {schema}.{table}(pid integer)")

    def test_neither_the_search_path_nor_temporary_objects_lead_a_function_astray(self):
        self.define("hits", "--key", "page", "--retries", "once:1h")
        self.define("drawn", "--pick", "random", "--key", "page")
        self.define("hashed", "--pick", "request", "--retries", "once")
        self.sql(f"CREATE SCHEMA mine AUTHORIZATION {self.app}")
        self.addCleanup(self.sql, "DROP SCHEMA IF EXISTS mine CASCADE")
        self.grant("USAGE ON SCHEMA public", "EXECUTE ON ALL FUNCTIONS IN SCHEMA public", "SELECT ON hits, drawn, hashed",
                   f"TEMPORARY ON DATABASE {self.name}")
        app = self.as_app()
        for schema in ("mine", "pg_temp"):
            self.shadow(app, schema)
            self.shadow_tables(app, schema)
        app.run("SET search_path = mine, pg_temp, public, pg_catalog")
        self.assert_state("TRAP1", app.run, "SELECT 1::bigint + 1::bigint")  # the traps are set
        self.assert_state("TRAP1", app.run, "SELECT octet_length('x'::text)")
        for number in (1, 2):
            app.run(f"SELECT public.hits_add('K', {number}, 'id {number}')")
            app.run("SELECT public.hits_add('K')")
            app.run("SELECT public.drawn_add('K')")
            app.run(f"SELECT public.hashed_add(request_id => '{number}')")
            app.run("SELECT public.hits_add_many('{K,L}', '{1,2}', '{x" + str(number) + ",NULL}')")
            app.run("SELECT public.drawn_add_many('{K,L}', '{1,2}')")
            app.run("SELECT public.hits_total('K'), public.drawn_total('K'), public.hashed_total()")
        self.assert_state("SC004", app.run, "SELECT public.hits_add('')")
        self.assertEqual(sorted(app.rows("SELECT page, total FROM public.hits")), [("K", 7), ("L", 4)])
        self.assertEqual(self.sql("SELECT total FROM hits ORDER BY page"), [(7,), (4,)])
        self.assertEqual(self.sql("SELECT page, total FROM drawn ORDER BY page"), [("K", 4), ("L", 4)])
        self.assertEqual(self.one("SELECT total FROM hashed"), 2)
        for schema in ("mine", "pg_temp"):
            self.assertEqual(app.rows(f"SELECT page FROM {schema}.hits_slots"), [])


if __name__ == "__main__":
    unittest.main()
