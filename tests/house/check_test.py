"""Of each rule of tools/check: a small tree that breaks it is found, and the same tree without the fault is not."""
import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CHECK = Path(__file__).resolve().parents[2] / "tools" / "check"


def load_check():
    loader = importlib.machinery.SourceFileLoader("check", str(CHECK))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check", loader))
    loader.exec_module(module)
    return module


check = load_check()
tried = set()


def cpp_function(lines):
    return "int f() {\n" + "  g();\n" * (lines - 2) + "}\n"


class Rules(unittest.TestCase):
    def findings(self, rule, tree):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in tree.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            files = check.read_tree(Path(folder))
            return [(file.path, line) for file, line, _ in getattr(check, rule)(files)]

    def assert_found(self, rule, path, text, line=1, also=None):
        tried.add(rule)
        self.assertIn((path, line), self.findings(rule, {**(also or {}), path: text}))

    def assert_clean(self, rule, path, text, also=None):
        self.assertEqual([], self.findings(rule, {**(also or {}), path: text}))

    def test_a_folder_includes_only_those_below_it(self):
        self.assert_found("layering", "src/rule/a.cpp", "#include <engine/engine.h>\n")
        self.assert_found("layering", "src/base/a.h", "\n#include <rule/rule.h>\n", line=2)
        self.assert_found("layering", "src/cli/a.cpp", "#include <engine/engine.h>\n")
        self.assert_found("layering", "src/rule/a_test.cpp", "#include <cli/app.h>\n")
        self.assert_found("layering", "src/counter/a.cpp", "#include <engine/sqlite/connection.h>\n")
        self.assert_found("layering", "include/splitcount/a.h", "#include <base/text.h>\n")
        self.assert_found("layering", "src/novel/a.cpp", "#include <base/text.h>\n")
        self.assert_clean("layering", "src/engine/sqlite/a.cpp", "#include <engine/sqlite/a.h>\n#include <rule/rule.h>\n")
        self.assert_clean("layering", "src/cli/a.cpp", "#include <cli/app.h>\n#include <base/text.h>\n")

    def test_a_library_is_known_in_one_place(self):
        self.assert_found("libraries", "src/counter/a.cpp", "#include <sqlite3.h>\n")
        self.assert_found("libraries", "include/splitcount/a.h", "#include <nlohmann/json.hpp>\n")
        self.assert_clean("libraries", "src/engine/sqlite/a.cpp", "#include <sqlite3.h>\n")
        self.assert_clean("libraries", "src/counter/a_test.cpp", "#include <sqlite3.h>\n")
        self.assert_clean("libraries", "src/counter/test_ground.h", "#include <sqlite3.h>\n")

    def test_includes_are_written_one_way(self):
        header = {"src/rule/a.h": "#pragma once\n"}
        self.assert_found("include_style", "src/rule/b.cpp", '#include "a.h"\n', also=header)
        self.assert_found("include_style", "src/rule/a.cpp", "#include <map>\n#include <rule/a.h>\n", also=header)
        self.assert_found("include_style", "src/rule/b.h", "int f();\n")
        self.assert_clean("include_style", "src/rule/a.cpp", "#include <rule/a.h>\n#include <map>\n", also=header)

    def test_files_are_snake_case(self):
        self.assert_found("file_names", "src/rule/PickSlot.cpp", "")
        self.assert_found("file_names", "tests/e2e/kill-count.py", "")
        self.assert_found("file_names", "src/rule/pick.cc", "")
        self.assert_clean("file_names", "src/rule/README.md", "")
        self.assert_clean("file_names", "src/rule/pick_test.cpp", "")

    def test_types_are_camel_case_and_functions_snake_case(self):
        self.assert_found("cpp_names", "src/rule/a.h", "struct slot_row {\n};\n")
        self.assert_found("cpp_names", "src/rule/a.h", "enum class pick : int { one };\n")
        self.assert_found("cpp_names", "src/rule/a.cpp", "\nint pickSlot() { return 0; }\n", line=2)
        self.assert_found("cpp_names", "src/rule/a.h", "class Pick {\n  int FirstSlot() { return 0; }\n};\n", line=2)
        self.assert_clean("cpp_names", "src/rule/a.h", "struct sqlite3;\nclass SPLITCOUNT_EXPORT Pick : public Base {\n"
                          " public:\n  explicit Pick(int a) : a_{a} {}\n  ~Pick() {}\n"
                          "  bool operator==(const Pick& b) const { return true; }\n  int a_;\n};\n")
        self.assert_clean("cpp_names", "src/rule/a.cpp", "Pick::Pick() {}\nint Pick::first_slot() { return 0; }\n")

    def test_a_function_fits_a_screen(self):
        self.assert_found("lengths", "src/rule/a.cpp", cpp_function(check.FUNCTION_LINES_MAX + 1))
        self.assert_clean("lengths", "src/rule/a.cpp", cpp_function(check.FUNCTION_LINES_MAX))
        self.assert_clean("lengths", "src/rule/a_test.cpp", cpp_function(check.FUNCTION_LINES_MAX + 1))

    def test_a_long_function_is_seen_whatever_stands_before_it(self):
        body = "{\n" + "  g();\n" * check.FUNCTION_LINES_MAX + "}\n"
        for header in ("Pick::Pick(int a) : a_{a}, b_(0) ", "template <class T = std::vector<int>>\nT f(T a = {}) ",
                       "bool Pick::operator<(const Pick& b) const noexcept ",
                       "auto f() -> std::map<int, int> ", "void f(std::function<void(int)> g = {}) ",
                       'const char* a = "{";\nchar b = \'{\';  // {\nint c = 1\'000;\nvoid f() ',
                       "namespace a::b {\nstruct C {\n  int d{};\n  std::function<void(int)> e{};\n  void f() "):
            with self.subTest(header):
                self.assertTrue(self.findings("lengths", {"src/rule/a.cpp": header + body}))

    def test_a_table_is_no_function(self):
        self.assert_clean("lengths", "src/rule/a.cpp",
                          "constexpr int table[] = {\n" + "  1,\n" * (check.FUNCTION_LINES_MAX + 1) + "};\n")

    def test_a_file_can_be_read_in_a_sitting(self):
        self.assert_found("lengths", "src/rule/a.h", "int a;\n" * (check.FILE_LINES_MAX + 1))
        self.assert_clean("lengths", "src/rule/a.h", "int a;\n" * check.FILE_LINES_MAX)

    def test_nothing_is_left_over(self):
        for word in ("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK", "not " "implemented", "st" "ub"):
            self.assert_found("left_overs", "src/rule/a.cpp", f"\n// {word}: later\n", line=2)
            self.assert_found("left_overs", "sql/sqlite/a.sql", f"-- {word}\n")
            self.assert_found("left_overs", "run", f"# {word}\n")
        self.assert_found("left_overs", "src/rule/placeholder.cpp", "")
        self.assert_clean("left_overs", "src/rule/a.cpp", 'auto a = "/var/lib/aXXXXXX";\n')

    def test_sql_stays_out_of_cpp(self):
        self.assert_found("sql_in_cpp", "src/engine/a.cpp", 'auto a =\n  "SELECT 1";\n', line=2)
        self.assert_found("sql_in_cpp", "src/engine/a.cpp", 'auto a = R"(create table x)";\n')
        self.assert_found("sql_in_cpp", "src/engine/a.cpp", 'auto a = "COMMIT";\n')
        self.assert_clean("sql_in_cpp", "src/engine/a.cpp", 'auto a = "select a slot";  // SELECT\n')
        self.assert_clean("sql_in_cpp", "src/engine/a_test.cpp", 'auto a = "SELECT 1";\n')

    def test_no_path_of_one_machine(self):
        for path in ("/home" "/me/x", "/root" "/x", "/tmp" "/x", "/wo" "rk/x"):
            self.assert_found("machine_paths", "src/rule/a.cpp", f'auto a = "{path}";\n')
        self.assert_found("machine_paths", "tests/e2e/a.py", "a = '/home" "/me/x'\n")
        self.assert_clean("machine_paths", "tests/e2e/a.py", "a = '/tmp" "/x'\n")
        self.assert_clean("machine_paths", "docs/cli.md", "splitcount add page_views /home --by 3\n")

    def test_no_exception_is_swallowed(self):
        self.assert_found("swallowed_exceptions", "src/rule/a.cpp", "void f() {\n  try { g(); } catch (...) {}\n}\n", line=2)
        self.assert_clean("swallowed_exceptions", "src/rule/a.cpp", "void f() {\n  try { g(); } catch (...) { h(); throw; }\n}\n")

    def test_only_the_command_line_prints(self):
        for call in ('std::printf("a");', "std::cout << 1;", 'fmt::print("a");', 'std::fputs("a", stderr);'):
            self.assert_found("printing", "src/rule/a.cpp", f"void f() {{\n  {call}\n}}\n", line=2)
        self.assert_clean("printing", "src/cli/a.cpp", 'void f() { std::printf("a"); }\n')
        self.assert_clean("printing", "src/rule/a.cpp", 'void f() {\n  std::fprintf(stderr, "a");\n  std::abort();\n}\n')

    def test_a_header_is_included_by_somebody_else(self):
        self.assert_found("dead_headers", "src/rule/a.h", "", also={"src/rule/a.cpp": "#include <rule/a.h>\n"})
        self.assert_found("dead_headers", "include/splitcount/a.h", "", also={"src/a.cpp": "#include <splitcount/a.h>\n"})
        self.assert_clean("dead_headers", "src/rule/a.h", "", also={"src/rule/b.cpp": "#include <rule/a.h>\n"})
        self.assert_clean("dead_headers", "tests/e2e/a.h", "", also={"tests/e2e/b.cpp": '#include "a.h"\n'})

    def test_a_statement_is_asked_for_by_name(self):
        sql = "-- name: first\nSELECT 1;\n-- name: second\nSELECT 2;\n"
        self.assert_found("dead_statements", "sql/sqlite/a.sql", sql, line=3, also={"src/engine/a.cpp": 'f("first");\n'})
        self.assert_clean("dead_statements", "sql/sqlite/a.sql", sql, also={"src/engine/a.cpp": 'f("first", "second");\n'})

    def test_each_folder_says_what_it_is_for(self):
        self.assert_found("folders_explained", "src/rule/a.cpp", "")
        self.assert_found("folders_explained", "src/rule/README.md", "# rule\n")
        self.assert_clean("folders_explained", "src/rule/README.md", "# rule\nWhat a number means.\n")


class Program(unittest.TestCase):
    def run_check(self, tree):
        with tempfile.TemporaryDirectory() as folder:
            for path, text in tree.items():
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            return subprocess.run([CHECK, folder], capture_output=True, text=True)

    def test_it_ends_with_1_and_names_what_it_found(self):
        done = self.run_check({"src/rule/README.md": "# rule\nWhat.\n", "src/rule/a.cpp": "#include <cli/app.h>\n"})
        self.assertEqual(1, done.returncode)
        self.assertIn("src/rule/a.cpp:1: src/rule includes <cli/app.h>; it may include base [layering]", done.stdout)

    def test_it_ends_with_0_where_there_is_nothing(self):
        done = self.run_check({"src/rule/README.md": "# rule\nWhat.\n", "src/rule/a.cpp": "int f();\n"})
        self.assertEqual(0, done.returncode, done.stdout)

    def test_a_folder_without_sources_is_no_success(self):
        self.assertEqual(2, self.run_check({"src/README.md": ""}).returncode)


def tearDownModule():
    missed = {rule.__name__ for rule in check.RULES} - tried
    assert not missed, f"rules that no test has seen fail: {missed}"


if __name__ == "__main__":
    unittest.main()
