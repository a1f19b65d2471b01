"""Journals by the command line and by SQL: `maintain`, what `status` says where it is overdue, and who may do it."""
import json
import unittest

from database import Case, setUpModule  # noqa: F401
from rights_test import Rights
from support import DIFFERENCE, DONE, FAILED, PARTIAL

INVALID_ARGUMENT = "SC001"


class Maintained(Case):
    def append(self, counter, count):
        self.assertEqual(self.one(f"SELECT count(*) FROM generate_series(1, {count}) WHERE {counter}_add()"), count)

    def test_status_exits_3_and_names_the_counter_until_it_is_maintained(self):
        self.define("likes", "--layout", "journal")
        self.define("hits")
        self.append("likes", 50_000)
        self.assertEqual(self.run_program("status").code, DONE)
        self.append("likes", 1)
        status = self.run_program("status")
        self.assertEqual(status.code, DIFFERENCE, status)
        self.assertRegex(status.out, r"(?m)^Overdue: likes has more than 50,000 .*`splitcount maintain likes`")
        with_json = self.run_program("status", "--json")
        self.assertEqual(with_json.code, DIFFERENCE, with_json)
        self.assertEqual(len(json.loads(with_json.out)["overdue"]), 1)
        self.assertEqual(self.run_checked("maintain"), "likes: 50,001 deltas folded\n")
        self.assertEqual(self.json("status")["overdue"], [])
        self.assertEqual(self.run_checked("maintain"), "nothing was due in 2 counters\n")
        self.assertEqual(self.total("likes"), 50_001)

    def test_a_counter_that_somebody_else_is_folding_leaves_the_others_done(self):
        for counter in ("hits", "likes"):
            self.define(counter, "--layout", "journal")
            self.append(counter, 5)
        other = self.session()
        other.rows("BEGIN; SELECT hits_fold()")
        answer = self.run_program("maintain", "--json")
        self.assertEqual(answer.code, PARTIAL, answer)
        self.assertIn("hits is not done: another session is folding", answer.err)
        hits, likes = json.loads(answer.out)
        self.assertEqual((hits["deltas_folded"], hits["error"]["code"]), (0, "database_busy"))
        self.assertEqual(likes, {"counter": "likes", "deltas_folded": 5, "ids_purged": 0})
        self.refused(FAILED, "database_busy", "maintain", "hits")
        other.run("COMMIT")
        self.assertEqual(self.run_checked("maintain"), "nothing was due in 2 counters\n")

    def test_sql_folds_from_the_last_page_down(self):
        self.define("hits", "--layout", "journal")
        self.append("hits", 10_000)
        pages = self.one("SELECT pg_relation_size('hits_deltas') / current_setting('block_size')::int")
        folded, left = self.sql("SELECT folded, pages_left FROM hits_fold(milliseconds => 0)")[0]
        self.assertEqual(left, pages - 16)
        self.assertEqual(self.one("SELECT count(*) FROM hits_deltas"), 10_000 - folded)
        self.assertEqual(self.sql("SELECT folded, pages_left FROM hits_fold(%s, 60000)", left), [(10_000 - folded, 0)])
        self.assertEqual(self.sql("SELECT folded, pages_left FROM hits_fold()"), [(0, 0)])
        self.assertEqual(self.one("SELECT sum(n) FROM hits_slots"), 10_000)
        self.assert_state(INVALID_ARGUMENT, self.session(settings="-c default_transaction_isolation=serializable").run,
                          "SELECT hits_fold()")

    def test_describe_shows_what_is_there(self):
        self.define("hits", "--key", "page", "--layout", "journal")
        self.append_to_page()
        described = self.json("describe", "hits")
        self.assertIn("hits_deltas", described["objects"])
        self.assertEqual((described["keys"], described["total"], described["slots"]), (1, 1, 1))

    def append_to_page(self):
        self.sql("SELECT hits_add('/')")


class WhoMayMaintain(Rights):
    def test_a_role_needs_to_execute_the_functions_and_no_more(self):
        self.define("hits", "--layout", "journal", "--retries", "once:1s")
        self.grant("SELECT ON splitcount_schema, splitcount_counters")
        self.sql("SELECT hits_add()")
        as_keeper, self.address = self.address, self.server.address(self.name, user=self.app)
        self.refused(FAILED, "permission_denied", "maintain")
        self.grant("EXECUTE ON FUNCTION hits_fold, hits_purge")
        self.assertEqual(self.run_checked("maintain"), "hits: 1 delta folded\n")
        status = self.run_program("status")
        self.assertEqual(status.code, DONE, status)
        self.assertIn("may not read hits_deltas", status.out)
        self.address = as_keeper
        self.assertNotIn("hits_deltas", self.run_checked("status"))


if __name__ == "__main__":
    unittest.main()
