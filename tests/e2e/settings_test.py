"""Which database is meant, and what becomes of passwords."""
import unittest

from support import DONE, USAGE, Case, environment


class Precedence(Case):
    def test_flag_beats_variable_beats_file_beats_default(self):
        self.ok("define", "hits")
        self.assertEqual(self.files(), ["splitcount.db"])
        self.write("splitcount.toml", 'db = "file.db"\n')
        self.ok("define", "hits")
        self.assertIn("file.db", self.files())
        variable = environment(SPLITCOUNT_DB="variable.db")
        self.ok("define", "hits", env=variable)
        self.assertIn("variable.db", self.files())
        self.ok("define", "hits", "--db", "flag.db", env=variable)
        self.ok("--db=flag.db", "add", "hits", env=variable)
        self.assertEqual([name for name in self.files() if name.endswith(".db")],
                         ["file.db", "flag.db", "splitcount.db", "variable.db"])
        self.assertEqual(self.total("hits", "--db", "flag.db"), 1)
        self.assertEqual(self.total("hits", "--db", "sqlite:flag.db"), 1)
        self.assertEqual(self.total("hits", env=variable), 0)

    def test_global_options_stand_before_or_after_the_verb(self):
        self.ok("define", "hits", "--db", "a.db")
        before = self.ok("--json", "--db", "a.db", "list")
        self.assertEqual(before, self.ok("list", "--db", "a.db", "--json"))
        self.assertEqual(before, self.ok("--json", "list", "--db=a.db"))

    def test_an_empty_variable_says_nothing(self):
        self.ok("define", "hits", env=environment(SPLITCOUNT_DB=""))
        self.assertEqual(self.files(), ["splitcount.db"])

    def test_after_two_dashes_json_is_a_key(self):
        self.ok("define", "k", "--key", "page")
        self.assertEqual(self.ok("add", "k", "--", "--json"), "k --json: +1 in slot 0\n")


class Configuration(Case):
    def test_what_cannot_be_read_is_refused_with_its_line(self):
        for line, text in ((1, "db ="), (2, '\nbd = "x.db"'), (1, "db = 5"), (3, '# a\n# b\nport = 1\ndb = "x.db"'),
                           (1, '[database]\ndb = "x.db"')):
            with self.subTest(text):
                self.write("splitcount.toml", text)
                self.assertIn(f"splitcount.toml line {line}:", self.refused(USAGE, "config_invalid", "list"))
        self.write("splitcount.toml", b'db = "\xff"')
        self.refused(USAGE, "config_invalid", "list")

    def test_an_empty_file_says_nothing(self):
        self.write("splitcount.toml", "# nothing\n")
        self.ok("define", "hits")
        self.assertIn("splitcount.db", self.files())


class Passwords(Case):
    SECRET = "hunter2"

    def assert_silent(self, answer):
        self.assertNotEqual(answer.code, DONE)
        self.assertNotIn(self.SECRET, answer.out + answer.err)

    def test_a_password_in_the_arguments_is_refused_with_the_right_ways(self):
        for dsn in (f"postgresql://u:{self.SECRET}@h/d", f"mysql://u:a/{self.SECRET}@h/d", f"odbc:DSN=x;PWD={self.SECRET}",
                    f"postgresql://h/d?user=u&password={self.SECRET}"):
            for words in (("list", "--db", dsn), (f"--db={dsn}", "list"), ("count", "x.log", "--db", dsn)):
                message = self.refused(USAGE, "config_invalid", *words)
                self.assertIn("SPLITCOUNT_DB", message)
                self.assertIn("splitcount.toml", message)
                self.assert_silent(self.run_program(*words))

    def test_a_password_is_never_printed_wherever_it_comes_from(self):
        dsn = f"postgresql://u:{self.SECRET}@h/d"
        for words in (("list",), ("status", "--json"), ("define", "hits"), ("uninstall", "--yes")):
            self.assert_silent(self.run_program(*words, env=environment(SPLITCOUNT_DB=dsn)))
        for text in (f'db = "{dsn}"', f"db = {dsn}", f'pass = "{self.SECRET}"', f'db = "x"\n"{self.SECRET}'):
            self.write("splitcount.toml", text)
            self.assert_silent(self.run_program("list"))


if __name__ == "__main__":
    unittest.main()
