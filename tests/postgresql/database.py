"""What these tests share: one server a process, a database of its own for each test, sessions, and counters in it.

SPLITCOUNT_POSTGRESQL is the version to test on, 15 where it is left out.
"""
import atexit
import os
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import psycopg2
from psycopg2 import errorcodes

import support
from server import Server, programs_of

VERSION = int(os.environ.get("SPLITCOUNT_POSTGRESQL", "15"))
LOCK_NOT_AVAILABLE = errorcodes.LOCK_NOT_AVAILABLE

_shared = []


def shared_server():
    if not _shared:
        _shared.append(Server(VERSION))
        atexit.register(_shared[0].stop)
    return _shared[0]


def setUpModule():
    """For `from database import setUpModule`."""
    if programs_of(VERSION) is None:
        sentence = f"there is no PostgreSQL {VERSION} here; ./test fetches it"
        if os.environ.get("CI") == "true":
            raise RuntimeError(sentence)
        raise unittest.SkipTest(sentence)


class Case(support.ServerCase):
    """A database of its own; what is opened is closed. The program uses it where no other one is named."""

    def find_server(self):
        return shared_server()

    def setUp(self):
        super().setUp()
        self.server = self.find_server()
        # Those of earlier tests are used again: making one takes longer than most tests.
        self.name = self.server.empty_databases.pop() if self.server.empty_databases else self.new_database()
        self.addCleanup(self.empty_database)
        self.address = self.server.address(self.name)
        self.asking = None

    def new_database(self):
        self.server.databases += 1
        name = f"test_{self.server.databases}"
        admin = self.server.connect("postgres")
        admin.cursor().execute(f"CREATE DATABASE {name} TEMPLATE template0")
        admin.close()
        return name

    def empty_database(self):
        admin = self.server.connect(self.name, options="'-c client_min_messages=warning -c lock_timeout=20s'")
        admin.cursor().execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public AUTHORIZATION pg_database_owner; "
                               "GRANT USAGE ON SCHEMA public TO PUBLIC")
        admin.close()
        self.server.empty_databases.append(self.name)

    def session(self, **how):
        session = Session(self.server, self.name, **how)
        self.addCleanup(session.close)
        return session

    def sessions(self, count, **how):
        return [self.session(**how) for _ in range(count)]

    def sql(self, text, *values):
        """In a session kept for such questions, in a transaction of its own."""
        if self.asking is None or self.asking.connection.closed:
            self.asking = self.session()
        return self.asking.rows(text, *values)

    def one(self, text, *values):
        ((value,),) = self.sql(text, *values)
        return value

    def assert_state(self, state, function, *arguments):
        """It fails with that SQLSTATE. The error."""
        with self.assertRaises(psycopg2.Error) as caught:
            function(*arguments)
        self.assertEqual(caught.exception.pgcode, state, caught.exception)
        return caught.exception


class Session:
    """One connection. Statements commit by themselves unless BEGIN was sent."""

    def __init__(self, server, database, settings="", **more):
        if settings:
            more["options"] = f"'{settings}'"
        self.connection = server.connect(database, **more)
        self.cursor = self.connection.cursor()
        self.pid = self.connection.info.backend_pid

    def run(self, text, *values):
        """Values for %s, or one dictionary for %(name)s."""
        named = bool(values) and isinstance(values[0], dict)
        self.cursor.execute(text, values[0] if named else values or None)

    def rows(self, text, *values):
        self.run(text, *values)
        return self.cursor.fetchall() if self.cursor.description else []

    def value(self, text, *values):
        ((value,),) = self.rows(text, *values)
        return value

    def close(self):
        self.connection.close()


def at_once(tasks):
    """Runs them in a thread each, all starting together. Their results, or the first exception."""
    barrier = threading.Barrier(len(tasks))

    def one(task):
        barrier.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as threads:
        return list(threads.map(one, tasks))
