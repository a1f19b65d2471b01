"""Behind pgbouncer in transaction mode a client meets another server connection in each transaction: everything stays right.

The session number and its lock belong to the server connection, which keeps both.
"""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from database import Case, Session, at_once
from database import setUpModule as set_up_server
from server import REPOSITORY
from support import LOG_LINES

CLIENTS = 32
SERVER_CONNECTIONS = 4
PORT = 6432

INSTALLED = Path("/usr/sbin/pgbouncer")
UNPACKED = REPOSITORY / "build" / "pgbouncer" / "usr" / "sbin" / "pgbouncer"

# keeper PROGRAM FOLDER: it ends with its input, as the keeper of the server does.
KEEPER = 'trap "" INT HUP TERM; "$1" -q "$2/pgbouncer.ini" >"$2/output" 2>&1 & cat >/dev/null; kill -TERM $!; wait'


def program():
    return INSTALLED if INSTALLED.exists() else Path(os.path.realpath(REPOSITORY / "build" / "pgbouncer")) / "usr/sbin/pgbouncer"


def setUpModule():
    set_up_server()
    if not INSTALLED.exists() and not UNPACKED.exists():
        sentence = "there is no pgbouncer here; ./test fetches it"
        if os.environ.get("CI") == "true":
            raise RuntimeError(sentence)
        raise unittest.SkipTest(sentence)


class Pooler(Case):
    def setUp(self):
        super().setUp()
        self.home = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir=self.server.folder))
        (self.home / "pgbouncer.ini").write_text(f"""
[databases]
* = host={self.server.folder}
[pgbouncer]
pool_mode = transaction
default_pool_size = {SERVER_CONNECTIONS}
max_client_conn = {2 * CLIENTS}
unix_socket_dir = {self.home}
listen_port = {PORT}
auth_type = trust
auth_file = {self.home}/users
""")
        (self.home / "users").write_text('"postgres" ""\n')
        self.server.own(self.home)
        keeper = subprocess.Popen(["sh", "-c", KEEPER, "keeper", program(), self.home], **self.server.user,
                                  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
                                  start_new_session=True)
        self.addCleanup(keeper.wait)
        self.addCleanup(keeper.stdin.close)
        self.wait_until((self.home / f".s.PGSQL.{PORT}").exists, "pgbouncer starts")
        self.pooled = {"host": self.home, "port": PORT}
        self.address = self.server.address(self.name, **self.pooled)

    def client(self):
        client = Session(self.server, self.name, **self.pooled)
        self.addCleanup(client.close)
        return client

    def session_numbers(self):
        return sorted(number for (number,) in self.sql(
            "SELECT objid::integer FROM pg_locks WHERE locktype = 'advisory' AND classid = 7391 AND objsubid = 2 "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"))

    def test_sql_clients_count_exactly(self):
        self.define("prizes_won", "--slots", "16")
        self.define("page_views", "--key", "page", "--slots", "16")
        self.sql("CREATE TABLE prizes(winner text)")
        rounds = 20

        def play(client, number):
            for n in range(rounds):
                client.run("BEGIN")
                client.run("INSERT INTO prizes VALUES (%s)", str(number))
                client.run("SELECT prizes_won_add()")
                client.run("ROLLBACK" if n % 5 == 4 else "COMMIT")
                client.run("SELECT page_views_add(%s)", f"/{n % 3}")
                if n % 7 == 6:
                    client.run(("RESET ALL", "DISCARD ALL")[number % 2])

        at_once([lambda c=self.client(), n=n: play(c, n) for n in range(CLIENTS)])
        wins = CLIENTS * rounds * 4 // 5
        self.assertEqual(self.one("SELECT total FROM prizes_won"), wins)
        self.assertEqual(self.one("SELECT count(*) FROM prizes"), wins)
        self.assertEqual(self.one("SELECT sum(total) FROM page_views"), CLIENTS * rounds)
        self.assertEqual(self.one("SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()",
                                  self.name), SERVER_CONNECTIONS)

    def test_each_server_connection_keeps_its_number(self):
        self.define("hits", "--slots", "16")
        clients = [self.client() for _ in range(CLIENTS)]
        for _ in range(2):
            held = clients[:SERVER_CONNECTIONS]  # each keeps a server connection while its transaction is open
            for client in held:
                client.run("BEGIN; SELECT hits_add()")
            for client in held:
                client.run("COMMIT")
            self.assertEqual(self.session_numbers(), list(range(SERVER_CONNECTIONS)))
            at_once([lambda c=c: c.run("SELECT hits_add()") for c in clients])
            clients.reverse()
        self.assertEqual(self.session_numbers(), list(range(SERVER_CONNECTIONS)))
        self.assertEqual(self.one("SELECT total FROM hits"), 2 * (CLIENTS + SERVER_CONNECTIONS))
        self.assertEqual(self.one("SELECT count(*) FROM hits_slots WHERE n > 0"), SERVER_CONNECTIONS)

    def test_ids_that_every_client_sends_count_once(self):
        self.define("hits", "--retries", "once", "--slots", "16")
        ids = [f"id {n}" for n in range(25)]

        def send(client):
            return sum(client.value("SELECT hits_add(request_id => %s)", name) for name in ids)

        counted = at_once([lambda c=self.client(): send(c) for _ in range(CLIENTS)])
        self.assertEqual(sum(counted), len(ids))
        self.assertEqual(self.one("SELECT total FROM hits"), len(ids))

    def test_the_program_works_through_it(self):
        self.copy_log()
        self.run_checked("define", "hits", "--retries", "once")
        at_once([lambda n=n: self.run_checked("add", "hits", "--request-id", str(n // 2)) for n in range(8)])
        self.assertEqual(self.total("hits"), 4)
        self.run_checked("count", "access.log", "--counter", "views", "--key", "target")
        self.run_checked("count", "access.log", "--counter", "views", "--key", "target")  # each line once
        self.assertEqual(self.total("views"), LOG_LINES)
        self.assertEqual(self.json("describe", "views")["total"], LOG_LINES)
        self.run_checked("drop", "hits", "--yes")


if __name__ == "__main__":
    unittest.main()
