"""A role that may create in a schema of the search_path lays traps there: operators and functions that fit what our statements
ask for better than PostgreSQL's own. None of them is ever called, by whatever door."""
import re
import unittest

from database import Case, setUpModule  # noqa: F401
from support import LOG, SOURCE

TYPES = ["smallint", "integer", "bigint", "numeric", "double precision", "text", "varchar", "name", "interval", "timestamptz",
         "timestamp", "boolean", "oid", "bytea", "regclass", "tid"]
OPERATORS = ["=", "<>", "<", ">", "<=", ">=", "+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>", "#", "~"]
CASTS = {"timestamptz": "timestamp with time zone", "timestamp": "timestamp without time zone", "varchar": "character varying"}


class TrapsTest(Case):
    def lay_operators(self):
        """One for each pair of types for which PostgreSQL has none of that name."""
        self.sql("CREATE FUNCTION public.caught() RETURNS void LANGUAGE plpgsql AS "
                 "$$ BEGIN RAISE EXCEPTION 'caught by a trap'; END $$")
        pairs = [(left, right) for left in TYPES for right in TYPES]
        for number, (left, right) in enumerate(pairs):
            self.sql(f"CREATE FUNCTION public.trap_{number}({left}, {right}) RETURNS {left} LANGUAGE plpgsql AS "
                     "$$ BEGIN PERFORM public.caught(); RETURN $1; END $$")
        laid = self.one(f"""
            DO $do$ DECLARE o text; n int := 0; l text; r text; BEGIN
              FOREACH o IN ARRAY ARRAY{OPERATORS} LOOP
                n := 0;
                FOREACH l IN ARRAY ARRAY{TYPES} LOOP FOREACH r IN ARRAY ARRAY{TYPES} LOOP
                  IF NOT EXISTS (SELECT FROM pg_operator WHERE oprname = o AND oprleft = l::regtype AND oprright = r::regtype
                                 AND oprnamespace = 'pg_catalog'::regnamespace) THEN
                    EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.trap_%s, LEFTARG = %s, RIGHTARG = %s)', o, n, l, r);
                  END IF;
                  n := n + 1;
                END LOOP; END LOOP;
              END LOOP;
            END $do$; SELECT count(*) FROM pg_operator WHERE oprnamespace = 'public'::regnamespace""")
        self.assertGreater(laid, 2_000)

    def lay_functions(self):
        """Of one argument, for each function that our SQL names, and each type for which PostgreSQL has none."""
        text = "".join(path.read_text() for path in (SOURCE / "sql" / "postgresql").glob("*.sql"))
        names = set(re.findall(r"\b([a-z_]+)\(", text))
        known = {name for (name,) in self.sql("SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace")}
        for name in sorted(names & known):
            for kind in TYPES:
                if self.one("SELECT EXISTS (SELECT FROM pg_proc WHERE proname = %s AND pronamespace = 'pg_catalog'::regnamespace "
                            "AND pronargs = 1 AND proargtypes[0] = %s::regtype)", name, kind):
                    continue
                self.sql(f'CREATE FUNCTION public."{name}"({kind}) RETURNS {kind} LANGUAGE plpgsql AS '
                         "$$ BEGIN PERFORM public.caught(); RETURN $1; END $$")
        self.assertGreater(self.one("SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace"), 500)

    def test_the_traps_spring(self):
        self.lay_operators()
        self.assertIn("caught by a trap", str(self.assert_state("P0001", self.session().run, "SELECT 1::numeric * 2::integer")))

    def test_none_is_called_by_any_verb(self):
        self.lay_operators()
        self.lay_functions()
        counters = {"plain": [], "pages": ["--key", "page"], "ids": ["--retries", "once:1h"], "valued": ["--pick", "value", "--slots", "11"],
                    "drawn": ["--pick", "random"], "asked": ["--pick", "request", "--retries", "once"],
                    "wide": ["--layout", "padded"], "appended": ["--key", "page", "--layout", "journal", "--retries", "once"]}
        for counter, options in counters.items():
            self.run_checked("define", counter, *options)
            keyed = "--key" in options
            words = ["/"] if keyed else []
            value = ["--value", "17"] if counter == "valued" else []
            once = ["--request-id", "7f3a"] if "--retries" in options else []
            for _ in range(2):
                self.run_checked("add", counter, *words, *value, *once)
            self.run_checked("total", counter, *words)
            self.run_checked("slots", counter, *words)
            self.run_checked("describe", counter)
            if keyed:
                self.run_checked("top", counter)
                self.run_checked("define", counter, *options, "/a", "/b")
            arguments = ["'/'"] if keyed else []
            arguments += ["value => 4711"] if value else []
            arguments += ["request_id => 'sql'"] if once else []
            for _ in range(2):
                self.sql(f"SELECT {counter}_add({', '.join(arguments)})")
            self.sql(f"SELECT * FROM {counter}")
            self.sql(f"SELECT {counter}_total({arguments[0] if keyed else ''})")
        for words in (["list"], ["status"], ["maintain"], ["count", str(LOG), "--counter", "log"], ["count", str(LOG), "--counter", "log"],
                      ["compare", "--sessions", "1", "--seconds", "1", "--rounds", "1", "--designs", "session,journal_folded"],
                      ["drop", "log", "--yes"], ["uninstall", "--yes"]):
            self.run_checked(*words)


if __name__ == "__main__":
    unittest.main()
