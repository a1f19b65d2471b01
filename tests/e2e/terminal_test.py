"""At a terminal: a progress bar, colours, tables as wide as it is, and a question before something is removed."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
import unittest

from support import DONE, FAILED, PROGRAM, Case, environment


class AtATerminal(Case):
    def at_terminal(self, *words, answers=b"", columns=80, stdout=None, stderr=None, **changes):
        """Runs with a terminal as its standard streams; (exit code, what the terminal got)."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=environment(**changes), stdin=theirs,
                                 stdout=stdout or theirs, stderr=stderr or theirs)
        os.close(theirs)
        os.write(ours, answers)
        got = b""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 0.1)[0]:
                if child.poll() is not None:
                    break
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal's end: everybody has closed it
                break
            if not piece:
                break
            got += piece
        os.close(ours)
        return child.wait(timeout=60), got.decode()

    def test_count_shows_a_progress_bar_on_standard_error_only(self):
        self.copy_log(times=20)
        code, shown = self.at_terminal("count", "access.log", stdout=subprocess.DEVNULL)
        self.assertEqual(code, DONE)
        self.assertRegex(shown, r"\raccess.log  \[[#.]{24}\] +\d+%  [\d,]+ lines, [\d,]+ a second")
        self.assertTrue(shown.endswith("\r\x1b[K"), shown[-40:])

    def test_there_is_no_bar_where_standard_error_is_no_terminal(self):
        self.copy_log()
        code, shown = self.at_terminal("count", "access.log", stderr=subprocess.DEVNULL)
        self.assertEqual(code, DONE)
        self.assertNotIn("%", shown)
        self.assertNotIn("\r\x1b[K", shown)

    def test_colours_only_where_they_are_wanted(self):
        self.ok("define", "k", "--key", "page")
        self.ok("add", "k", "/home")
        self.assertIn("\x1b[1m", self.at_terminal("top", "k")[1])
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            self.assertNotIn("\x1b", self.at_terminal("top", "k", **changes)[1])
        self.assertNotIn("\x1b", self.ok("top", "k"))
        self.assertNotIn("\x1b", self.at_terminal("top", "k", "--json")[1])

    def test_wide_tables_are_cut_to_the_terminal_and_nowhere_else(self):
        self.ok("define", "k", "--key", "page")
        key = "/" + "x" * 300
        self.ok("add", "k", key)
        shown = self.at_terminal("top", "k", columns=60, NO_COLOR="1")[1]
        self.assertLessEqual(max(map(len, shown.split("\r\n"))), 60)
        self.assertIn("x… ", shown)
        self.assertIn(key, self.ok("top", "k"))

    def test_bars_are_ascii_where_the_locale_is(self):
        self.ok("define", "k", "--key", "page")
        self.ok("add", "k", "/home")
        self.assertIn("#", self.at_terminal("top", "k", LC_ALL="C")[1])
        self.assertIn("█", self.at_terminal("top", "k")[1])

    def test_removing_asks_and_obeys(self):
        self.ok("define", "hits")
        code, shown = self.at_terminal("drop", "hits", answers=b"n\n")
        self.assertEqual(code, FAILED, shown)
        self.assertIn("Drop hits with all its counts? [y/N]", shown)
        self.assertEqual(len(self.json("list")), 1)
        code, shown = self.at_terminal("uninstall", answers=b"\n")
        self.assertEqual(code, FAILED, shown)
        self.assertEqual(len(self.json("list")), 1)
        code, shown = self.at_terminal("drop", "hits", answers=b"y\n")
        self.assertEqual(code, DONE, shown)
        self.assertEqual(self.json("list"), [])
        self.assertEqual(self.at_terminal("uninstall", answers=b"yes\n")[0], DONE)

    def test_an_unknown_counter_is_not_asked_about(self):
        self.ok("define", "hits")
        code, shown = self.at_terminal("drop", "hit")
        self.assertEqual(code, FAILED)
        self.assertNotIn("[y/N]", shown)


if __name__ == "__main__":
    unittest.main()
