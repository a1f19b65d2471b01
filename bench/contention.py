#!/usr/bin/python3
"""Insert a row and count it, in one round trip, by many sessions at once, in the ways that people do it and in ours.

    bench/contention.py                        PostgreSQL 15; 1, 8 and 64 sessions; five rounds of four seconds each
    bench/contention.py --slow-sync-ms 1       each sync of the server takes a millisecond more
    bench/contention.py --version 18 --sessions 64 --rounds 9 --only limit,one_row,own,journal

From the root of the repository, after ./run and ./test (which install pgbench and the servers). It starts a server of its own
in a temporary folder (synced commits, its defaults but for the memory) and drives it with pgbench over a socket. The
ways take turns within each round, so that what else the machine does hits all of them alike. After each turn the total is
compared with the rows that were inserted: a way that counts wrong ends the run. Prints Markdown tables: the median of the
rounds, and the ratio to `limit` of the same round with its spread."""
import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPOSITORY / "tests" / "postgresql"))
from server import DEBIAN_BIN, Server  # noqa: E402

SPLITCOUNT = REPOSITORY / "build" / "release" / "splitcount"
SLOTS = 64
INSERT = "INSERT INTO prizes(winner, what) VALUES (:client_id, 'a car')"


class Way:
    """define: the options of `splitcount define`; without them `table` is made by hand. statement: what a session sends."""

    def __init__(self, name, what, statement, define=None, table=None, total=None, folds=False):
        self.name, self.what, self.statement, self.define, self.table = name, what, statement, define, table
        self.total, self.folds = f"SELECT total FROM {name}" if total is None else total, folds


def ours(name, what, define, request_id=False, folds=False):
    arguments = "request_id => gen_random_uuid()::text" if request_id else ""
    return Way(name, what, f"{INSERT} RETURNING {name}_add({arguments})", define=define, folds=folds)


ONCE = ["--retries", "once"]
JOURNAL = ["--layout", "journal"]
WAYS = [
    Way("limit", "the same inserts, nothing counted", INSERT, total=""),
    Way("one_row", "one counter row", f"WITH _ AS ({INSERT}) UPDATE one_row_table SET n = n + 1",
        table="CREATE TABLE one_row_table(n bigint NOT NULL) WITH (fillfactor = 50); INSERT INTO one_row_table VALUES (0)",
        total="SELECT n FROM one_row_table"),
    Way("random_11", "11 slots at random, drawn by the session",
        f"\\set slot random(0, 10)\nWITH _ AS ({INSERT}) UPDATE random_11_table SET n = n + 1 WHERE slot = :slot",
        table="CREATE TABLE random_11_table(slot integer PRIMARY KEY, n bigint NOT NULL) WITH (fillfactor = 50);"
              "INSERT INTO random_11_table SELECT generate_series(0, 10), 0",
        total="SELECT sum(n) FROM random_11_table"),
    ours("own", f"a slot of one's own of {SLOTS}, by the function", []),
    Way("own_statement", "the same by the bare statement, the session's number known to it",
        f"WITH _ AS ({INSERT}) UPDATE own_statement_slots SET n = n + 1 WHERE slot = (SELECT slot FROM "
        f"own_statement_slots WHERE slot = :client_id % {SLOTS} FOR NO KEY UPDATE SKIP LOCKED)", define=[]),
    ours("own_once", "the same by the function, with request ids", ONCE, request_id=True),
    ours("journal", "an appended delta, by the function", JOURNAL),
    Way("journal_statement", "the same by the bare statement",
        f"WITH _ AS ({INSERT}) INSERT INTO journal_statement_deltas(slot, n) VALUES (0, 1)", define=JOURNAL),
    ours("journal_once", "by the function, with request ids", [*JOURNAL, *ONCE], request_id=True),
    ours("journal_folded", "by the function, while `maintain` folds", JOURNAL, folds=True),
]


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done.stdout


def say(text):
    """What is going on, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


class Bench:
    def __init__(self, server, seconds, folder):
        self.server, self.seconds, self.folder = server, seconds, folder
        self.database = server.connect("postgres").cursor()

    def ask(self, sql):
        self.database.execute(sql)
        return self.database.fetchone()[0]

    def splitcount(self, *words):
        output_of([SPLITCOUNT, "--db", self.server.address("postgres"), *words])

    def prepare(self, ways):
        self.database.execute("CREATE TABLE prizes(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
                              " winner integer NOT NULL, what text NOT NULL)")
        for way in ways:
            if way.define is not None:
                self.splitcount("define", way.name, "--slots", str(SLOTS), "--pick", "session", *way.define)
            if way.table:
                self.database.execute(way.table)
            (self.folder / way.name).write_text(way.statement + ";\n")

    @contextlib.contextmanager
    def folding(self, way):
        """`maintain`, again and again."""
        if not way.folds:
            yield
            return
        ended = threading.Event()

        def fold():
            while not ended.wait(0.2):
                self.splitcount("maintain", way.name)

        thread = threading.Thread(target=fold)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def turn(self, way, sessions):
        """Transactions per second."""
        self.database.execute("TRUNCATE prizes; CHECKPOINT")
        before = self.ask(way.total) if way.total else 0
        with self.folding(way):
            done = output_of(
                [DEBIAN_BIN / "pgbench", "--no-vacuum", "--protocol", "prepared", "--client", str(sessions), "--jobs",
                 str(min(2, sessions)), "--time", str(self.seconds), "--file", self.folder / way.name,
                 self.server.conninfo("postgres")])
        inserted = self.ask("SELECT count(*) FROM prizes")
        if way.total and self.ask(way.total) - before != inserted:
            sys.exit(f"{way.name} counted {self.ask(way.total) - before} for {inserted} rows")
        return float(re.search(r"tps = ([\d.]+)", done)[1])


def sync_ms(folder):
    """The median time of a small write and its sync, without what --slow-sync-ms adds."""
    times = []
    with open(folder / "sync", "wb", buffering=0) as file:
        for _ in range(200):
            begun = time.perf_counter()
            file.write(b"x" * 512)
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - begun) * 1e3)
    return statistics.median(times)


def ratio_text(values, others):
    ratios = [value / other for value, other in zip(values, others)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


def run(bench, ways, sessions, rounds):
    tps = {way.name: [] for way in ways}
    for round_number in range(rounds):
        for way in ways:
            say(f"{sessions} sessions, round {round_number + 1} of {rounds}, {way.name}")
            tps[way.name].append(bench.turn(way, sessions))
    say("")
    print(f"\n{sessions} session{'s' if sessions > 1 else ''}:\n\n| way | adds/s | of the limit | of one row | of 11 random |"
          "\n|---|---:|---:|---:|---:|")
    for way in ways:
        cells = [ratio_text(tps[way.name], tps[other]) if other in tps else "" for other in ("limit", "one_row", "random_11")]
        print(f"| {way.what} | {statistics.median(tps[way.name]):,.0f} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", type=int, default=15, choices=(15, 18))
    parser.add_argument("--sessions", default="1,8,64")
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slow-sync-ms", type=float, default=0)
    parser.add_argument("--only", help="names of ways: " + ", ".join(way.name for way in WAYS))
    given = parser.parse_args()
    wanted = given.only.split(",") if given.only else [way.name for way in WAYS]
    ways = [way for way in WAYS if way.name in wanted]
    if not SPLITCOUNT.exists() or len(ways) != len(set(wanted)):
        parser.error("build/release/splitcount is not there; ./run builds it" if not SPLITCOUNT.exists() else "no such way")
    with tempfile.TemporaryDirectory() as folder:
        environment = {}
        if given.slow_sync_ms:
            library = Path(folder) / "slow_sync.so"
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, REPOSITORY / "bench" / "slow_sync.c", "-ldl"],
                           check=True)
            os.chmod(folder, 0o755)
            environment = {"LD_PRELOAD": str(library), "SLOW_SYNC_US": str(round(given.slow_sync_ms * 1000))}
        settings = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "'256MB'", "max_wal_size": "'4GB'"}
        with Server(given.version, environment=environment, **settings) as server:
            bench = Bench(server, given.seconds, Path(folder))
            bench.prepare(ways)
            print(f"PostgreSQL {bench.ask('SHOW server_version')}, {os.cpu_count()} processors, a sync takes "
                  f"{sync_ms(Path(folder)):.2f} ms" + (f" and {given.slow_sync_ms:g} ms more" if given.slow_sync_ms else "")
                  + f"; medians of {given.rounds} rounds of {given.seconds} s, the spread in brackets")
            for sessions in given.sessions.split(","):
                run(bench, ways, int(sessions), given.rounds)


if __name__ == "__main__":
    main()
