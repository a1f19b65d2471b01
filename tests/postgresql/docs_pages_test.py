"""The transcripts of docs/two-articles.md on PostgreSQL are what really happens.

    SPLITCOUNT_PROGRAM=… python3 docs_pages_test.py rewrite        puts what happens into the page, for a change on purpose
"""
import sys
import unittest

from database import Case, setUpModule  # noqa: F401
from docs_test import ARTICLES, Page, Prompt
from server import DEBIAN_BIN

PAGE = Page(ARTICLES, " postgresql")


class Articles(Prompt, Case):
    def setUp(self):
        super().setUp()
        self.make_prompt(SPLITCOUNT_DB=self.address, PGHOST=str(self.server.folder), PGUSER="postgres", PGDATABASE=self.name,
                         PSQLRC="/dev/null")
        self.variables["PATH"] = f"{DEBIAN_BIN}:{self.variables['PATH']}"

    def test_each_transcript_is_what_happens(self):
        self.assert_true(PAGE, 10)


def rewrite():
    articles = Articles("test_each_transcript_is_what_happens")
    articles.setUp()
    PAGE.rewrite(articles.at_the_prompt)
    articles.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["rewrite"]:
        rewrite()
    else:
        unittest.main()
