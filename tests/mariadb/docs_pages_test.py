"""The transcripts of docs/two-articles.md on MariaDB are what really happens.

    SPLITCOUNT_PROGRAM=… python3 docs_pages_test.py rewrite        puts what happens into the page, for a change on purpose
"""
import sys
import unittest

from docs_test import ARTICLES, Page, Prompt
from mariadb_database import MariadbCase, setUpModule  # noqa: F401

PAGE = Page(ARTICLES, " mariadb")


class Pages(Prompt, MariadbCase):
    def setUp(self):
        super().setUp()
        self.write(".my.cnf", f"[client]\nuser = root\nsocket = {self.server.folder}/socket\n[mysql]\ndatabase = {self.name}\n")
        self.make_prompt(SPLITCOUNT_DB=self.address, HOME=str(self.folder))

    def test_each_transcript_of_the_articles_is_what_happens(self):
        self.assert_true(PAGE, 10)


def rewrite():
    case = Pages("test_each_transcript_of_the_articles_is_what_happens")
    case.setUp()
    PAGE.rewrite(case.at_the_prompt)
    case.doCleanups()


if __name__ == "__main__":
    if sys.argv[1:] == ["rewrite"]:
        rewrite()
    else:
        unittest.main()
