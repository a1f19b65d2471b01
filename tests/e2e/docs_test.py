"""docs/cli.md, docs/two-articles.md and docs/growing.md tell the truth: their transcripts are what really happens, and lists are complete.

    SPLITCOUNT_PROGRAM=… python3 docs_test.py rewrite        puts what happens into the pages, for a change on purpose

Blocks of the kind `console` run here; those of the kind `console postgresql` run in tests/postgresql.
"""
import os
import re
import subprocess
import sys
import unittest

from support import PROGRAM, SOURCE, Case, environment
from verbs_test import VERBS

DOCS = SOURCE / "docs" / "cli.md"
ARTICLES = SOURCE / "docs" / "two-articles.md"
GROWING = SOURCE / "docs" / "growing.md"
# What differs from run to run and from machine to machine.
VARIES = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME"),
    (r'"(seconds|lines_per_second|size_bytes)":[\d.e-]+', r'"\1":0'),
    (r'"engine_version":"[\d.]+"', '"engine_version":"0"'),
    (r'database "[^"]*/([^"/]+)"', r'database "\1"'),
    (r'(the PostgreSQL database) "[^"]*" on "[^"]*"', r'\1 "shop" on "db.example"'),
    (r"(lines per second +|size +|sqlite )[\d,.]+", r"\1 0"),
]


def settled(text):
    for pattern, replacement in VARIES:
        text = re.sub(pattern, replacement, text)
    return re.sub(r" +", " ", text)


def transcript(block):
    """(command, what it printed) of one console block, in order. A command goes on after a backslash, and to the end of
    a here-document."""
    line = r"[^\n]*\n"
    command = rf"((?:[^\n]*\\\n)*(?:[^\n]*<<'(\w+)'{line}(?:{line})*?\2\n|{line}))(.*)"
    parts = [re.match(command, part, re.S) for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    return [(part.group(1).rstrip("\n"), part.group(3)) for part in parts]


class Page:
    """The transcripts of one page, of one kind. All of them share one folder."""

    def __init__(self, path, kind=""):
        self.path, self.block = path, re.compile(rf"^```console{kind}\n(.*?)^```$", re.M | re.S)

    def entries(self):
        return [entry for block in self.block.findall(self.path.read_text()) for entry in transcript(block)]

    def rewrite(self, at_the_prompt):
        def happens(match):
            entries = [f"$ {command}\n{at_the_prompt(command)}" for command, _ in transcript(match.group(1))]
            return match.group(0).split("\n")[0] + "\n" + "".join(entries) + "```"

        self.path.write_text(self.block.sub(happens, self.path.read_text()))


class Prompt:
    """For a Case: a shell in its folder, with the program on its PATH."""

    def make_prompt(self, **variables):
        self.path("bin").mkdir()
        os.symlink(PROGRAM, self.path("bin") / "splitcount")
        self.copy_log()
        self.variables = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", **variables}

    def at_the_prompt(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False, env=environment(**self.variables))
        return done.stdout

    def assert_true(self, page, least):
        tried = page.entries()
        self.assertGreaterEqual(len(tried), least)
        for command, printed in tried:
            with self.subTest(command):
                self.assertEqual(settled(self.at_the_prompt(command)), settled(printed))


class Docs(Prompt, Case):
    def setUp(self):
        super().setUp()
        self.make_prompt()

    def test_each_transcript_is_what_happens(self):
        self.assert_true(Page(DOCS), 30)

    def test_each_transcript_of_the_articles_is_what_happens(self):
        self.assert_true(Page(ARTICLES), 10)

    def test_each_verb_has_a_section_with_json(self):
        sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", DOCS.read_text(), re.M | re.S))
        self.assertEqual(list(sections), VERBS)
        for verb, text in sections.items():
            self.assertRegex(text, rf"(?m)^\$ splitcount {verb} .*--json", verb)

    def test_each_option_is_described(self):
        sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", DOCS.read_text(), re.M | re.S))
        everywhere = {"--db", "--json", "--help"}
        rule = {"--key", "--slots", "--pick", "--missing", "--retries", "--freshness", "--layout"}
        for verb in VERBS:
            options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.ok(verb, "--help"), re.M)) - everywhere
            for option in options - (rule if verb == "sql" else set()):
                self.assertIn(f"`{option}", sections[verb], verb)

    def test_the_list_of_error_codes_is_that_of_the_header(self):
        header = (SOURCE / "include" / "splitcount" / "error.h").read_text()
        body = re.search(r"enum class ErrorCode[^{]*\{(.*?)\};", header, re.S).group(1)
        codes = re.findall(r"^\s*(\w+)(?: = \d+)?,", body, re.M)
        listed = re.findall(r"^\| `(\w+)` \|", DOCS.read_text().split("## Error codes")[1], re.M)
        self.assertEqual(listed, codes)


def rewrite():
    for page in (Page(DOCS), Page(ARTICLES)):
        docs = Docs("test_each_transcript_is_what_happens")
        docs.setUp()
        page.rewrite(docs.at_the_prompt)
        docs.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["rewrite"]:
        rewrite()
    else:
        unittest.main()
