"""Bad input gets one clear sentence and changes nothing: no file comes into being, and no row moves."""
import unittest

from support import FAILED, USAGE, Case

READING_VERBS = [("list",), ("describe", "hits"), ("add", "hits"), ("total", "hits"), ("slots", "hits"), ("top", "hits"),
                 ("status",), ("drop", "hits", "--yes")]


class WithoutADatabase(Case):
    """All of it is seen without opening a database: exit 2, and there is no file afterwards."""

    def refused_before_anything(self, code, *words):
        message = self.refused(USAGE, code, *words)
        self.assertEqual(self.files(), [])
        return message

    def test_no_such_verb_or_option(self):
        self.assertIn("did you mean add", self.refused_before_anything("invalid_argument", "ad", "hits"))
        self.assertIn("splitcount --help", self.refused_before_anything("invalid_argument", "xyzzy"))
        self.assertIn("did you mean --slots", self.refused_before_anything("invalid_argument", "define", "hits", "--slot", "3"))
        self.assertIn("did you mean --request-id",
                      self.refused_before_anything("invalid_argument", "add", "hits", "--requestid", "3"))
        self.refused_before_anything("invalid_argument", "--nonsense", "list")

    def test_words_that_are_missing_or_too_many(self):
        for verb in ("define", "describe", "add", "total", "slots", "top", "count", "sql", "drop"):
            self.assertIn("missing", self.refused_before_anything("invalid_argument", verb))
        for words in (("add", "hits", "a", "b"), ("list", "hits"), ("slots", "hits", "a", "b"), ("top", "hits", "5"),
                      ("describe", "hits", "x"), ("status", "x"), ("sql", "define"), ("sql", "alter", "hits"),
                      ("uninstall", "hits", "--yes")):
            with self.subTest(words):
                self.refused_before_anything("invalid_argument", *words)

    def test_options_without_a_value_with_an_unwanted_one_or_twice(self):
        for words in (("add", "hits", "--by"), ("add", "hits", "--by", "1", "--by", "2"), ("count", "x.log", "--again=1"),
                      ("list", "--json=false"), ("--db", "a.db", "list", "--db", "b.db"), ("--db",)):
            with self.subTest(words):
                self.refused_before_anything("invalid_argument", *words)

    def test_amounts_are_a_minus_and_digits_within_sixty_four_bits(self):
        for amount in ("1.5", "1e3", "", " 5", "5 ", "+5", "05", "-0", "--5", "0x10", "9223372036854775808",
                       "-9223372036854775809", "99999999999999999999", "five", "٣", "1,000", "[1]", "{}"):
            with self.subTest(amount):
                self.refused_before_anything("amount_invalid", "add", "hits", "--by", amount)
                self.refused_before_anything("amount_invalid", "add", "hits", f"--by={amount}")

    def test_values_and_slots(self):
        for value in ("1.5", "", "010", "9223372036854775808", "x"):
            with self.subTest(value):
                self.refused_before_anything("value_invalid", "add", "hits", "--value", value)
        for slot in ("-1", "1024", "9223372036854775808"):
            self.refused_before_anything("slot_missing", "add", "hits", "--slot", slot)
        for slot in ("four", "", "1.0"):
            self.refused_before_anything("invalid_argument", "add", "hits", "--slot", slot)

    def test_keys_and_request_ids(self):
        bad = ["", "x" * 769, "é" * 385, b"\xff", b"a\xc3", b"\xc0\xaf", b"\xed\xa0\x80"]
        for key in bad:
            for verb in ("add", "total", "slots", "define"):
                with self.subTest((verb, key)):
                    self.refused_before_anything("key_invalid", verb, "hits", key)
            self.refused_before_anything("key_invalid", "total", "hits", "good", key)
        for request_id in ("", "x" * 129, b"\xff"):
            self.refused_before_anything("request_id_invalid", "add", "hits", "--request-id", request_id)

    def test_a_bad_key_cannot_break_the_line_or_the_terminal(self):
        self.refused_before_anything("key_invalid", "add", "hits", b"\x1b[2J\n\xff")

    def test_names(self):
        names = ["", "Hits", "HITS", "hits'", 'hits"', "hits;", "a b", "1hits", "_hits", "hits-2", "h" * 41, "h" * 200, "zähler",
                 "счётчик", "select", "table", "slot", "total", "amount", "hits_slots", "hits_add", "splitcount_counters",
                 "sqlite_master", "pg_class", "x'); DROP TABLE y; --", "a\nb", "a.b", b"a\xff"]
        for name in names:
            for words in (("define", name), ("add", name)):
                with self.subTest(words):
                    self.refused_before_anything("name_invalid", *words)

    def test_names_at_every_verb(self):
        for name in ("", "Hits", "x'); DROP TABLE y; --"):
            for words in (("total", name), ("slots", name), ("top", name), ("describe", name), ("drop", name, "--yes"),
                          ("sql", "define", name), ("count", "x.log", "--counter", name)):
                with self.subTest(words):
                    self.refused_before_anything("name_invalid", *words)

    def test_names_of_key_columns(self):
        for name in ("", "Page", "a b", "select", "order", "slot", "n", "k" * 41, "k'", "ключ"):
            with self.subTest(name):
                self.refused_before_anything("name_invalid", "define", "hits", "--key", name)

    def test_rules_out_of_range(self):
        for options in (("--slots", "0"), ("--slots", "1025"), ("--slots", "-1"), ("--slots", "four"), ("--slots", ""),
                        ("--slots", "016"), ("--slots", "1.0"), ("--slots", "99999999999999999999"), ("--pick", "all"),
                        ("--pick", ""), ("--pick", "Random"), ("--missing", "maybe"), ("--retries", "twice"),
                        ("--retries", "once:"), ("--retries", "once:24"), ("--retries", "once:0h"), ("--retries", "once:-1h"),
                        ("--retries", "once:99999999d"), ("--retries", "once:024h"), ("--retries", "count:24h"),
                        ("--freshness", "old"), ("--freshness", "rolled-up:0s"), ("--layout", "loose")):
            with self.subTest(options):
                self.refused_before_anything("rule_invalid", "define", "hits", *options)
                self.refused_before_anything("rule_invalid", "sql", "define", "hits", *options)

    def test_rules_that_contradict_themselves(self):
        for options in (("--pick", "request"), ("--pick", "request", "--retries", "count")):
            with self.subTest(options):
                self.refused_before_anything("rule_invalid", "define", "hits", *options)
                self.refused_before_anything("rule_invalid", "sql", "define", "hits", *options)
        self.refused_before_anything("key_invalid", "define", "hits", "/home")

    def test_rules_that_this_engine_does_not_do(self):
        for options in (("--layout", "padded"), ("--layout", "journal"), ("--freshness", "rolled-up:1h")):
            with self.subTest(options):
                self.assertIn("SQLite", self.refused_before_anything("not_on_this_engine", "define", "hits", *options))
                self.refused_before_anything("not_on_this_engine", "sql", "define", "hits", *options)

    def test_unknown_dialects(self):
        self.assertIn("sqlite", self.refused_before_anything("invalid_argument", "sql", "define", "hits", "--dialect", "cobol"))

    def test_numbers_of_top_and_count(self):
        for n in ("0", "-1", "1.5", "", "ten", "100001", "010"):
            self.refused_before_anything("invalid_argument", "top", "hits", "-n", n)
            self.refused_before_anything("invalid_argument", "count", "x.log", "--sessions", n)

    def test_words_of_count(self):
        self.assertIn("target", self.refused_before_anything("invalid_argument", "count", "x.log", "--key", "tarket"))
        self.assertIn("combined", self.refused_before_anything("invalid_argument", "count", "x.log", "--format", "apache"))
        self.refused_before_anything("invalid_argument", "count", "")
        for name in ("", "-"):
            self.refused_before_anything("invalid_argument", "count", "x.log", "--rejects", name)

    def test_removing_wants_a_yes_where_nobody_can_be_asked(self):
        self.assertIn("--yes", self.refused_before_anything("invalid_argument", "drop", "hits"))
        self.assertIn("--yes", self.refused_before_anything("invalid_argument", "uninstall"))

    def test_databases_that_are_none_of_ours(self):
        for dsn in ("", "cobol:x", "oracle://localhost/x", "http://x/y.db"):
            with self.subTest(dsn):
                self.refused_before_anything("config_invalid", "list", "--db", dsn)

    def test_a_log_that_is_not_there_creates_no_database(self):
        self.refused(FAILED, "file_unreadable", "count", "absent.log")
        self.refused(FAILED, "file_unreadable", "count", ".")
        self.write("here.log", "")
        self.refused(FAILED, "file_unreadable", "count", "here.log", "absent.log", "--format", "lines")
        self.assertEqual(self.files(), ["here.log"])

    def test_verbs_other_than_define_and_count_create_no_database(self):
        for words in READING_VERBS + [("uninstall", "--yes")]:
            with self.subTest(words):
                answer = self.run_program(*words)
                self.assertEqual(answer.code, FAILED, answer)
                self.assertIn("splitcount.db", answer.err)
                self.assertEqual(self.files(), [])
        self.refused(FAILED, "database_unavailable", "define", "hits", "--db", "no/such/folder/x.db")


class WithADatabase(Case):
    """Seen with the database open: exit 1, and it holds what it held."""

    def setUp(self):
        super().setUp()
        self.ok("define", "page_views", "--key", "page", "--slots", "4", "--pick", "random")
        self.ok("define", "votes", "yes", "--key", "answer", "--missing", "error")
        self.ok("define", "hits")
        self.ok("define", "once_only", "--retries", "once")
        self.ok("add", "page_views", "/home", "--by", "5")
        self.before = self.dump()

    def tearDown(self):
        self.assertEqual(self.dump(), self.before)

    def test_an_unknown_counter_is_answered_with_the_nearest(self):
        for words in (("add", "page_view", "/home"), ("total", "page_view"), ("slots", "page_view", "k"), ("top", "page_view"),
                      ("describe", "page_view"), ("drop", "page_view", "--yes")):
            self.assertIn("page_views", self.refused(FAILED, "unknown_counter", *words))
        self.refused(FAILED, "unknown_counter", "total", "something_else")

    def test_keys_and_slots_that_are_not_there(self):
        self.refused(FAILED, "key_missing", "add", "votes", "no")
        self.refused(FAILED, "key_missing", "total", "votes", "no")
        self.refused(FAILED, "key_missing", "slots", "votes", "no")
        self.refused(FAILED, "slot_missing", "add", "hits", "--slot", "1")
        self.refused(FAILED, "slot_missing", "add", "page_views", "/home", "--slot", "4")

    def test_keys_where_none_belongs_and_none_where_one_does(self):
        self.refused(FAILED, "key_invalid", "add", "hits", "/home")
        self.refused(FAILED, "key_invalid", "total", "hits", "/home")
        self.refused(FAILED, "key_invalid", "slots", "hits", "/home")
        self.refused(FAILED, "key_invalid", "add", "page_views")
        self.refused(FAILED, "key_invalid", "slots", "page_views")

    def test_ids_and_values_against_the_rule(self):
        self.refused(FAILED, "request_id_refused", "add", "hits", "--request-id", "1")
        self.refused(FAILED, "value_invalid", "add", "hits", "--value", "1")

    def test_another_rule_is_refused_with_the_difference(self):
        message = self.refused(FAILED, "rule_differs", "define", "page_views", "--slots", "8", "--pick", "spread")
        for word in ("slots", "4", "8", "random", "spread"):
            self.assertIn(word, message)
        self.refused(FAILED, "rule_differs", "define", "hits", "--key", "page")
        self.refused(FAILED, "key_invalid", "define", "hits", "/home")

    def test_counting_into_a_counter_that_cannot_hold_lines(self):
        self.copy_log()
        self.assertIn("key", self.refused(FAILED, "key_invalid", "count", "access.log", "--counter", "hits"))


class Clashes(Case):
    def test_a_name_that_clashes_with_a_table_of_the_user(self):
        self.database().execute("CREATE TABLE page_views_slots(id INTEGER)")
        self.database().execute("CREATE TABLE hits(id INTEGER)")
        self.database().execute("CREATE INDEX likes_add ON hits(id)")
        before = self.dump()
        self.assertIn("page_views_slots", self.refused(FAILED, "name_clash", "define", "page_views", "--key", "page"))
        self.assertIn("hits", self.refused(FAILED, "name_clash", "define", "hits"))
        self.refused(FAILED, "name_clash", "define", "likes")
        self.assertEqual(self.dump(), before)


if __name__ == "__main__":
    unittest.main()
