#include <cli/command.h>

#include <gtest/gtest.h>

namespace splitcount::cli {
namespace {

using Words = std::vector<std::string>;

Command example() {
  Command command("splitcount example", "An example.");
  command.argument("NAME", "The counter");
  command.argument("KEY", "Keys", 0, static_cast<std::size_t>(-1));
  command.option("--by", "N", "The amount");
  command.option("-n,--number", "N", "How many");
  command.option("--request-id", "ID", "An id");
  command.flag("--again", "Once more");
  command.flag("-h,--help", "This help");
  return command;
}

Words arguments_of(const Words& words) {
  auto command = example();
  EXPECT_TRUE(command.parse(words).has_value());
  return command.arguments();
}

std::string value_of(std::string_view name, const Words& words) {
  auto command = example();
  const auto parsed = command.parse(words);
  EXPECT_TRUE(parsed.has_value()) << parsed.error().message;
  return command.value(name).value_or("(none)");
}

std::string refusal_of(const Words& words) {
  auto command = example();
  const auto parsed = command.parse(words);
  EXPECT_FALSE(parsed.has_value());
  if (parsed) return {};
  EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
  return parsed.error().message;
}

TEST(Command, TakesWordsAsTheyStandWhereCli11WouldChangeThem) {
  EXPECT_EQ(arguments_of({"c", "[a,b]", "{}", "%%", "", "a=b"}), (Words{"c", "[a,b]", "{}", "%%", "", "a=b"}));
  for (const auto* value : {"9223372036854775808", "010", "0x10", "[1,2]", "{}", "", " 5", "-3", "--again", "\"5\""}) {
    EXPECT_EQ(value_of("--by", {"c", "--by", value}), value);
    EXPECT_EQ(value_of("--by", {"c", std::string("--by=") + value}), value);
  }
}

TEST(Command, AnEmptyValueAfterAnEqualsSignDoesNotSwallowTheNextWord) {
  auto command = example();
  ASSERT_TRUE(command.parse(Words{"c", "--request-id=", "key"}).has_value());
  EXPECT_EQ(command.value("--request-id"), "");
  EXPECT_EQ(command.arguments(), (Words{"c", "key"}));
}

TEST(Command, OptionsMayStandAnywhereBeforeTheTwoDashes) {
  EXPECT_EQ(arguments_of({"--by", "3", "c", "--again", "k"}), (Words{"c", "k"}));
  EXPECT_EQ(arguments_of({"c", "--", "--by", "-", "--"}), (Words{"c", "--by", "-", "--"}));
  EXPECT_EQ(arguments_of({"-"}), (Words{"-"}));
}

TEST(Command, ShortOptionsTakeTheirValueJoinedOrApart) {
  EXPECT_EQ(value_of("--number", {"c", "-n", "10"}), "10");
  EXPECT_EQ(value_of("--number", {"c", "-n10"}), "10");
  EXPECT_EQ(value_of("--number", {"c", "--number=10"}), "10");
}

TEST(Command, RefusesWhatItDoesNotKnowAndNamesTheNearest) {
  EXPECT_EQ(refusal_of({"c", "--agian"}), "splitcount example has no option \"--agian\"; did you mean --again?");
  EXPECT_EQ(refusal_of({"c", "-3"}),
            "splitcount example has no option \"-3\"; an amount stands after --by, and a key that begins with a dash after --");
  EXPECT_NE(refusal_of({"c", "--NAME"}).find("has no option"), std::string::npos);
}

TEST(Command, RefusesOptionsWithoutTheirValueWithOneTooManyOrTwice) {
  EXPECT_EQ(refusal_of({"c", "--by"}), "--by needs a value: --by N");
  EXPECT_EQ(refusal_of({"c", "--again=yes"}), "--again takes no value");
  EXPECT_EQ(refusal_of({"c", "--by", "1", "--by=2"}), "--by is given twice; give it once");
  EXPECT_EQ(refusal_of({"c", "-n", "1", "--number", "2"}), "--number is given twice; give it once");
}

TEST(Command, CountsItsArguments) {
  EXPECT_EQ(refusal_of({}), "NAME is missing: splitcount example NAME [KEY...] [options]");
  Command command("splitcount one", "One.");
  command.argument("NAME", "The counter");
  command.flag("--help", "This help");
  const auto parsed = command.parse(Words{"a", "b"});
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().message, "\"b\" is one word too many: splitcount one NAME [options]");
}

TEST(Command, HelpNeedsNoArguments) {
  auto command = example();
  EXPECT_TRUE(command.parse(Words{"--help"}).has_value());
  const auto help = command.help();
  EXPECT_NE(help.find("Usage: splitcount example NAME [KEY...] [options]"), std::string::npos);
  EXPECT_NE(help.find("--by N"), std::string::npos);
}

TEST(Command, LeadingOptionsEndAtTheFirstWord) {
  Command command("splitcount", "Counts.");
  command.option("--db", "DSN", "The database");
  command.flag("--json", "JSON");
  const auto used = command.parse_leading_options(Words{"--db", "x", "--json", "add", "--unknown"});
  ASSERT_TRUE(used.has_value());
  EXPECT_EQ(*used, 3U);
  EXPECT_EQ(command.value("--db"), "x");
  EXPECT_TRUE(command.has("--json"));
}

}  // namespace
}  // namespace splitcount::cli
