"""A PostgreSQL server of the tests' own: in a temporary folder, on a socket in it, stopped when the test ends, however that
ends. No port of the machine is taken, and nobody's other server is met.

    with Server(18, fsync="on") as server:
        server.connect("postgres")
"""
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg2

REPOSITORY = Path(__file__).resolve().parents[2]
DEBIAN_BIN = Path("/usr/lib/postgresql/15/bin")  # it has the client programs too, which work with both servers
PROGRAMS = {15: DEBIAN_BIN, 18: REPOSITORY / "build" / "postgresql-18" / "bin"}
START_SECONDS = 120

SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "200",
    "max_prepared_transactions": "20",
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum_naptime": "1s",
}

# keeper FOLDER PROGRAMS: runs the server until the end of its input, which comes when the test's process has ended, in
# whatever way. The folder goes with it. Where there is a database already it is run as it is.
KEEPER = r"""
folder=$1 programs=$2
trap '' INT HUP TERM
cd "$folder" || exit 1
end() {
  "$programs/pg_ctl" stop -D data -m immediate
  cd / && rm -rf "$folder"
  exit
}
if [ ! -e data/PG_VERSION ]; then
  "$programs/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >initdb.log 2>&1 || end
fi
cat settings >>data/postgresql.conf
"$programs/pg_ctl" start -D data -l server.log -w -t 120 >start.log 2>&1 && echo ready
cat >/dev/null
end
"""


def programs_of(version):
    """The folder with its programs, or None where that version is not here."""
    # Without links: the server's user may be unable to enter the repository's folder.
    folder = Path(os.path.realpath(PROGRAMS[version]))
    return folder if (folder / "postgres").exists() else None


def server_user():
    """PostgreSQL refuses to run as root, so root's tests run it as the user of the package, or as nobody."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    def __init__(self, version, data=None, environment=None, **settings):
        """data(FOLDER) puts a database into FOLDER/data; without it initdb makes one. The server has the variables of
        `environment`, too."""
        self.version = version
        self.programs = programs_of(version)
        self.user = server_user()
        self.databases, self.empty_databases = 0, []
        self.folder = Path(tempfile.mkdtemp(prefix="splitcount-pg-"))
        lines = {**SETTINGS, "unix_socket_directories": f"'{self.folder}'", **settings}
        (self.folder / "settings").write_text("".join(f"{name} = {value}\n" for name, value in lines.items()))
        if data:
            data(self.folder)
        self.own(self.folder)
        self.keeper = subprocess.Popen(["sh", "-c", KEEPER, "keeper", self.folder, self.programs], **self.user, cwd="/",
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **(environment or {})},
                                       start_new_session=True)
        if self.keeper.stdout.readline() != b"ready\n":
            log = "".join(path.read_text() for path in self.folder.glob("*.log"))
            self.stop()
            raise RuntimeError(f"the tests' PostgreSQL {version} did not start: {log}")

    def own(self, folder):
        if self.user:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, self.user["user"], self.user["group"], follow_symlinks=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.keeper.stdin.close()
        self.keeper.stdout.close()
        self.keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def control(self, *words):
        """pg_ctl, as the server's user."""
        subprocess.run([self.programs / "pg_ctl", "-D", self.folder / "data", "-w", *words], **self.user, cwd="/",
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                       timeout=START_SECONDS)

    def shut_down(self, mode="fast"):
        """fast ends every session; immediate is a crash."""
        self.control("stop", "-m", mode)

    def start_again(self):
        self.control("start", "-l", self.folder / "server.log")

    def postmaster(self):
        """Its process id."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    def log(self):
        return (self.folder / "server.log").read_text()

    def standby(self):
        """A server of its own that follows this one."""
        def copy_data(folder):
            connection = self.connect("postgres")
            cursor = connection.cursor()
            cursor.execute("SELECT pg_backup_start('standby', fast => true)")
            # Files come and go while they are copied; the log puts that right.
            subprocess.run(["cp", "-a", self.folder / "data", folder / "data"], stderr=subprocess.DEVNULL, check=False)
            cursor.execute("SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)")
            ((label,),) = cursor.fetchall()
            connection.close()
            (folder / "data" / "postmaster.pid").unlink()
            (folder / "data" / "backup_label").write_text(label)
            (folder / "data" / "standby.signal").touch()

        return Server(self.version, data=copy_data, primary_conninfo=f"'{self.conninfo('postgres')}'")

    def conninfo(self, database, user="postgres", **more):
        """As libpq's programs and libraries take it."""
        return " ".join(f"{name}={value}" for name, value in
                        {"host": self.folder, "dbname": database, "user": user, **more}.items())

    def address(self, database, **more):
        """As splitcount takes it."""
        return "postgresql:" + self.conninfo(database, **more)

    def connect(self, database, **more):
        connection = psycopg2.connect(self.conninfo(database, **more))
        connection.autocommit = True
        return connection
