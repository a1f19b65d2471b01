"""A MariaDB server of the tests' own: in a temporary folder, on a socket in it, with a binary log as servers with replicas
have it. It ends when the test's process ends, in whatever way, and its folder goes with it."""
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

PROGRAMS = Path("/usr/sbin")

SETTINGS = """[mysqld]
datadir = {0}/data
socket = {0}/socket
pid-file = {0}/server.pid
skip-networking
skip-name-resolve
innodb-buffer-pool-size = 64M
innodb-log-file-size = 32M
innodb-flush-log-at-trx-commit = 0
log-bin = {0}/data/binlog
server-id = 1
sync-binlog = 0
sql-mode = NO_ENGINE_SUBSTITUTION
"""

KEEPER = r"""
folder=$1 programs=$2
trap '' INT HUP TERM
cd "$folder" || exit 1
if /usr/bin/mariadb-install-db --defaults-file=settings --auth-root-authentication-method=normal --skip-test-db >init.log 2>&1; then
  "$programs/mariadbd" --defaults-file="$folder/settings" >server.log 2>&1 </dev/null &
  server=$!
  for try in $(seq 600); do
    /usr/bin/mariadb --no-defaults -u root -S socket -e 'SELECT 1' >/dev/null 2>&1 && started=1 && echo ready && break
    sleep 0.1
  done
  [ "$started" ] && cat >/dev/null
  kill -KILL $server
  wait $server
fi
cd / && rm -rf "$folder"
"""


def is_here():
    return (PROGRAMS / "mariadbd").exists()


class Server:
    def __init__(self):
        self.databases = 0
        self.folder = Path(tempfile.mkdtemp(prefix="splitcount-mdb-"))
        (self.folder / "settings").write_text(SETTINGS.format(self.folder))
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = {}
        if os.geteuid() == 0:  # it does not run as root
            own = pwd.getpwnam("mysql" if "mysql" in names else "nobody")
            user = {"user": own.pw_uid, "group": own.pw_gid, "extra_groups": []}
            for path in (self.folder, self.folder / "settings"):
                os.chown(path, own.pw_uid, own.pw_gid)
        self.keeper = subprocess.Popen(["sh", "-c", KEEPER, "keeper", self.folder, PROGRAMS], **user, cwd="/",
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, start_new_session=True)
        if self.keeper.stdout.readline() != b"ready\n":
            log = "".join(path.read_text() for path in self.folder.glob("*.log"))
            self.stop()
            raise RuntimeError(f"the tests' MariaDB did not start: {log}")

    def stop(self):
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self):
        self.databases += 1
        name = f"test_{self.databases}"
        self.sql("mysql", f"CREATE DATABASE {name}")
        return name

    def address(self, database, user="root"):
        return f"mariadb://{user}@/{database}?socket={self.folder}/socket"

    def sql(self, database, text):
        """The first column of each row."""
        done = subprocess.run(["/usr/bin/mariadb", "--no-defaults", "-u", "root", "-S", self.folder / "socket", "-N", "-B", database],
                              input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]
