"""inspect shows what the database really holds: the locks of a transaction, who waits for whom, the pages of a key."""
import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
import threading
import time
import unittest

import support
from database import Case, setUpModule  # noqa: F401
from support import DONE, FAILED, PROGRAM, USAGE, environment, random_numbers


class Locks(Case):
    def test_one_row_is_one_lock_and_two_slots_are_two(self):
        self.assertEqual(self.json("inspect", "locks"), {"one_row": 1, "two_slots": 2, "lock": "row", "engine": "postgresql"})
        self.assertRegex(self.ok("inspect", "locks"),
                         r"\Aone transaction +row locks\none counter row, counted in twice +1  \u2588{12}\n"
                         r"two slots, counted in once each +2  \u2588{24}\n")
        self.assertIsNone(self.one("SELECT to_regnamespace('splitcount_trial')"))

    def test_without_the_right_to_create_it_is_refused_and_nothing_is_left(self):
        self.sql("CREATE ROLE looks_only LOGIN")
        self.addCleanup(self.sql, "DROP ROLE looks_only")
        weak = environment(SPLITCOUNT_DB=self.server.address(self.name, user="looks_only"))
        self.assertIn("GRANT CREATE ON DATABASE", self.refused(FAILED, "permission_denied", "inspect", "locks", env=weak))
        self.assertIsNone(self.one("SELECT to_regnamespace('splitcount_trial')"))


class Live(Case):
    """One session holds the counter's only slot, another one waits for it."""

    def setUp(self):
        super().setUp()
        self.define("hits", "--slots", "1", "--pick", "random")
        self.holder = self.session()

    def wait_with(self, *statements):
        """Those sessions wait, each in a thread, when this returns."""
        sessions = self.sessions(len(statements))
        threads = [threading.Thread(target=session.run, args=(statement,)) for session, statement in zip(sessions, statements)]
        for thread in threads:
            thread.start()
        pids = [session.pid for session in sessions]
        self.wait_until(lambda: self.one("SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s) AND wait_event_type = 'Lock'",
                                         pids) == len(pids), "they wait")
        self.addCleanup(lambda: [thread.join(60) for thread in threads])
        self.addCleanup(self.holder.run, "ROLLBACK")  # runs first
        return pids

    def waits(self, **how):
        answer = self.json("inspect", "locks", "--live", **how)
        self.assertIsNone(answer["why_none"])
        return answer["waits"]

    def test_nobody_waits(self):
        self.holder.run("BEGIN; SELECT hits_add()")
        self.assertEqual(self.waits(), [])
        self.assertEqual(self.ok("inspect", "locks", "--live"), "nobody waits for a counter\n")
        self.holder.run("ROLLBACK")

    def test_who_waits_for_whom_on_which_counter_since_when(self):
        self.holder.run("BEGIN; SELECT hits_add()")
        one, two = self.wait_with("SELECT hits_add(amount => 2)", "SELECT hits_add(\n  amount => 3)")
        waits = self.waits()
        self.assertEqual({wait["pid"] for wait in waits}, {one, two})
        # The first in the queue waits for the holder; the other one for both of them or for the first.
        by_first = {wait["pid"]: wait["blocked_by"] for wait in waits}
        self.assertIn([self.holder.pid], by_first.values())
        self.assertTrue(set(sum(by_first.values(), [])) <= {self.holder.pid, one, two}, by_first)
        for wait in waits:
            self.assertEqual((wait["counter"], wait["table"]), ("hits", "hits_slots"))
            self.assertRegex(wait["statement"], r"\ASELECT hits_add\(\s*amount => [23]\)\Z")
            self.assertRegex(wait["since"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
            self.assertGreaterEqual(wait["seconds"], 0)
        text = self.ok("inspect", "locks", "--live")
        self.assertRegex(text, rf"(?m)^ *{one}  +[\d ]+  +hits +[\d.]+  SELECT hits_add\(amount => 2\)$")
        self.assertRegex(text, rf"(?m)^ *{two}  +[\d ]+  +hits +[\d.]+  SELECT hits_add\( amount => 3\)$")

    def test_waits_on_other_tables_are_not_listed(self):
        self.sql("CREATE TABLE other(n integer); INSERT INTO other VALUES (1)")
        self.holder.run("BEGIN; UPDATE other SET n = 2")
        self.wait_with("UPDATE other SET n = 3")
        self.assertEqual(self.waits(), [])

    def test_a_prepared_transaction_that_holds_a_slot(self):
        preparing = self.session()
        preparing.run("BEGIN; SELECT hits_add(); PREPARE TRANSACTION 'held'")
        self.wait_with("SET lock_timeout = '60s'; SELECT hits_add()")
        self.addCleanup(self.sql, "ROLLBACK PREPARED 'held'")
        (wait,) = self.waits()
        self.assertEqual(wait["blocked_by"], [0])
        self.assertIn("prepared", self.ok("inspect", "locks", "--live"))

    def test_a_statement_of_somebody_else_is_hidden_where_the_role_may_not_see_it(self):
        self.sql("CREATE ROLE looks_only LOGIN; GRANT SELECT ON splitcount_counters, splitcount_schema TO looks_only")
        self.addCleanup(self.sql, "DROP OWNED BY looks_only; DROP ROLE looks_only")
        self.holder.run("BEGIN; SELECT hits_add()")
        (pid,) = self.wait_with("SELECT hits_add()")
        weak = environment(SPLITCOUNT_DB=self.server.address(self.name, user="looks_only"))
        (wait,) = self.waits(env=weak)
        self.assertEqual((wait["pid"], wait["statement"]), (pid, None))
        self.assertIn("(hidden from this role)", self.ok("inspect", "locks", "--live", env=weak))

    def test_a_table_of_that_name_earlier_in_the_search_path_is_somebody_elses(self):
        self.sql("CREATE SCHEMA other; CREATE TABLE other.splitcount_counters(name text)")
        self.addCleanup(self.sql, "DROP SCHEMA other CASCADE")
        self.holder.run("BEGIN; SELECT hits_add()")
        self.wait_with("SELECT hits_add()")
        (wait,) = self.waits(env=environment(SPLITCOUNT_DB=self.address, PGOPTIONS="-c search_path=other,public"))
        self.assertEqual(wait["counter"], "hits")

    def test_terminal_escapes_in_a_statement_come_out_harmless(self):
        self.holder.run("BEGIN; SELECT hits_add()")
        self.wait_with("SELECT hits_add() /* \x1b[31m\x07 \"quoted\" */")
        self.assertIn("\x1b[31m", self.waits()[0]["statement"])
        text = self.ok("inspect", "locks", "--live")
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1B[31m\\x07", text)

    def test_at_a_terminal_it_is_drawn_again_until_ctrl_c(self):
        ours, theirs = pty.openpty()
        child = subprocess.Popen([PROGRAM, "inspect", "locks", "--live"], stdin=theirs, stdout=theirs, stderr=theirs,
                                 cwd=self.folder, env=environment(SPLITCOUNT_DB=self.address))
        os.close(theirs)
        self.addCleanup(child.kill)
        shown = b""

        def read_until(count, text):
            nonlocal shown
            deadline = time.monotonic() + 30
            while shown.count(text) < count:
                self.assertLess(time.monotonic(), deadline, shown)
                if select.select([ours], [], [], 0.1)[0]:
                    shown += os.read(ours, 65536)

        read_until(2, b"nobody waits")
        self.holder.run("BEGIN; SELECT hits_add()")
        (pid,) = self.wait_with("SELECT hits_add(amount => 7 /* " + "x" * 300 + " */)")
        read_until(1, b"amount => 7")
        self.assertIn(str(pid).encode(), shown)
        self.assertNotIn(b"x" * 100, shown)  # cut to the width
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(30), DONE)
        os.close(ours)


class Pages(Case):
    def pages(self, *words):
        return self.json("inspect", "pages", *words)

    def test_padded_slots_have_a_page_each_and_compact_ones_share_one(self):
        self.define("wide", "--slots", "4", "--layout", "padded")
        self.define("tight", "--slots", "4")
        wide, tight = self.pages("wide"), self.pages("tight")
        self.assertEqual((wide["slots"], wide["pages"], wide["layout"], wide["key"]), (4, 4, "padded", None))
        self.assertEqual((tight["slots"], tight["pages"], tight["layout"]), (4, 1, "compact"))
        self.assertEqual((wide["page_bytes"], wide["slot_bytes"], wide["table_bytes"]), (8192, 8192, 4 * 8192))
        self.assertEqual(tight["slot_bytes"], tight["slot_bytes_compact"])
        self.assertEqual(wide["slot_bytes_compact"], tight["slot_bytes"])
        self.assertEqual(tight["table_bytes"], self.one("SELECT pg_relation_size('tight_slots')"))
        self.assertEqual(tight["index_bytes"], self.one("SELECT pg_indexes_size('tight_slots')"))
        self.assertRegex(self.ok("inspect", "pages", "wide"), r"\A4 slots lie on 4 pages of 8,192 bytes, layout padded\n")
        self.assertRegex(self.ok("inspect", "pages", "wide"),
                         r"\na slot +8,192  \u2588{24}\na slot, if it were compact +\d+  \u258f\na page +8,192  \u2588{24}\n")
        self.assertRegex(self.ok("inspect", "pages", "tight"), r"\A4 slots lie on 1 page of 8,192 bytes, layout compact\n")

    def test_what_a_compact_slot_takes_is_what_a_full_table_of_them_takes(self):
        self.define("many", "--key", "page", "--slots", "8")
        self.sql("INSERT INTO many_slots(page, slot, n) SELECT '/page ' || lpad(k::text, 5, '0'), s, 0 "
                 "FROM generate_series(1, 5000) AS k, generate_series(0, 7) AS s ORDER BY k, s")
        pages = self.pages("many", "/page 00017")
        self.assertEqual((pages["key"], pages["slots"], pages["pages"]), ("/page 00017", 8, 1))
        self.assertAlmostEqual(pages["slot_bytes"], pages["table_bytes"] / 40_000, delta=3)

    def test_a_key_whose_slots_came_one_after_the_other_lies_on_several_pages(self):
        self.define("views", "--key", "page", "--slots", "4", "--pick", "random")
        for slot in range(4):
            self.sql("INSERT INTO views_slots(page, slot, n) VALUES ('/home', %s, 1)", slot)
            self.sql("INSERT INTO views_slots(page, slot, n) SELECT '/other ' || %s || ' ' || k, 0, 1 FROM generate_series(1, 300) AS k", slot)
        expected = self.one("SELECT count(DISTINCT (ctid::text::point)[0]) FROM views_slots WHERE page = '/home'")
        self.assertGreater(expected, 1)
        self.assertEqual(self.pages("views", "/home")["pages"], expected)

    def test_a_schema_with_a_hostile_name(self):
        self.sql("""CREATE SCHEMA "it's ""one" """)
        self.addCleanup(self.sql, """DROP SCHEMA "it's ""one" CASCADE""")
        self.sql(f"""ALTER DATABASE {self.name} SET search_path = "it's ""one" """)
        self.addCleanup(self.sql, f"ALTER DATABASE {self.name} RESET search_path")
        self.define("hits", "--slots", "4", "--layout", "padded")
        self.assertEqual(self.pages("hits")["pages"], 4)

    def test_what_is_not_there_is_said_as_slots_says_it(self):
        self.define("hits", "--slots", "4")
        self.define("votes", "--key", "answer", "--missing", "error")
        self.define("views", "--key", "page")
        for code, words in (("unknown_counter", ["hitz"]), ("key_missing", ["votes", "no"]), ("key_invalid", ["views"]),
                            ("key_invalid", ["hits", "/home"])):
            with self.subTest(words):
                self.assertEqual(self.refused(FAILED, code, "inspect", "pages", *words), self.refused(FAILED, code, "slots", *words))
        self.assertEqual(self.ok("inspect", "pages", "views", "/never"), self.ok("slots", "views", "/never"))
        self.assertEqual((self.pages("views", "/never")["slots"], self.pages("views", "/never")["pages"]), (0, 0))


class Words(support.Case):
    def test_what_cannot_be_right_is_refused_before_a_database_is_looked_for(self):
        for words, sentence in ((["inspect"], "WHAT is missing"), (["inspect", "rows"], "locks and pages are right"),
                                (["inspect", "pages"], "COUNTER is missing"), (["inspect", "locks", "hits"], "one word too many"),
                                (["inspect", "pages", "hits", "--live"], "--live is for locks"),
                                (["inspect", "pages", "Hits"], "Hits"), (["inspect", "pages", "hits", "k", "x"], "one word too many")):
            with self.subTest(words):
                answer = self.run_program(*words, "--db", "nowhere/there.db")
                self.assertEqual(answer.code, USAGE, answer)
                self.assertIn(sentence, answer.err)
        self.assertEqual(self.files(), [])


class OnSqlite(support.Case):
    def test_there_is_one_lock_on_the_database_whatever_is_written(self):
        self.ok("define", "hits")
        self.assertEqual(self.json("inspect", "locks"), {"one_row": 1, "two_slots": 1, "lock": "database", "engine": "sqlite"})
        text = self.ok("inspect", "locks")
        self.assertEqual(text.count("1  " + 24 * "\u2588"), 2)
        self.assertIn("locks on the database", text)
        self.assertIn("SQLite has one writer at a time", text)
        self.assertEqual([name for name in self.files() if "trial" in name], [])

    def test_it_says_in_one_sentence_why_nobody_is_listed(self):
        self.ok("define", "hits")
        answer = self.json("inspect", "locks", "--live")
        self.assertEqual(answer["waits"], [])
        self.assertIn("SQLite has one writer", answer["why_none"])
        self.assertEqual(self.ok("inspect", "locks", "--live"), answer["why_none"] + "\n")

    def pages_of_each_key(self, name):
        """The slow and obvious way: the file's pages are read byte by byte, and each row's key is looked for."""
        data = self.path("splitcount.db").read_bytes()
        size = int.from_bytes(data[16:18], "big")
        size = 65536 if size == 1 else size
        with sqlite3.connect(self.path("splitcount.db")) as connection:
            (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (f"{name}_slots",)).fetchone()
        connection.close()
        found = {}

        def varint(at):
            value = 0
            for i in range(9):
                byte = data[at + i]
                if i == 8:
                    return (value << 8) | byte, at + 9
                value = (value << 7) | (byte & 0x7F)
                if byte < 0x80:
                    return value, at + i + 1

        def walk(page):
            start = (page - 1) * size
            head = start + (100 if page == 1 else 0)
            inner = data[head] == 2
            self.assertIn(data[head], (2, 10))
            cells = int.from_bytes(data[head + 3:head + 5], "big")
            pointers = head + (12 if inner else 8)
            for cell in range(cells):
                at = start + int.from_bytes(data[pointers + 2 * cell:pointers + 2 * cell + 2], "big")
                if inner:
                    walk(int.from_bytes(data[at:at + 4], "big"))
                    at += 4
                _, at = varint(at)
                _, types = varint(at)
                text_type, _ = varint(types)
                header, _ = varint(at)
                length = (text_type - 13) // 2
                found.setdefault(data[at + header:at + header + length].decode(), set()).add(page)
            if inner:
                walk(int.from_bytes(data[head + 8:head + 12], "big"))

        walk(root)
        return {key: len(pages) for key, pages in found.items()}

    def test_the_page_of_each_row_is_found_also_in_inner_pages_of_the_tree(self):
        self.ok("define", "views", "--key", "page", "--slots", "12", "--pick", "random")
        numbers = random_numbers(self.id())
        keys = ["".join(numbers.choices("abc/ é", k=numbers.randint(1, 400))) + str(i) for i in range(800)]
        database = self.database()
        database.execute("BEGIN IMMEDIATE")
        for key in keys:
            for slot in numbers.sample(range(12), numbers.randint(1, 12)):
                database.execute("INSERT INTO views_slots(page, slot, n) VALUES (?, ?, 1)", (key, slot))
        database.execute("COMMIT")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        expected = self.pages_of_each_key("views")
        (depth,) = database.execute("SELECT max(length(path) - length(replace(path, '/', ''))) FROM dbstat WHERE name = 'views_slots'").fetchone()
        self.assertGreaterEqual(depth, 3)  # inner pages below an inner page
        on_inner_pages = 0
        for key in numbers.sample(keys, 30):
            answer = json.loads(self.ok("--json", "inspect", "pages", "views", "--", key))
            self.assertEqual(answer["pages"], expected[key], key)
            on_inner_pages += answer["pages"] > 1
        self.assertGreater(on_inner_pages, 0)

    def test_the_slots_of_a_counter_without_a_key(self):
        self.ok("define", "hits", "--slots", "4")
        answer = self.json("inspect", "pages", "hits")
        self.assertEqual((answer["slots"], answer["pages"], answer["layout"], answer["index_bytes"]), (4, 1, "compact", 0))
        self.ok("define", "most", "--slots", "1024")
        answer = self.json("inspect", "pages", "most")
        database = self.database()
        (pages,) = database.execute("SELECT count(*) FROM dbstat WHERE name = 'most_slots'").fetchone()
        self.assertEqual((answer["slots"], answer["pages"], answer["table_bytes"]), (1024, pages, pages * answer["page_bytes"]))

    def test_what_is_not_there_is_said_as_slots_says_it(self):
        self.ok("define", "votes", "--key", "answer", "--missing", "error")
        for code, words in (("unknown_counter", ["vote"]), ("key_missing", ["votes", "no"]), ("key_invalid", ["votes"])):
            self.assertEqual(self.refused(FAILED, code, "inspect", "pages", *words), self.refused(FAILED, code, "slots", *words))
        self.refused(FAILED, "database_unavailable", "inspect", "pages", "votes", "--db", "nowhere.db")


if __name__ == "__main__":
    unittest.main()
