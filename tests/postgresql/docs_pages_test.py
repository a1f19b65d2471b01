"""The transcripts of docs/two-articles.md and docs/growing.md on PostgreSQL are what really happens.

    SPLITCOUNT_PROGRAM=… python3 docs_pages_test.py rewrite        puts what happens into the pages, for a change on purpose
"""
import sys
import unittest

from database import Case, setUpModule  # noqa: F401
from docs_test import ARTICLES, GROWING, Page, Prompt
from server import DEBIAN_BIN

PAGES = [Page(ARTICLES, " postgresql"), Page(GROWING, " postgresql")]


class Pages(Prompt, Case):
    def setUp(self):
        super().setUp()
        self.make_prompt(SPLITCOUNT_DB=self.address, PGHOST=str(self.server.folder), PGUSER="postgres", PGDATABASE=self.name,
                         PSQLRC="/dev/null")
        self.variables["PATH"] = f"{DEBIAN_BIN}:{self.variables['PATH']}"

    def test_each_transcript_of_the_articles_is_what_happens(self):
        self.assert_true(PAGES[0], 10)

    def test_each_transcript_about_growing_is_what_happens(self):
        self.assert_true(PAGES[1], 10)


def rewrite():
    for page in PAGES:
        case = Pages("test_each_transcript_about_growing_is_what_happens")
        case.setUp()
        page.rewrite(case.at_the_prompt)
        case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["rewrite"]:
        rewrite()
    else:
        unittest.main()
