"""What the tests of the command line share: a folder of one's own, the program, and what it may answer."""
import ctypes
import json
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

PROGRAM = os.environ["SPLITCOUNT_PROGRAM"]
SOURCE = Path(__file__).resolve().parents[2]
LOG = SOURCE / "examples" / "access.log"
LOG_LINES = 10_000

# Exit codes, as docs/cli.md names them.
DONE, FAILED, USAGE, DIFFERENCE, UNKNOWN, PARTIAL = range(6)

IS_SHORT = bool(os.environ.get("SPLITCOUNT_TEST_SHORT"))
IS_LONG = bool(os.environ.get("SPLITCOUNT_TEST_LONG"))
SEED = int(os.environ.get("SPLITCOUNT_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)


def kill_points(release, short, long):
    """How many random points a crash test tries: fewer under sanitizers, more with ./test --long."""
    return long if IS_LONG else short if IS_SHORT else release


def random_numbers(name):
    """Seeded; the seed is printed, so that a failure can be repeated with SPLITCOUNT_TEST_SEED."""
    print(f"{name}: SPLITCOUNT_TEST_SEED={SEED}", flush=True)
    return random.Random(f"{name} {SEED}")


def environment(**changes):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SPLITCOUNT_") and k not in ("NO_COLOR", "COLUMNS")}
    kept.update({"LC_ALL": "C.UTF-8", "TERM": "xterm", **changes})
    return kept


def without_capabilities():
    """For preexec_fn: root obeys file permissions like anybody else (prctl PR_CAPBSET_DROP; the exec then has none)."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for capability in range(64):
        prctl(24, capability, 0, 0, 0)


def with_file_size_limit(size_bytes):
    """For preexec_fn: a write beyond that size fails."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, size_bytes))


class Answer:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class Case(unittest.TestCase):
    """One test: an empty folder as the current one, removed afterwards."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="splitcount_e2e_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_program(self, *words, stdin=b"", text=True, env=None, **how):
        how.setdefault("timeout", 300)
        if isinstance(stdin, str):
            stdin = stdin.encode()
        done = subprocess.run([PROGRAM, *words], input=stdin, cwd=self.folder, env=env or environment(),
                              stdout=how.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE, check=False, **how)
        if text:
            done.stdout = (done.stdout or b"").decode()
            done.stderr = done.stderr.decode()
        return Answer(done)

    def ok(self, *words, **how):
        """It is done, and nobody complains. What it says."""
        answer = self.run_program(*words, **how)
        self.assertEqual(answer.code, DONE, answer)
        self.assertEqual(answer.err, "", answer)
        return answer.out

    def json(self, *words, **how):
        return json.loads(self.ok(*words, "--json", **how))

    def refused(self, exit_code, error_code, *words, **how):
        """One sentence on standard error, and with --json the error as an object. The sentence."""
        answer = self.run_program(*words, **how)
        self.assertEqual(answer.code, exit_code, answer)
        self.assertEqual(answer.out, "", answer)
        self.assert_one_sentence(answer.err)
        with_json = self.run_program("--json", *words, **how)
        self.assertEqual(with_json.code, exit_code, with_json)
        self.assert_one_sentence(with_json.err)
        error = json.loads(with_json.out)["error"]
        self.assertEqual(list(error), ["code", "message", "retryable", "outcome_unknown"])
        self.assertEqual(error["code"], error_code, error)
        self.assertEqual(f"splitcount: {error['message']}\n", with_json.err)
        self.error = error
        return error["message"]

    def assert_one_sentence(self, text):
        self.assertRegex(text, r"\Asplitcount: [^\n\x00-\x1f\x7f]+[^.\n]\n\Z")

    def total(self, name, *keys, **how):
        return self.json("total", name, *keys, **how)["total"]

    def path(self, name):
        return self.folder / name

    def write(self, name, content):
        data = content if isinstance(content, bytes) else content.encode()
        self.path(name).write_bytes(data)
        return name

    def copy_log(self, name="access.log", times=1):
        self.write(name, LOG.read_bytes() * times)
        return name

    def database(self, name="splitcount.db"):
        connection = sqlite3.connect(self.path(name), isolation_level=None)
        self.addCleanup(connection.close)
        return connection

    def dump(self, name="splitcount.db"):
        """All that a database holds, schema and rows."""
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro", uri=True) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            rows = {table: connection.execute(f'SELECT * FROM "{table}"').fetchall() for table in tables}
        connection.close()
        return schema, rows

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())

    def counts(self, name="page_views", database="splitcount.db"):
        with sqlite3.connect(f"file:{self.path(database)}?mode=ro", uri=True) as connection:
            counts = dict(connection.execute(f"SELECT * FROM {name}").fetchall())
        connection.close()
        return counts


class ServerCase(Case):
    """One whose program uses the database at self.address where no other one is named."""

    def run_program(self, *words, env=None, **how):
        return super().run_program(*words, env=env or environment(SPLITCOUNT_DB=self.address), **how)

    def define(self, counter, *options):
        self.run_checked("define", counter, *options)

    def run_checked(self, *words, **how):
        answer = self.run_program(*words, **how)
        self.assertEqual(answer.code, DONE, answer)
        return answer.out

    def wait_until(self, true, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)


def targets_of(data):
    """The request's target of each line of an access log, counted the slow and obvious way."""
    counts = Counter()
    for line in data.split(b"\n")[:-1]:
        counts[line.split(b'"')[1].split(b" ")[1].decode()] += 1
    return dict(counts)
