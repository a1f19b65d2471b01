"""kill -9 at random points: of count, started again until it is done, and of eight loops of add side by side."""
import random
import signal
import subprocess
import threading
import time
import unittest

from support import DONE, FAILED, LOG, LOG_LINES, PROGRAM, UNKNOWN, Case, environment, kill_points, random_numbers, targets_of

WRITERS = 8


class Count(Case):
    COPIES = 12

    def start(self, *words):
        return subprocess.Popen([PROGRAM, "count", "big.log", *words], cwd=self.folder, env=environment(),
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def seconds_of_a_whole_run(self):
        started = time.monotonic()
        self.assertEqual(self.start("--db", "timed.db").wait(timeout=600), DONE)
        return time.monotonic() - started

    def kill_until_done(self, numbers, longest, *words, is_done=lambda: False):
        """Starts it again and again, each time killed after a while, until one run ends by itself, or was killed when it
        had done everything. How many were killed."""
        killed = 0
        while True:
            child = self.start(*words)
            try:
                self.assertEqual(child.wait(timeout=numbers.uniform(0, longest)), DONE)
                return killed
            except subprocess.TimeoutExpired:
                child.send_signal(signal.SIGKILL)
                if child.wait(timeout=60) == DONE:
                    return killed
                killed += 1
                if is_done():
                    return killed
                # Where a run is killed before it can commit, a later one gets more time.
                longest *= 1.05

    def test_each_line_counts_once_wherever_it_was_killed(self):
        numbers = random_numbers("count")
        self.copy_log("big.log", times=self.COPIES)
        right = {key: self.COPIES * n for key, n in targets_of(LOG.read_bytes()).items()}
        longest = self.seconds_of_a_whole_run()
        wanted, killed, rounds = kill_points(40, 8, 400), 0, 0
        while killed < wanted:
            name = f"round_{rounds}.db"
            killed += self.kill_until_done(numbers, longest, "--db", name)
            rounds += 1
            self.assertEqual(self.counts(database=name), right, f"after {killed} kills")
            self.assertEqual(self.json("count", "big.log", "--db", name)["lines_read"], 0)
            for left in self.folder.glob(f"{name}*"):
                left.unlink()
        print(f"count: {killed} kills in {rounds} rounds", flush=True)

    def is_again_done(self, right):
        """Whether the killed run had also noted its end: if not, the next --again finishes that one and counts no other."""
        return sum(self.counts().values()) == right and not self.json("count", "big.log")["files"][0]["again_unfinished"]

    def test_again_counts_once_more_wherever_it_was_killed(self):
        numbers = random_numbers("again")
        self.copy_log("big.log", times=self.COPIES)
        self.json("count", "big.log")
        longest = self.seconds_of_a_whole_run()
        wanted, killed, rounds = kill_points(10, 2, 100), 0, 0
        while killed < wanted:
            rounds += 1
            times = self.COPIES * (1 + rounds)
            killed += self.kill_until_done(numbers, longest, "--again",
                                           is_done=lambda right=times * LOG_LINES: self.is_again_done(right))
            self.assertEqual(self.counts(), {key: times * n for key, n in targets_of(LOG.read_bytes()).items()},
                             f"after {killed} kills in {rounds} rounds")
        print(f"count --again: {killed} kills in {rounds} rounds", flush=True)


class Add(Case):
    """Each writer starts one add after the other and kills some; it knows what was acknowledged and what is unknown."""

    def run_writers(self, name, kills, write):
        """Eight loops of `write`, which says whether it killed an add that had not ended, until there are enough kills."""
        numbers = random_numbers(name)
        killed, failures, lock = [0], [], threading.Lock()

        def loop(writer, seed):
            own = random.Random(seed)
            try:
                while killed[0] < kills and not failures:
                    was_killed = write(writer, own)
                    with lock:
                        killed[0] += was_killed
            except BaseException as failure:  # handed to the test, which raises it
                failures.append(failure)

        threads = [threading.Thread(target=loop, args=(n, numbers.random())) for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return killed[0]

    def add(self, *words, kill_after=None):
        """The exit code; None where it was killed before it ended."""
        child = subprocess.Popen([PROGRAM, "add", *words], cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _, err = child.communicate(timeout=kill_after if kill_after is not None else 120)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            _, err = child.communicate(timeout=60)
            if child.returncode == -signal.SIGKILL:
                return None
        self.assertIn(child.returncode, (DONE, UNKNOWN), err)
        return child.returncode

    def kill_time(self, own):
        """A random time within which an add among eight is about to end, whatever the machine."""
        return own.uniform(0, 1.5) * self.seconds_of_an_add

    def measure(self, *words):
        started = time.monotonic()
        children = [subprocess.Popen([PROGRAM, "add", *words, "--by", "0"], cwd=self.folder, env=environment(),
                                     stdout=subprocess.DEVNULL) for _ in range(WRITERS)]
        for child in children:
            self.assertEqual(child.wait(timeout=120), DONE)
        self.seconds_of_an_add = time.monotonic() - started

    def test_the_total_lies_between_acknowledged_and_acknowledged_plus_unknown(self):
        self.ok("define", "hits", "--slots", "4")
        self.measure("hits")
        acked, unknown, lock = [0], [0], threading.Lock()

        def write(_, own):
            amount = own.randrange(1, 10)
            for kill_after in [None] * own.randrange(0, 2) + [self.kill_time(own)]:
                code = self.add("hits", "--by", str(amount), kill_after=kill_after)
                with lock:
                    if code != FAILED:
                        (acked if code == DONE else unknown)[0] += amount
            return code is None

        killed = self.run_writers("add", kill_points(40, 8, 1000), write)
        total = self.total("hits")
        print(f"add: {killed} kills, acknowledged {acked[0]}, unknown {unknown[0]}, total {total}", flush=True)
        self.assertLessEqual(acked[0], total)
        self.assertLessEqual(total, acked[0] + unknown[0])
        self.assertEqual(sum(slot["n"] for slot in self.json("slots", "hits")), total)

    def test_with_request_ids_and_repeats_until_answered_it_is_exact(self):
        self.ok("define", "k", "--key", "page", "--retries", "once")
        self.measure("k", "/0")
        right, lock = [0], threading.Lock()

        def write(writer, own):
            amount, request_id = own.randrange(-5, 10), f"{writer} {own.random()}"
            words = ("k", f"/{own.randrange(3)}", "--by", str(amount), "--request-id", request_id)
            first = self.add(*words, kill_after=self.kill_time(own))
            answered = first == DONE
            while not answered:
                answered = self.add(*words) == DONE
            with lock:
                right[0] += amount
            return first is None

        killed = self.run_writers("once", kill_points(40, 8, 1000), write)
        print(f"once: {killed} kills", flush=True)
        self.assertEqual(self.total("k"), right[0])


if __name__ == "__main__":
    unittest.main()
