"""The examples do what they say, and again what they say when they are run again."""
import subprocess
import sys
import unittest

from database import Case, setUpModule  # noqa: F401
from server import DEBIAN_BIN
from support import SOURCE, environment

EXAMPLES = SOURCE / "examples" / "postgresql"


class Examples(Case):
    def setUp(self):
        super().setUp()
        self.define("prizes_won", "--slots", "11", "--pick", "value")
        self.conninfo = self.server.conninfo(self.name)

    def run_example(self, *words):
        done = subprocess.run(words, cwd=self.folder, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def assert_won(self, *prizes):
        self.assertEqual(self.sql("SELECT prize_id, winner FROM prizes ORDER BY 1"), list(prizes))
        expected = [0] * 11
        for prize_id, _ in prizes:
            expected[prize_id % 11] += 1
        self.assertEqual([n for (n,) in self.sql("SELECT n FROM prizes_won_slots ORDER BY slot")], expected)

    def test_plain_sql(self):
        psql = (DEBIAN_BIN / "psql", "--no-psqlrc", "--set", "ON_ERROR_STOP=1", "--file", EXAMPLES / "prize.sql", self.conninfo)
        self.assertRegex(self.run_example(*psql), r"prizes_won \n-+\n +2\n")
        self.assert_won((4711, "Ada"), (4712, "Grace"))
        again = subprocess.run(psql, cwd=self.folder, env=environment(), capture_output=True, text=True, check=False)
        self.assertIn("duplicate key", again.stderr)
        self.assert_won((4711, "Ada"), (4712, "Grace"))

    def test_python_and_perl(self):
        for number, (program, file) in enumerate(((sys.executable, "prize.py"), ("perl", "prize.pl"))):
            with self.subTest(file):
                words = (program, EXAMPLES / file, self.conninfo.replace(" ", ";") if file.endswith("pl") else self.conninfo)
                self.assertEqual(self.run_example(*words, str(5000 + number), "Barbara"), f"prizes won: {number + 1}\n")
                self.assertEqual(self.run_example(*words, str(5000 + number), "Margaret"),
                                 f"prize {5000 + number} was won before, and is counted once\nprizes won: {number + 1}\n")
        self.assert_won((5000, "Barbara"), (5001, "Barbara"))


if __name__ == "__main__":
    unittest.main()
