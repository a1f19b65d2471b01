"""docs/cli.md tells the truth: its transcripts are what really happens, and its lists are complete.

    SPLITCOUNT_PROGRAM=… python3 docs_test.py rewrite        puts what happens into the page, for a change on purpose
"""
import os
import re
import subprocess
import sys
import unittest

from support import PROGRAM, SOURCE, Case, environment
from verbs_test import VERBS

DOCS = SOURCE / "docs" / "cli.md"
# What differs from run to run and from machine to machine.
VARIES = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "TIME"),
    (r'"(seconds|lines_per_second|size_bytes)":[\d.e-]+', r'"\1":0'),
    (r'"engine_version":"[\d.]+"', '"engine_version":"0"'),
    (r"(lines per second +|size +|sqlite )[\d,.]+", r"\1 0"),
]


def settled(text):
    for pattern, replacement in VARIES:
        text = re.sub(pattern, replacement, text)
    return re.sub(r" +", " ", text)


BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def transcript(block):
    """(command, what it printed) of one console block, in order. All blocks share one folder."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    return [(command, printed) for command, _, printed in parts]


class Docs(Case):
    def setUp(self):
        super().setUp()
        self.path("bin").mkdir()
        os.symlink(PROGRAM, self.path("bin") / "splitcount")

    def at_the_prompt(self, command):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                              env=environment(PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}"))
        return done.stdout

    def test_each_transcript_is_what_happens(self):
        self.copy_log()
        tried = [entry for block in BLOCK.findall(DOCS.read_text()) for entry in transcript(block)]
        self.assertGreater(len(tried), 30)
        for command, printed in tried:
            with self.subTest(command):
                self.assertEqual(settled(self.at_the_prompt(command)), settled(printed))

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
    docs = Docs("test_each_transcript_is_what_happens")
    docs.setUp()
    docs.copy_log()

    def happens(match):
        entries = [f"$ {command}\n{docs.at_the_prompt(command)}" for command, _ in transcript(match.group(1))]
        return "```console\n" + "".join(entries) + "```"

    DOCS.write_text(BLOCK.sub(happens, DOCS.read_text()))
    docs.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["rewrite"]:
        rewrite()
    else:
        unittest.main()
