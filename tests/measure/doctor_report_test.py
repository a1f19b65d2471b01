"""doctor at a terminal, stopped by Ctrl-C, and as a page: of a table whose name would be markup, in Debian's Chromium."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import doctor_test
import report_test
from database import setUpModule as find_postgresql
from support import DIFFERENCE, PARTIAL, PROGRAM, environment

NAME = "<script>alert(1)</script>\"'"
QUOTED = '"<script>alert(1)</script>""\'"'


def setUpModule():
    find_postgresql()
    report_test.setUpModule()


class Hot(doctor_test.Watched, report_test.Seen):
    def make_it_hot(self):
        self.sql(f"CREATE TABLE {QUOTED}(id integer PRIMARY KEY, n bigint NOT NULL); INSERT INTO {QUOTED} VALUES (1, 0); "
                 "CREATE TABLE quiet(id integer PRIMARY KEY, n bigint NOT NULL); "
                 "INSERT INTO quiet SELECT k, 0 FROM generate_series(1, 1000) AS k")
        for _ in range(doctor_test.HOT_WRITERS):
            self.write(f"UPDATE {QUOTED} SET n = n + 1 WHERE id = 1", pause=0.002)
        self.keep_running(lambda session: session.run("UPDATE quiet SET n = n + 1 WHERE id = (SELECT (1 + random() * 900)::integer); SELECT pg_sleep(0.01)"))

    def start(self, *words, **streams):
        child = subprocess.Popen([PROGRAM, "doctor", *words], cwd=self.folder, env=environment(SPLITCOUNT_DB=self.address),
                                 text=True, **streams)
        self.addCleanup(lambda: (child.kill(), child.wait()))
        return child


class ReportTest(Hot):
    def test_a_table_whose_name_is_markup_is_drawn_and_stays_text(self):
        self.make_it_hot()
        answer = self.run_program("doctor", "--seconds", "3", "--json", "--report", "doctor.html")
        self.assertEqual(answer.code, DIFFERENCE, answer)
        self.measured = json.loads(answer.out)
        hot, *others = self.measured["tables"]
        self.assertEqual([one["table"] for one in others], ["quiet"])
        self.assertEqual((hot["table"], hot["hot"]), (NAME, True))
        self.assertFalse(any(one["hot"] for one in others))
        updates, waits = self.assert_good_everywhere(self.path("doctor.html"), ["Updates of tables", "Statements that waited for a row"])
        self.assertIn(f"public.{NAME}: {hot['updates']:,}; public.quiet: {others[0]['updates']:,}", updates)
        self.assertIn(f"UPDATE {QUOTED} SET n = n + 1 WHERE id = 1: {self.measured['waits'][0]['waits']:,}", waits)
        raw = self.raw()
        self.assertEqual({name: raw[name] for name in self.measured}, self.measured)
        self.assertIn(NAME, self.browser.evaluate("document.body.innerText"))
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 1, "the page's own")
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.bad-fill').length"), 2, "the bar of what is hot, and its legend")


class TerminalTest(Hot):
    def until_it_watches(self, *words):
        """A run whose standard error is a terminal, once it shows how far it is; (process, what the terminal got)."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        child = self.start(*words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs)
        os.close(theirs)
        self.ours, self.shown = ours, b""
        deadline = time.monotonic() + 60
        while not re.search(rb"\rwatching: [1-9]\d*\.\d of \d+ s", self.shown):
            self.assertLess(time.monotonic(), deadline, self.shown)
            self.read_some()
        return child

    def read_some(self):
        if not select.select([self.ours], [], [], 0.1)[0]:
            return True
        try:
            self.shown += os.read(self.ours, 65536)
        except OSError:  # everybody has closed it
            return False
        return True

    def ended(self, child):
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
        while self.read_some() and b"\r\x1b[K" not in self.shown[-200:]:
            pass
        return child.returncode, out

    def test_progress_is_wiped_and_ctrl_c_keeps_what_was_found(self):
        self.make_it_hot()
        code, out = self.ended(self.until_it_watches("--seconds", "600"))
        self.assertEqual(code, DIFFERENCE, out)
        self.assertIn("Hot: ", out)
        self.assertRegex(out, r"(?m)^table +updates$")
        self.assertRegex(out, r"alert\(1\).*\(hot\) +[\d,]+  \u2588{24}\n")
        self.assertRegex(out, r"(?m)^statement that waited for a row +waits seen$")
        self.assertIn(b"\r\x1b[K", self.shown, "the line is wiped")

    def test_ctrl_c_before_anything_was_found(self):
        code, out = self.ended(self.until_it_watches("--seconds", "600"))
        self.assertEqual(code, PARTIAL, out)
        self.assertIn("Nothing hot was seen", out)
        self.assertIn(b"stopped by a signal before the watch was over", self.shown)

    def test_there_is_no_progress_where_standard_error_is_no_terminal(self):
        child = self.start("--seconds", "1", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(child.communicate(timeout=60)[1], "")


if __name__ == "__main__":
    unittest.main()
