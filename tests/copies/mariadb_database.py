"""What tests on MariaDB share: one server a process, and a database of its own for each test."""
import atexit
import os
import unittest

import support
from mariadb_server import Server, is_here

_shared = []


def shared_server():
    if not _shared:
        _shared.append(Server())
        atexit.register(_shared[0].stop)
    return _shared[0]


def setUpModule():
    """For `from mariadb_database import setUpModule`."""
    if is_here():
        return
    sentence = "there is no MariaDB here; ./test installs it"
    if os.environ.get("CI") == "true":
        raise RuntimeError(sentence)
    raise unittest.SkipTest(sentence)


class MariadbCase(support.ServerCase):
    """A database of its own; the program uses it where no other one is named."""

    def setUp(self):
        super().setUp()
        self.server = shared_server()
        self.name = self.server.new_database()
        self.addCleanup(self.sql, f"DROP DATABASE {self.name}", "mysql")
        self.address = self.server.address(self.name)

    def sql(self, text, database=None):
        """As root. The first column of each row."""
        return self.server.sql(database or self.name, text)

    def one(self, text, database=None):
        (value,) = self.sql(text, database)
        return value

    def user(self, name, *grants):
        """A user with these rights, each "RIGHT ON PLACE"; the environment in which the program is that user."""
        self.sql(f"CREATE USER {name}@localhost")
        self.addCleanup(self.sql, f"DROP USER {name}@localhost", "mysql")
        for grant in grants:
            self.sql(f"GRANT {grant} TO {name}@localhost")
        return support.environment(SPLITCOUNT_DB=self.server.address(self.name, name))
