"""Counters whose objects somebody has removed, or that a search_path does not show: what is said is true and leads on."""
import re
import subprocess
import unittest

from database import Case, setUpModule  # noqa: F401
from support import DONE, FAILED, PARTIAL, PROGRAM, USAGE, environment


class SearchPath(Case):
    def setUp(self):
        super().setUp()
        self.sql("CREATE SCHEMA other; CREATE SCHEMA evil")
        self.addCleanup(self.sql, "DROP SCHEMA IF EXISTS other, evil CASCADE")
        self.run_checked("define", "hits")
        self.run_checked("add", "hits", "--by", "4")

    def on_path(self, path):
        return {"env": environment(SPLITCOUNT_DB=self.address, PGOPTIONS=f"-c search_path={path}")}

    def test_one_that_shows_no_counters_says_where_they_are_and_makes_no_second_ones(self):
        for words in (("add", "hits"), ("total", "hits"), ("list",), ("status",), ("define", "hits"), ("define", "more"),
                      ("drop", "hits", "--yes"), ("maintain",), ("uninstall", "--yes")):
            with self.subTest(words):
                said = self.refused(FAILED, "not_installed", *words, **self.on_path("other"))
                self.assertIn("the search_path shows no counters, but the schema public has some", said)
        self.assertEqual(self.sql("SELECT relname FROM pg_class WHERE relnamespace = 'other'::regnamespace"), [])
        self.assertEqual(self.total("hits"), 4)

    def test_a_second_place_is_made_by_the_script_on_purpose(self):
        script = self.run_checked("sql", "define", "hits", "--dialect", "postgresql")
        self.sql(script.replace("public.", "other."))
        self.assertEqual(self.run_program("add", "hits", **self.on_path("other")).code, DONE)
        self.assertEqual(self.run_program("define", "more", **self.on_path("other")).code, DONE)
        self.assertEqual(self.sql("SELECT total FROM other.hits"), [(1,)])
        self.assertEqual(self.total("hits"), 4)

    def test_a_role_that_cannot_see_the_others_has_its_own(self):
        role = f"tenant_{self.name}"
        self.sql(f"CREATE ROLE {role} LOGIN; CREATE SCHEMA {role} AUTHORIZATION {role}")
        self.addCleanup(self.sql, f"DROP OWNED BY {role} CASCADE; DROP ROLE {role}")
        its = self.server.address(self.name, user=role, options=f"'-c search_path={role}'")
        answer = self.run_program("define", "hits", "--db", its)
        self.assertEqual(answer.code, DONE, answer)
        self.assertEqual(self.one(f"SELECT total FROM {role}.hits"), 0)

    def test_a_table_of_our_name_in_front_is_passed_by(self):
        self.sql("CREATE TABLE evil.splitcount_schema(version integer)")
        answer = self.run_program("add", "hits", **self.on_path("evil,public"))
        self.assertEqual(answer.code, DONE, answer)
        self.assertEqual(self.total("hits"), 5)


class Removed(Case):
    def lost(self, code, *words, names):
        said = self.refused(code, "database_corrupt", *words)
        for name in names:
            self.assertIn(name, said)
        self.assertIn("drop the counter and define it anew", said)

    def test_slots_that_have_gone_are_made_again(self):
        self.define("wins", "--slots", "4", "--pick", "session", "--missing", "error")
        for removal, lost in (("TRUNCATE wins_slots", 4), ("DELETE FROM wins_slots WHERE slot = 1", 1)):
            self.run_checked("add", "wins", "--slot", "2")
            self.sql(removal)
            if lost == 4:
                self.assertIn("define it again", self.refused(FAILED, "key_missing", "total", "wins"))
            self.assertIn("define has to create it", self.refused(FAILED, "slot_missing", "add", "wins", "--slot", "1"))
            self.assertEqual(self.json("define", "wins")["slots_restored"], lost)
            self.run_checked("add", "wins", "--slot", "1")
            self.assertIn("unchanged", self.run_checked("define", "wins"))
        self.assertEqual(self.total("wins"), 2)  # a restored slot begins at 0; the others were kept
        self.sql("TRUNCATE wins_slots")
        self.assertIn("had lost 4 slots; they are created again and begin at 0", self.run_checked("define", "wins"))

    def test_an_object_that_has_gone_is_named_by_every_verb(self):
        for kind, missing in (("FUNCTION", "hits_add_one"), ("TABLE", "hits_slots"), ("FUNCTION", "hits_add_many")):
            with self.subTest(missing):
                self.define("hits", "--key", "page")
                self.sql(f"DROP {kind} {missing} CASCADE")
                self.lost(FAILED, "define", "hits", names=[missing])
                if missing != "hits_add_many":
                    self.lost(FAILED, "add", "hits", "K", names=[missing])
                if kind == "TABLE":
                    for words in (("total", "hits", "K"), ("total", "hits"), ("top", "hits"), ("slots", "hits", "K"), ("describe", "hits")):
                        self.lost(FAILED, *words, names=[missing])
                self.assertIn(missing, " ".join(self.json("status")["warnings"]))
                self.run_checked("drop", "hits", "--yes")
        self.define("hits", "--key", "page")
        self.run_checked("add", "hits", "K")

    def test_maintain_names_what_it_cannot_do(self):
        self.define("waits", "--layout", "journal")
        self.define("keeps", "--retries", "once:1h")
        self.define("hits")
        self.sql("DROP FUNCTION waits_fold, keeps_purge")
        self.lost(FAILED, "maintain", "waits", names=["waits_fold"])
        answer = self.run_program("maintain")
        self.assertEqual(answer.code, PARTIAL, answer)
        self.assertIn("waits_fold has gone", answer.err)
        self.assertIn("keeps_purge has gone", answer.err)
        self.sql("DROP TABLE waits_deltas CASCADE")
        warnings = " ".join(self.json("status")["warnings"])
        self.assertIn("waits_deltas", warnings)
        self.assertNotIn("may not read", warnings)

    def test_a_counter_that_is_dropped_while_lines_are_counted_into_it(self):
        self.write("lines", "".join(f"line {i % 977} {i}\n" for i in range(1_500_000)))
        counting = subprocess.Popen([PROGRAM, "count", "lines", "--counter", "cc", "--key", "line"], cwd=self.folder,
                                    env=environment(SPLITCOUNT_DB=self.address), text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        self.wait_until(lambda: self.run_program("total", "cc").out.split(": ")[-1][0:1] not in ("", "0"), "some lines are counted")
        while (dropped := self.run_program("drop", "cc", "--yes")).code != DONE:  # a group that takes long keeps its tables
            self.assertIn("others held a lock for longer", dropped.err)
        out, err = counting.communicate(timeout=120)
        self.assertEqual(counting.returncode, FAILED, err)
        self.assertIn("cc was dropped meanwhile, and what was counted into it has gone with it", err)
        self.assertNotIn("another run", out + err)


class Words(Case):
    def test_the_use_that_describe_gives_is_not_refused(self):
        for number, options in enumerate((("--pick", "value"), ("--retries", "once"), ("--key", "page"), (),
                                          ("--key", "page", "--retries", "once:1h", "--pick", "request"),
                                          ("--key", "page", "--layout", "journal", "--pick", "value"))):
            with self.subTest(options):
                name = f"hits{number}"
                self.define(name, *options)
                description = self.json("describe", name)
                use = description["use"][0].split(": ", 1)[1]
                self.assertEqual(self.sql(use), [(True,)])
                self.assertEqual(self.total(name), 1)
                there = self.sql("""SELECT relname::text FROM pg_class WHERE relkind IN ('r', 'v') AND relname LIKE %s
                                    UNION SELECT proname::text FROM pg_proc WHERE proname LIKE %s ORDER BY 1""",
                                 f"{name}%", f"{name}%")
                self.assertEqual(sorted(description["objects"]), sorted(name for name, in there))

    def test_a_second_owner_is_told_what_it_lacks_before_the_first_add(self):
        self.define("hits")
        bob = f"bob_{self.name}"
        self.sql(f"CREATE ROLE {bob} LOGIN; GRANT CREATE ON SCHEMA public TO {bob}; GRANT SELECT, UPDATE ON splitcount_schema TO {bob}; "
                 f"GRANT SELECT, INSERT ON splitcount_counters TO {bob}")
        self.addCleanup(self.sql, f"DROP OWNED BY {bob} CASCADE; DROP ROLE {bob}")
        address = self.server.address(self.name, user=bob)
        for _ in range(3):
            said = self.refused(FAILED, "permission_denied", "define", "wins", "--db", address)
            grant, role = re.search(r"which lacks GRANT (.*) TO (\w+);", said).groups()
            self.assertEqual(role, bob)
            self.sql(f"GRANT {grant} TO {bob}")
        for words in (("define", "wins"), ("add", "wins"), ("drop", "wins", "--yes")):
            self.assertEqual(self.run_program(*words, "--db", address).code, DONE, words)

    def test_a_script_is_refused_where_the_database_cannot_hold_every_key(self):
        self.sql("CREATE DATABASE latin_1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        self.addCleanup(self.sql, "DROP DATABASE latin_1")
        self.refused(FAILED, "not_on_this_engine", "define", "hits", "--db", self.server.address("latin_1"))
        self.refused(USAGE, "rule_invalid", "define", "hits", "--slots", "0", "--db", self.server.address("latin_1"))
        session = self.server.connect("latin_1")
        self.addCleanup(session.close)
        script = self.run_checked("sql", "define", "hits", "--dialect", "postgresql")
        error = self.assert_state("0A000", session.cursor().execute, script)
        self.assertIn("stores text as LATIN1", str(error))


if __name__ == "__main__":
    unittest.main()
