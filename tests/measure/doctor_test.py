"""doctor names the hot row among busy tables and nothing else, and says what it could not see. It only reads."""
import json
import random
import re
import threading
import unittest

import psycopg2

import support
from database import VERSION, Case, setUpModule  # noqa: F401
from server import Server
from support import DIFFERENCE, DONE, USAGE, environment, random_numbers

SECONDS = "2"
HOT_WRITERS = 6


class Watched(Case):
    def setUp(self):
        super().setUp()
        self.stop = threading.Event()
        self.threads = []
        self.failed = []

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join(60)
        self.assertEqual(self.failed, [])

    def keep_running(self, step):
        """A session of its own that does it again and again until the test ends."""
        session = self.session()
        self.addCleanup(self.end)  # before the session is closed

        def work():
            try:
                while not self.stop.is_set():
                    step(session)
            except psycopg2.Error as error:
                self.failed.append(error)

        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()

    def write(self, statement, values=lambda: None, pause=0.0):
        """Each in a transaction of its own, which stays open for a moment."""
        def step(session):
            session.run("BEGIN")
            session.cursor.execute(statement, values())
            if pause:
                session.run("SELECT pg_sleep(%s)", pause)
            session.run("COMMIT")

        self.keep_running(step)

    def doctor(self, *words, code, env=None):
        answer = self.run_program("doctor", "--seconds", SECONDS, *words, env=env)
        self.assertEqual(answer.code, code, answer)
        self.assertEqual(answer.err, "", answer)
        return answer.out

    def diagnosis(self, code, **how):
        return json.loads(self.doctor("--json", code=code, **how))


class HotRows(Watched):
    def make_busy_tables(self, count=100, rows=1000):
        self.sql(f"""DO $$ BEGIN FOR i IN 1..{count} LOOP
                     EXECUTE format('CREATE TABLE busy_%s(id integer PRIMARY KEY, n bigint NOT NULL DEFAULT 0)', i);
                     EXECUTE format('INSERT INTO busy_%s(id) SELECT generate_series(1, {rows})', i); END LOOP; END $$""")

        for _ in range(4):
            numbers = random.Random(self.numbers.random())
            self.keep_running(lambda session, n=numbers: session.run(
                f"UPDATE busy_{n.randint(1, count)} SET n = n + 1 WHERE id = %s", n.randint(1, rows)))

    def setUp(self):
        super().setUp()
        self.numbers = random_numbers(self.id())

    def test_one_hot_row_among_a_hundred_busy_tables_is_named_and_nothing_else(self):
        self.make_busy_tables()
        self.sql("CREATE TABLE votes(id integer PRIMARY KEY, n bigint NOT NULL, name text); INSERT INTO votes VALUES (1, 0)")
        for _ in range(HOT_WRITERS):
            self.write("UPDATE votes SET n = n + 1 WHERE id = 1", pause=0.002)
        diagnosis = self.diagnosis(DIFFERENCE)
        (finding,) = diagnosis["findings"]
        self.assertEqual((finding["schema"], finding["table"], finding["column"]), ("public", "votes", "n"))
        self.assertEqual(finding["statement"], "UPDATE votes SET n = n + 1 WHERE id = 1")
        self.assertEqual((finding["rows"], finding["is_counter"]), (1, False))
        self.assertGreater(finding["looks_waited"], diagnosis["looks"] / 2)
        self.assertGreater(finding["waiters_most"], 1)
        self.assertEqual(finding["remedy"]["command"], "splitcount define votes_n")
        self.assertEqual(finding["remedy"]["instead"], "SELECT votes_n_add()")
        self.assertEqual(finding["remedy"]["cautions"], [])
        self.assertGreaterEqual(diagnosis["seconds"], 1.9)
        text = self.doctor(code=DIFFERENCE)
        self.assertEqual(re.findall(r"(?m)^Hot: (.*)$", text), ["public.votes, column n"])
        self.assertIn("statement  UPDATE votes SET n = n + 1 WHERE id = 1\n", text)
        self.end()
        self.threads.clear()
        # What it says to do can be done.
        total = self.one("SELECT n FROM votes")
        self.run_checked("define", "votes_n")
        self.sql(finding["remedy"]["carry_over"])
        self.sql(finding["remedy"]["instead"])
        self.assertEqual(self.sql(finding["remedy"]["read"]), [(total + 1,)])

    def test_a_hot_row_in_a_table_of_a_hundred_thousand_is_named_by_who_waits(self):
        self.sql("""CREATE TABLE pages(page text PRIMARY KEY, views bigint NOT NULL DEFAULT 0);
                    INSERT INTO pages(page) SELECT '/page ' || k FROM generate_series(1, 100000) AS k""")
        for _ in range(HOT_WRITERS):
            self.write("UPDATE pages SET views = views + 1 WHERE page = '/page 7'", pause=0.002)
        for _ in range(2):
            numbers = random.Random(self.numbers.random())
            self.write("UPDATE pages SET views = views + 1 WHERE page = '/page ' || %s", lambda n=numbers: (n.randint(1, 100000),))
        (finding,) = self.diagnosis(DIFFERENCE)["findings"]
        self.assertEqual((finding["table"], finding["column"], finding["rows"]), ("pages", "views", None))
        self.assertEqual(finding["statement"], "UPDATE pages SET views = views + 1 WHERE page = '?'")
        self.assertEqual(finding["remedy"]["command"], "splitcount define pages_views --key page")
        self.assertEqual(finding["remedy"]["instead"], "SELECT pages_views_add(page::text)")

    def test_a_row_that_one_session_updates_all_the_time_is_named_by_its_updates(self):
        self.sql("CREATE TABLE visits(n bigint NOT NULL); INSERT INTO visits VALUES (0)")
        self.keep_running(lambda session: session.run("UPDATE visits SET n = n + 1"))
        (finding,) = self.diagnosis(DIFFERENCE)["findings"]
        self.assertEqual((finding["table"], finding["column"], finding["looks_waited"]), ("visits", "n", 0))

    def test_a_trigger_that_counts_is_named(self):
        self.sql("""CREATE TABLE cars(id bigint GENERATED ALWAYS AS IDENTITY); CREATE TABLE car_count(n bigint NOT NULL);
                    INSERT INTO car_count VALUES (0);
                    CREATE FUNCTION count_car() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN UPDATE car_count SET n = n + 1; RETURN NULL; END $$;
                    CREATE TRIGGER count_car AFTER INSERT ON cars FOR EACH ROW EXECUTE FUNCTION count_car()""")
        for _ in range(HOT_WRITERS):
            self.write("INSERT INTO cars DEFAULT VALUES", pause=0.002)
        (finding,) = self.diagnosis(DIFFERENCE)["findings"]
        self.assertEqual((finding["table"], finding["column"], finding["found_in"]), ("car_count", "n", 'function "count_car"'))

    def test_conditions_on_the_count_are_warned_of(self):
        self.sql("CREATE TABLE stock(id integer PRIMARY KEY, left_over bigint NOT NULL); INSERT INTO stock VALUES (1, 1000000000)")
        for _ in range(HOT_WRITERS):
            self.write("UPDATE stock SET left_over = left_over - 1 WHERE id = 1 AND left_over > 0 RETURNING left_over", pause=0.002)
        (finding,) = self.diagnosis(DIFFERENCE)["findings"]
        self.assertEqual(len(finding["remedy"]["cautions"]), 2)
        self.assertEqual(finding["remedy"]["instead"], "SELECT stock_left_over_add(amount => -1)")

    def test_hostile_names_come_out_harmless_and_exact(self):
        self.sql('CREATE TABLE "Vo\n\x1b[31m""tes\'"("Id" integer, "N\x07 \\" bigint); INSERT INTO "Vo\n\x1b[31m""tes\'" VALUES (1, 0)')
        for _ in range(HOT_WRITERS):
            self.write('UPDATE "Vo\n\x1b[31m""tes\'" SET "N\x07 \\" = "N\x07 \\" + 1 WHERE "Id" = 1', pause=0.002)
        (finding,) = self.diagnosis(DIFFERENCE)["findings"]
        self.assertEqual((finding["table"], finding["column"]), ("Vo\n\x1b[31m\"tes'", "N\x07 \\"))
        self.assertEqual(finding["remedy"]["command"], "splitcount define vo_31m_tes_n")
        text = self.doctor(code=DIFFERENCE)
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f]")
        self.assertIn("Hot: \"public.Vo\\x0A\\x1B[31m\\\"tes'\"", text)


class NothingHot(Watched):
    def assert_nothing(self):
        diagnosis = self.diagnosis(DONE)
        self.assertEqual(diagnosis["findings"], [])
        return diagnosis

    def test_an_idle_database(self):
        self.sql("CREATE TABLE votes(n bigint); INSERT INTO votes VALUES (0)")
        self.assertRegex(self.doctor(code=DONE), r"\ANothing hot was seen in 2\.\d s, \d+ looks\.\n")

    def test_wide_cold_updates(self):
        self.sql("CREATE TABLE cold(id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO cold SELECT k, 0 FROM generate_series(1, 100000) AS k")
        self.write("UPDATE cold SET n = n + 1")
        self.write("UPDATE cold SET n = n + 1")
        numbers = random_numbers(self.id())
        self.sql("CREATE TABLE many(id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO many SELECT k, 0 FROM generate_series(1, 1000) AS k")
        for _ in range(4):
            mine = random.Random(numbers.random())
            self.write("UPDATE many SET n = n + 1 WHERE id = %s", lambda m=mine: (m.randint(1, 1000),))
        self.assert_nothing()

    def test_a_long_transaction_is_no_hot_row(self):
        self.sql("CREATE TABLE votes(id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO votes VALUES (1, 0)")
        holder = self.session()
        holder.run("BEGIN; UPDATE votes SET n = n + 1")
        for _ in range(3):
            session = self.session(settings="-c lock_timeout=60s")
            self.threads.append(threading.Thread(target=session.run, args=("UPDATE votes SET n = n + 1 WHERE id = 1",)))
            self.threads[-1].start()
        self.addCleanup(self.end)
        self.addCleanup(holder.run, "ROLLBACK")
        self.wait_until(lambda: self.one("SELECT count(*) FROM pg_locks WHERE NOT granted") == 3, "they wait")
        diagnosis = self.assert_nothing()
        self.assertRegex(diagnosis["noticed"][0], r'"public.votes".*one transaction')

    def test_slots_of_our_own(self):
        self.define("hits", "--slots", "16")
        for _ in range(HOT_WRITERS):
            self.write("SELECT hits_add()", pause=0.002)
        self.assert_nothing()

    def test_it_only_reads_and_says_what_a_weak_role_could_not_see(self):
        self.sql("CREATE ROLE looks_only LOGIN; CREATE TABLE votes(id integer, n bigint); INSERT INTO votes VALUES (1, 0)")
        self.addCleanup(self.sql, "DROP OWNED BY looks_only; DROP ROLE looks_only")
        weak = environment(SPLITCOUNT_DB=self.server.address(self.name, user="looks_only"))
        diagnosis = self.diagnosis(DONE, env=weak)
        self.assertTrue(any("GRANT pg_read_all_stats TO looks_only" in sentence for sentence in diagnosis["unseen"]), diagnosis)
        self.assertTrue(any("pg_stat_statements" in sentence for sentence in diagnosis["unseen"]), diagnosis)
        for _ in range(HOT_WRITERS):
            self.write("UPDATE votes SET n = n + 1 WHERE id = 1", pause=0.002)
        (finding,) = self.diagnosis(DIFFERENCE, env=weak)["findings"]
        self.assertEqual((finding["table"], finding["statement"], finding["column"]), ("votes", None, None))


class Words(support.Case):
    def test_what_cannot_be_right_is_refused_before_a_database_is_looked_for(self):
        for seconds in ("0", "-1", "1.5", "3601", "x", ""):
            answer = self.run_program("doctor", f"--seconds={seconds}", "--db", "postgresql://nowhere.invalid/x")
            self.assertEqual(answer.code, USAGE, answer)
            self.assertIn("a whole number from 1 to 3,600", answer.err)

    def test_sqlite_keeps_no_statistics_and_a_trigger_is_no_finding(self):
        self.ok("define", "hits", "--retries", "once")
        database = self.database()
        database.executescript("""CREATE TABLE cars(id INTEGER PRIMARY KEY); CREATE TABLE car_count(n INTEGER NOT NULL);
            CREATE TRIGGER "count \x1b cars" AFTER INSERT ON cars BEGIN UPDATE car_count SET n = n + 1; END;""")
        before = self.dump()
        diagnosis = self.json("doctor")
        self.assertEqual((diagnosis["findings"], diagnosis["looks"]), ([], 0))
        self.assertEqual(len(diagnosis["unseen"]), 1)
        self.assertIn("SQLite keeps no statistics", diagnosis["unseen"][0])
        (noticed,) = diagnosis["noticed"]
        self.assertIn('trigger "count \\x1B cars" counts in column "n" of "car_count"', noticed)
        self.assertNotIn("\x1b", self.ok("doctor"))
        self.assertEqual(self.dump(), before)



class StatementStatistics(Watched):
    """Where the server keeps count of statements (pg_stat_statements)."""

    @classmethod
    def setUpClass(cls):
        cls.own = Server(VERSION, shared_preload_libraries="'pg_stat_statements'")
        cls.addClassCleanup(cls.own.stop)

    def find_server(self):
        return self.own

    def test_they_are_among_the_evidence(self):
        self.sql("CREATE EXTENSION pg_stat_statements")
        self.sql("CREATE TABLE votes(id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO votes VALUES (1, 0)")
        for _ in range(HOT_WRITERS):
            self.write("UPDATE votes SET n = n + 1 WHERE id = 1", pause=0.002)
        diagnosis = self.diagnosis(DIFFERENCE)
        (finding,) = diagnosis["findings"]
        self.assertEqual((finding["table"], finding["column"]), ("votes", "n"))
        self.assertGreater(finding["calls"], 10)
        self.assertGreater(finding["call_ms"], 0)
        self.assertFalse([sentence for sentence in diagnosis["unseen"] if "pg_stat_statements" in sentence])


if __name__ == "__main__":
    unittest.main()
