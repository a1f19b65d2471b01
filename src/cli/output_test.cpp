#include <cli/output.h>

#include <clocale>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include <cli/json.h>
#include <cli/table.h>

namespace splitcount::cli {
namespace {

constexpr Terminal narrow{.colour = false, .unicode = true, .width = 40};
constexpr Terminal plain{};

TEST(Printable, ShowsKeysAsTheyAreUnlessATerminalWouldObeyThem) {
  EXPECT_EQ(printable("/home"), "/home");
  EXPECT_EQ(printable("\u00e9t\u00e9"), "\u00e9t\u00e9");
  EXPECT_EQ(printable("\x1b[2J"), "\"\\x1B[2J\"");
  EXPECT_EQ(printable("a\nb"), "\"a\\x0Ab\"");
  EXPECT_EQ(printable("ab "), "\"ab \"");
  EXPECT_EQ(printable(""), "\"\"");
}

TEST(Printable, NeverCuts) { EXPECT_EQ(printable(std::string(768, 'k')), std::string(768, 'k')); }

TEST(ShellWord, CanBeCopiedIntoAShell) {
  EXPECT_EQ(shell_word("/home"), "/home");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(x)"), "'$(x)'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Counted, SaysOneAndMany) {
  EXPECT_EQ(counted(1, "key"), "1 key");
  EXPECT_EQ(counted(0, "key"), "0 keys");
  EXPECT_EQ(counted(1'234, "key"), "1,234 keys");
}

TEST(Bar, IsAsLongAsItsShareAndNeverMissingAboveZero) {
  EXPECT_EQ(bar(10, 10, plain), std::string(24, '#'));
  EXPECT_EQ(bar(5, 10, plain), std::string(12, '#'));
  EXPECT_EQ(bar(1, 1'000'000, plain), "#");
  EXPECT_EQ(bar(0, 10, plain), "");
  EXPECT_EQ(bar(-5, 10, plain), "");
  EXPECT_EQ(bar(-5, -1, plain), "");
  EXPECT_LE(display_width(bar(10, 10, narrow)), narrow.width / 3);
  EXPECT_GE(display_width(bar(10, 10, narrow)), narrow.width / 4);
}

TEST(Wrapped, BreaksProseAtBlanksAndGoesOnInTheNextLine) {
  const std::string prose = "Both were rolled back, and nothing of it was\nleft. This goes on.\n\n";
  EXPECT_EQ(wrapped(prose, narrow), "Both were rolled back, and nothing of it\nwas left. This goes on.\n\n");
  EXPECT_EQ(wrapped(prose, plain), prose);
  const std::string word(60, 'x');
  EXPECT_EQ(wrapped(word, narrow), word + "\n");
  EXPECT_EQ(wrapped(std::string(39, 'a') + " b", narrow), std::string(39, 'a') + "\nb\n");
}

TEST(Wrapped, KeepsColumnsOfOptionsAndLeavesCommandsAlone) {
  constexpr Terminal wide{.colour = false, .unicode = true, .width = 70};
  const std::string at(30, ' ');
  EXPECT_EQ(wrapped("  --designs NAMES             Only these, with commas between; the limit is among\n" + at + "them\n  --json\n", wide),
            "  --designs NAMES             Only these, with commas between; the\n" + at + "limit is among them\n  --json\n");
  const auto command = "  splitcount compare " + std::string(60, 'x') + " y\n";
  EXPECT_EQ(wrapped(command, wide), command);
}

TEST(Bars, HaveAHeadingAndAreAgainstTheLargest) {
  EXPECT_EQ(bars_table("table", "updates", {{"votes", 2'000}, {"others", 1'000}}, plain),
            "table   updates\nvotes     2,000  ########################\nothers    1,000  ############\n");
}

TEST(Table, CutsItsFirstColumnToTheTerminal) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  Table table({{"page"}, {"total", Table::Align::right}});
  table.row({std::string(100, 'x'), "807"});
  table.row({"/", "1,234,567"});
  const auto text = table.render(narrow);
  EXPECT_EQ(text.find(std::string(30, 'x')), std::string::npos);
  EXPECT_NE(text.find("x\u2026"), std::string::npos);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    EXPECT_LE(display_width(text.substr(at, end - at)), 40U);
    at = end + 1;
  }
  EXPECT_NE(table.render(plain).find(std::string(100, 'x')), std::string::npos);
}

TEST(Table, AlignsNumbersAtTheRight) {
  Table table({{"page"}, {"total", Table::Align::right}});
  table.row({"/a", "7"});
  table.row({"/bbbb", "1,000"});
  EXPECT_EQ(table.render(plain), "page   total\n/a         7\n/bbbb  1,000\n");
}

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("\u00e9"), 1U);
  EXPECT_EQ(display_width("\u6f22\u5b57"), 4U);
  EXPECT_EQ(cut_to("\u6f22\u5b57\u6f22", 4, narrow), "\u6f22\u2026");
}

TEST(Json, KeepsTheEndsOfSixtyFourBits) {
  Total total;
  total.key = "k";
  total.total = std::numeric_limits<std::int64_t>::max();
  total.slots = 1;
  EXPECT_EQ(total_json("c", total),
            R"({"counter":"c","key":"k","total":9223372036854775807,"freshness":"live","as_of":"1970-01-01T00:00:00.000Z","slots":1})");
  total.key.reset();
  total.total = std::numeric_limits<std::int64_t>::min();
  EXPECT_NE(total_json("c", total).find(R"("key":null,"total":-9223372036854775808)"), std::string::npos);
}

TEST(Json, AnErrorCarriesItsCodeItsSentenceAndTwoAnswers) {
  Error error;
  error.code = ErrorCode::slot_missing;
  error.message = "the counter c has no slot 12";
  EXPECT_EQ(error_json(error),
            R"({"error":{"code":"slot_missing","message":"the counter c has no slot 12","retryable":false,"outcome_unknown":false}})");
}

TEST(Json, AFileNameThatIsNotUtf8IsShownAndNotThrown) {
  CountSummary summary;
  summary.counter = "c";
  summary.files.push_back({"a\xff", {}});
  EXPECT_NE(summary_json(summary).find("a\uFFFD"), std::string::npos);
}

}  // namespace
}  // namespace splitcount::cli
