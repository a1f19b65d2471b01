"""Each verb does what it says, and the examples of its help run."""
import json
import re
import sqlite3
import unittest

from support import DONE, FAILED, Case

VERBS = ["define", "list", "describe", "add", "total", "slots", "top", "count", "status", "maintain", "compare", "advise", "inspect", "doctor", "copy", "open", "sql", "drop", "uninstall"]
INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


class Help(Case):
    def test_without_a_verb_it_shows_the_verbs(self):
        text = self.ok()
        self.assertEqual(text, self.ok("--help"))
        for verb in VERBS:
            self.assertRegex(text, rf"\n  {verb} +[A-Z]")

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"\Asplitcount \d+\.\d+\.\d+\n\Z")

    def test_each_verb_explains_itself_with_examples(self):
        for verb in VERBS:
            with self.subTest(verb):
                text = self.ok(verb, "--help")
                self.assertIn(f"Usage: splitcount {verb}", text)
                self.assertIn("--db DSN", text)
                self.assertRegex(text, rf"Examples:\n  .*splitcount {verb}")
                self.assertLess(max(map(len, text.split("\n"))), 121)
        self.assertEqual(self.files(), [])

    def test_define_tells_why_a_counter_is_not_for_money(self):
        self.assertRegex(self.ok("define", "--help"), r"(?s)Not for money: .*record of every\s+movement")

    def test_count_tells_that_on_sqlite_one_thread_writes(self):
        self.assertRegex(self.ok("count", "--help"), r"(?s)SQLite.*parse and\s+one thread writes")


class Define(Case):
    def test_it_creates_the_file_and_says_what_it_made(self):
        self.assertEqual(self.ok("define", "page_views", "--key", "page"),
                         "page_views is defined: a number for each page, with 1 slot each\n")
        self.assertEqual(self.ok("define", "hits"), "hits is defined: one number with 1 slot\n")

    def test_the_rule_as_json(self):
        answer = self.json("define", "page_views", "--key", "page", "--slots", "16", "--pick", "random", "--retries", "once:24h")
        self.assertEqual(answer["created"], True)
        self.assertEqual(answer["rule"], {"key": "page", "slots": 16, "pick": "random", "missing": "create",
                                          "retries": "once:24h", "freshness": "live", "layout": "compact"})

    def test_the_same_again_changes_nothing(self):
        self.ok("define", "votes", "yes", "--key", "answer", "--slots", "3", "--missing", "error")
        before = self.dump()
        self.assertEqual(self.ok("define", "votes", "--key", "answer", "--slots", "3"),
                         "votes unchanged: it is there with this rule\n")
        self.assertEqual(self.ok("define", "votes"), "votes unchanged: it is there with this rule\n")
        self.assertEqual(self.dump(), before)

    def test_keys_are_added_to_an_existing_counter(self):
        self.ok("define", "votes", "yes", "--key", "answer", "--slots", "3", "--missing", "error")
        self.refused(FAILED, "key_missing", "add", "votes", "no")
        answer = self.json("define", "votes", "yes", "no", "maybe")
        self.assertEqual((answer["created"], answer["keys_added"]), (False, 2))
        self.ok("add", "votes", "no")
        self.assertEqual(self.json("slots", "votes", "maybe"), [{"slot": n, "n": 0} for n in range(3)])

    def test_a_slot_count_that_is_no_prime_is_spoken_of(self):
        self.assertIn("Advice: 12 slots", self.ok("define", "prizes", "--slots", "12", "--pick", "value"))
        self.assertIn("11", self.json("define", "wins", "--slots", "12", "--pick", "value")["advice"][0])

    def test_keys_that_cli11_would_change(self):
        self.ok("define", "k", "--key", "page")
        for key in ["[a,b]", "{}", "%%", "list", "add", "--json", "-3", "-", "a=b", "'\"", "  ", "\t", "日本語"]:
            with self.subTest(key):
                self.assertEqual(json.loads(self.ok("--json", "add", "k", "--by", "2", "--", key))["key"], key)
                self.assertEqual(json.loads(self.ok("--json", "total", "k", "--", key))["total"], 2)
        self.assertEqual(len(self.counts("k")), 13)


class Add(Case):
    def test_the_examples_of_the_page_view_article(self):
        self.ok("define", "page_views", "--key", "page", "--slots", "16", "--pick", "random", "--retries", "once:24h")
        first = self.json("add", "page_views", "/home", "--by", "3", "--request-id", "7f3a")
        self.assertEqual(list(first), ["counter", "key", "amount", "slot", "replay"])
        self.assertEqual((first["counter"], first["key"], first["amount"], first["replay"]), ("page_views", "/home", 3, False))
        self.assertIn(first["slot"], range(16))
        again = self.json("add", "page_views", "/home", "--by", "3", "--request-id", "7f3a")
        self.assertEqual(again, {**first, "replay": True})
        self.assertIn("counted before", self.ok("add", "page_views", "/home", "--by", "3", "--request-id", "7f3a"))
        self.assertEqual(self.total("page_views", "/home"), 3)
        self.refused(FAILED, "request_conflict", "add", "page_views", "/home", "--by", "5", "--request-id", "7f3a")
        self.refused(FAILED, "request_conflict", "add", "page_views", "/about", "--by", "3", "--request-id", "7f3a")
        self.assertEqual(self.total("page_views"), 3)

    def test_the_example_of_the_prize_article(self):
        self.ok("define", "prizes_won", "--slots", "11", "--pick", "value")
        self.assertEqual(self.json("add", "prizes_won", "--value", "4711"),
                         {"counter": "prizes_won", "key": None, "amount": 1, "slot": 4711 % 11, "replay": False})
        self.assertEqual(self.json("add", "prizes_won", "--value", "-1")["slot"], 10)
        self.refused(FAILED, "value_invalid", "add", "prizes_won")

    def test_the_lost_view_of_the_article_is_refused_and_changes_nothing(self):
        self.ok("define", "prizes_won", "--slots", "11", "--pick", "value")
        before = self.dump()
        message = self.refused(FAILED, "slot_missing", "add", "prizes_won", "--slot", "12")
        self.assertIn("12", message)
        self.refused(FAILED, "slot_missing", "add", "prizes_won", "--slot", "11")
        self.assertEqual(self.dump(), before)

    def test_a_given_slot_is_used(self):
        self.ok("define", "hits", "--slots", "4")
        self.assertEqual(self.json("add", "hits", "--slot", "2")["slot"], 2)
        self.assertEqual(self.json("slots", "hits"), [{"slot": n, "n": int(n == 2)} for n in range(4)])

    def test_negative_and_zero_amounts(self):
        self.ok("define", "hits")
        self.assertEqual(self.ok("add", "hits", "--by", "-3"), "hits: -3 in slot 0\n")
        self.assertEqual(self.ok("add", "hits", "--by=1234"), "hits: +1,234 in slot 0\n")
        self.assertEqual(self.json("add", "hits", "--by", "0")["amount"], 0)
        self.assertEqual(self.total("hits"), 1231)

    def test_the_ends_of_sixty_four_bits(self):
        self.ok("define", "edge")
        self.assertEqual(self.json("add", "edge", "--by", "9223372036854775807")["amount"], 9223372036854775807)
        self.refused(FAILED, "out_of_range", "add", "edge")
        self.assertIn('"total":9223372036854775807,', self.ok("total", "edge", "--json"))
        self.ok("add", "edge", "--by", "-1")
        self.assertEqual(self.total("edge"), 9223372036854775806)
        self.ok("define", "low")
        self.ok("add", "low", "--by", "-9223372036854775808")
        self.assertIn('"total":-9223372036854775808,', self.ok("total", "low", "--json"))
        self.refused(FAILED, "out_of_range", "add", "low", "--by", "-1")

    def test_two_slots_whose_sum_leaves_the_range_are_an_error_of_the_read(self):
        self.ok("define", "wide", "--slots", "2")
        for slot in ("0", "1"):
            self.ok("add", "wide", "--slot", slot, "--by", "9223372036854775807")
        self.refused(FAILED, "out_of_range", "total", "wide")
        self.assertEqual([slot["n"] for slot in self.json("slots", "wide")], [9223372036854775807] * 2)
        self.assertIsNone(self.json("describe", "wide")["total"])

    def test_keys_that_look_alike_are_different(self):
        self.ok("define", "k", "--key", "page")
        keys = ["Ab", "ab", "AB", "ab ", "\u00e9", "e\u0301", "11", "011", "1.1e1", "x" * 299 + "a", "x" * 299 + "b", "y" * 768]
        for key in keys:
            self.ok("add", "k", key)
        self.assertEqual(self.counts("k"), {key: 1 for key in keys})
        self.assertEqual([total["key"] for total in self.json("total", "k", *keys)], keys)


class Read(Case):
    def setUp(self):
        super().setUp()
        self.ok("define", "page_views", "--key", "page")
        for key, amount in (("/favicon.ico", 807), ("/home", 12), ("/b", 12), ("/low", -5)):
            self.ok("add", "page_views", key, "--by", str(amount))

    def test_a_total_is_exactly_this(self):
        text = self.ok("total", "page_views", "/favicon.ico", "--json")
        self.assertRegex(text, r'\A\{"counter":"page_views","key":"/favicon.ico","total":807,"freshness":"live",'
                               rf'"as_of":"{INSTANT}","slots":1\}}\n\Z')
        self.assertRegex(self.ok("total", "page_views", "/favicon.ico"),
                         rf"\Apage_views /favicon.ico: 807 \(live, {INSTANT}, from 1 slot\)\n\Z")

    def test_without_a_key_it_is_the_sum_over_all(self):
        total = self.json("total", "page_views")
        self.assertIsNone(total["key"])
        self.assertEqual((total["total"], total["slots"]), (826, 4))

    def test_a_key_that_was_never_counted_is_zero_where_rows_are_created(self):
        self.assertEqual(self.total("page_views", "/never"), 0)

    def test_several_totals_come_from_one_snapshot_in_the_order_given(self):
        totals = self.json("total", "page_views", "/home", "/never", "/favicon.ico", "/home")
        self.assertEqual([(t["key"], t["total"]) for t in totals], [("/home", 12), ("/never", 0), ("/favicon.ico", 807), ("/home", 12)])
        self.assertEqual(len({t["as_of"] for t in totals}), 1)
        self.assertIn("/favicon.ico", self.ok("total", "page_views", "/home", "/favicon.ico"))

    def test_top_is_largest_first_and_equal_ones_by_key(self):
        top = self.json("top", "page_views", "-n", "3")
        self.assertEqual([(t["key"], t["total"]) for t in top], [("/favicon.ico", 807), ("/b", 12), ("/home", 12)])
        self.assertEqual(list(top[0]), ["counter", "key", "total", "freshness", "as_of", "slots"])
        self.assertEqual(len(self.json("top", "page_views")), 4)
        self.assertRegex(self.ok("top", "page_views", "-n2"), r"\Apage +total\n/favicon.ico +807  \S+\n/b +12  \S+\n")

    def test_slots_are_a_plain_array(self):
        self.assertEqual(self.ok("slots", "page_views", "/home", "--json"), '[{"slot":0,"n":12}]\n')

    def test_list_names_each_counter_with_its_rule(self):
        self.ok("define", "hits")
        counters = self.json("list")
        self.assertEqual([c["counter"] for c in counters], ["hits", "page_views"])
        self.assertEqual(counters[1]["rule"]["key"], "page")
        self.assertRegex(self.ok("list"), r"(?m)^page_views +page +1 ")

    def test_describe_names_objects_that_are_there_and_sql_that_runs(self):
        self.ok("define", "once_only", "--retries", "once")
        for name in ("page_views", "once_only"):
            described = self.json("describe", name)
            there = {row[0] for row in self.database().execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
            ours = {n for n in there if n == name or n.startswith(name + "_")}
            self.assertEqual(set(described["objects"]), ours)
            self.assertTrue(any(f"INSERT INTO {name}_add(" in line for line in described["use"]), described["use"])
        text = self.ok("describe", "page_views")
        self.assertIn("a number for each page", text)
        self.assertIn("4 keys with a row", text)

    def test_maintain_removes_expired_ids_and_says_so(self):
        self.ok("define", "logins", "--retries", "once:24h")
        for number in range(3):
            self.ok("add", "logins", "--request-id", f"id{number}")
        self.assertEqual(self.ok("maintain"), f"nothing was due in {len(self.json('list'))} counters\n")
        self.database().execute("UPDATE logins_requests SET counted = counted - 25 * 3600 * 1000 WHERE request_id > 'id0'")
        self.assertEqual(self.ok("maintain", "logins"), "logins: 2 request ids purged\n")
        self.assertEqual(self.json("maintain", "logins"), [{"counter": "logins", "deltas_folded": 0, "ids_purged": 0}])
        self.assertEqual(self.total("logins"), 3)
        self.assertTrue(self.json("add", "logins", "--request-id", "id0")["replay"])
        self.assertFalse(self.json("add", "logins", "--request-id", "id1")["replay"])

    def test_maintain_names_a_counter_that_is_not_there(self):
        self.assertIn("did you mean", self.refused(FAILED, "unknown_counter", "maintain", "page_view"))

    def test_status_prints_what_a_commit_means(self):
        status = self.json("status")
        self.assertEqual(list(status), ["database", "engine", "engine_version", "durability", "warnings", "closed", "overdue",
                                        "schema_version", "counters", "size_bytes"])
        self.assertEqual((status["engine"], status["counters"]), ("sqlite", 1))
        self.assertEqual(status["engine_version"], sqlite3.sqlite_version)
        self.assertIn("WAL", status["durability"])
        self.assertGreater(status["size_bytes"], 0)
        self.assertIn("synced WAL commit", self.ok("status"))


class Sql(Case):
    def test_the_script_needs_no_database_and_makes_a_counter_that_is_as_good(self):
        script = self.ok("sql", "define", "page_views", "--key", "page", "--slots", "16", "--dialect", "sqlite")
        self.assertEqual(self.files(), [])
        self.database("hand.db").executescript("BEGIN IMMEDIATE;" + script + "COMMIT;")
        self.ok("--db", "hand.db", "add", "page_views", "/home", "--by", "3")
        self.assertEqual(self.total("page_views", "/home", "--db", "hand.db"), 3)
        self.assertIn("unchanged", self.ok("define", "page_views", "--key", "page", "--slots", "16", "--db", "hand.db"))

    def test_it_ignores_a_broken_configuration(self):
        self.write("splitcount.toml", "broken")
        self.ok("sql", "define", "hits")

    def test_as_json(self):
        answer = self.json("sql", "define", "hits")
        self.assertEqual(answer["script"], self.ok("sql", "define", "hits").removesuffix("\n")
                         if not answer["script"].endswith("\n") else self.ok("sql", "define", "hits"))
        self.assertEqual((answer["counter"], answer["dialect"]), ("hits", "sqlite"))


class Remove(Case):
    def test_drop_removes_one_counter_and_nothing_else(self):
        self.database().execute("CREATE TABLE mine(id INTEGER)")
        self.ok("define", "hits")
        before = self.dump()[0]
        self.ok("define", "page_views", "--key", "page", "--retries", "once")
        self.ok("add", "page_views", "/home", "--request-id", "1")
        self.assertEqual(self.ok("drop", "page_views", "--yes"), "page_views is dropped\n")
        self.assertEqual(self.dump()[0], before)
        self.refused(FAILED, "unknown_counter", "drop", "page_views", "--yes")

    def test_uninstall_removes_everything_of_ours_and_nothing_of_the_user(self):
        self.database().execute("CREATE TABLE mine(id INTEGER)")
        before = self.dump()
        self.ok("define", "hits")
        self.ok("define", "votes", "a", "--key", "k")
        self.assertEqual(self.ok("uninstall", "--yes"), "2 counters and everything of splitcount are removed from splitcount.db\n")
        self.assertEqual(self.dump(), before)

    def test_as_json(self):
        self.ok("define", "hits")
        self.assertEqual(self.json("drop", "hits", "--yes"), {"counter": "hits", "dropped": True})
        self.assertEqual(self.json("uninstall", "--yes"), {"uninstalled": True})


class Examples(Case):
    def test_the_examples_of_each_help_run(self):
        self.copy_log()
        self.ok("define", "page_views", "--key", "page", "--slots", "16", "--pick", "random", "--retries", "once:24h")
        self.ok("define", "prizes_won", "--slots", "11", "--pick", "value")
        self.ok("define", "votes", "yes", "no", "--key", "answer", "--missing", "error")
        self.ok("define", "hits", "--db", "visits.db")
        tried = 0
        for verb in VERBS:
            for line in self.ok(verb, "--help").split("Examples:\n")[1].strip().split("\n"):
                if re.search(r"/var/log|zcat|postgresql:|mariadb:", line):
                    continue
                words = re.sub(r" > .*", "", line.strip()).split(" ")[1:]
                if verb in ("drop", "uninstall") and "--yes" not in words:
                    continue
                with self.subTest(line):
                    answer = self.run_program(*words)
                    self.assertEqual(answer.code, DONE, answer)
                    tried += 1
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
