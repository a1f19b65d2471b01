"""What `cmake --install` puts down can be used: the examples are built from an installed copy and run.

    install_test.py CMAKE BUILD_FOLDER COMPILER [FLAGS...]       the flags are those that the library was built with
"""
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
APP = REPOSITORY / "examples" / "app"
CMAKE, BUILD, COMPILER, *FLAGS = sys.argv[1:]
PUBLIC = [path.read_text() for path in sorted((REPOSITORY / "include" / "splitcount").glob("*.h"))]


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.folder / "first")
        cls.prefix = cls.folder / "moved"  # an installed copy may be moved
        shutil.move(cls.folder / "first", cls.prefix)
        cls.library = next(cls.prefix.rglob("libsplitcount.so"))
        cls.program = cls.prefix / "bin" / "splitcount"
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": str(cls.library.parent / "pkgconfig")}

    def pkg_config(self, *options):
        return run("pkg-config", *options, env=self.environment).split()

    def assert_counts_prizes(self, app):
        database = self.folder / f"{app.parent.name}.db"
        self.assertEqual("prizes won: 1\n", run(app, database))
        self.assertEqual("prizes won: 2\n", run(app, database))
        db = sqlite3.connect(database)
        self.addCleanup(db.close)
        self.assertEqual([(2,)], db.execute("SELECT count(*) FROM prizes").fetchall())
        self.assertEqual([(2,)], db.execute("SELECT total FROM prizes_won").fetchall())

    def test_the_example_builds_by_find_package(self):
        build = self.folder / "by_cmake"
        run(CMAKE, "-S", APP, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={COMPILER}", f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS)}")
        run(CMAKE, "--build", build)
        self.assertIn(f"splitcount_DIR:PATH={self.prefix}", (build / "CMakeCache.txt").read_text())
        self.assert_counts_prizes(build / "prizes")

    def test_the_example_builds_by_pkg_config(self):
        build = self.folder / "by_pkg_config"
        build.mkdir()
        run(COMPILER, *FLAGS, "-std=c++20", "-Wall", "-Wextra", "-Werror", APP / "main.cpp", "-o", build / "prizes",
            *self.pkg_config("--cflags", "--libs", "splitcount", "sqlite3"), f"-Wl,-rpath,{self.library.parent}")
        self.assert_counts_prizes(build / "prizes")
        needed = [line for line in run("ldd", build / "prizes").splitlines() if "libsqlite3" in line]
        self.assertEqual(1, len(needed), "the caller's handle comes from the library's own libsqlite3")

    def test_the_example_fits_a_screen(self):
        self.assertLess((APP / "main.cpp").read_text().count("\n"), 40)

    def test_any_language_counts_in_its_own_transaction(self):
        database = self.folder / "views.db"
        run(self.program, "define", "page_views", "--key", "page", "--db", database)
        script = REPOSITORY / "examples" / "any_language.py"
        for total in (1, 2):
            self.assertEqual(f"page views of /home: {total}\n", run(sys.executable, script, database))
        db = sqlite3.connect(database)
        self.addCleanup(db.close)
        self.assertEqual([(2,)], db.execute("SELECT count(*) FROM visits").fetchall())

    def test_nothing_but_the_public_interface_is_visible(self):
        public = set(re.findall(r"SPLITCOUNT_EXPORT (?:[\w:]+ )*?(\w+)(?:\(| \{| : )", "\n".join(PUBLIC)))
        self.assertLessEqual({"Counter", "Database", "Combiner", "version", "error_code_name"}, public)
        shown = set()
        for line in run("nm", "-DC", "--defined-only", self.library).splitlines():
            symbol = line.split(" ", 2)[2]
            name = re.match(r"(?:(?:vtable|typeinfo|typeinfo name) for )?splitcount::(\w+)", symbol)
            self.assertTrue(name and name.group(1) in public, f"visible, but not public: {symbol}")
            shown.add(name.group(1))
        self.assertLessEqual({"Counter", "Database", "Combiner", "version", "error_code_name"}, shown)

    def test_the_library_names_what_it_needs(self):
        dynamic = run("readelf", "-d", self.library)
        for library in ("libsqlite3.so.0", "libfmt.so.9", "libxxhash.so.0"):
            self.assertIn(f"[{library}]", dynamic)
        missing = re.findall(r"undefined symbol: (?!__asan|__ubsan|__tsan|__gcov)(\S+)", run("ldd", "-r", self.library))
        self.assertEqual([], missing)
        self.assertRegex(dynamic, r"SONAME.*\[libsplitcount\.so\.\d+\.\d+\]")

    def test_each_public_header_stands_alone(self):
        for header in sorted((self.prefix / "include" / "splitcount").glob("*.h")):
            with self.subTest(header.name):
                run(COMPILER, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fsyntax-only", "-x", "c++",
                    *self.pkg_config("--cflags", "splitcount"), "-", input=f"#include <splitcount/{header.name}>\n")

    def test_the_version_is_the_same_everywhere(self):
        (version,) = re.findall(r'#define SPLITCOUNT_VERSION "(.*)"', "\n".join(PUBLIC))
        self.assertEqual([version], self.pkg_config("--modversion", "splitcount"))
        self.assertIn(version, run(self.program, "--version").split())
        self.assertTrue(self.library.resolve().name.endswith(f".so.{version}"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
