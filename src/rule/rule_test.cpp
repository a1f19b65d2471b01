#include <rule/rule.h>

#include <string>

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <base/limits.h>
#include <rule/name.h>

namespace splitcount::rule {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr EngineTraits many_writers{"Manydb", false, 16, true, true, true};
constexpr EngineTraits one_writer{"SQLite", true, 1, false, false, false, "one writer would only lose space"};

ErrorCode code_of(const Rule& rule, const EngineTraits& engine = many_writers) {
  const auto checked = check(rule, engine);
  return checked ? ErrorCode{} : checked.error().code;
}

TEST(Words, ReadBackWhatTheyWrite) {
  for (const Pick pick : {Pick::session, Pick::spread, Pick::random, Pick::request, Pick::free, Pick::value}) {
    EXPECT_EQ(parse_pick(to_text(pick)).value(), pick);
  }
  for (const Missing missing : {Missing::error, Missing::create}) {
    EXPECT_EQ(parse_missing(to_text(missing)).value(), missing);
  }
  for (const Layout layout : {Layout::compact, Layout::padded, Layout::journal}) {
    EXPECT_EQ(parse_layout(to_text(layout)).value(), layout);
  }
}

TEST(Words, NameTheOnesThatAreRight) {
  const auto pick = parse_pick("Random");
  ASSERT_FALSE(pick);
  EXPECT_EQ(pick.error().code, ErrorCode::rule_invalid);
  EXPECT_EQ(pick.error().message,
            "pick is session, spread, random, request, free or value, and \"Random\" is none of them");
  EXPECT_EQ(parse_missing("").error().message, "missing is error or create, and \"\" is none of them");
}

TEST(ParseDuration, TakesAWholeNumberAndAUnit) {
  EXPECT_EQ(parse_duration("90s").value(), seconds{90});
  EXPECT_EQ(parse_duration("15m").value(), seconds{900});
  EXPECT_EQ(parse_duration("24h").value(), hours{24});
  EXPECT_EQ(parse_duration("7d").value(), hours{168});
  EXPECT_EQ(parse_duration("3660d").value(), seconds{limits::window_seconds_max});
}

TEST(ParseDuration, RefusesEveryOtherForm) {
  for (const char* text : {"", "h", "24", "0s", "-1h", "01h", "1.5h", "24H", "24 h", " 24h", "1h30m", "3661d",
                           "316224001s", "9223372036854775807d", "99999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text).error().code, ErrorCode::rule_invalid) << text;
  }
}

TEST(FormatDuration, UsesTheLargestWholeUnit) {
  EXPECT_EQ(format_duration(seconds{90}), "90s");
  EXPECT_EQ(format_duration(seconds{120}), "2m");
  EXPECT_EQ(format_duration(hours{24}), "24h");
  EXPECT_EQ(format_duration(hours{36}), "36h");
  EXPECT_EQ(format_duration(hours{48}), "2d");
}

RC_GTEST_PROP(FormatDuration, IsReadBack, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, limits::window_seconds_max + 1);
  const auto unit = *rc::gen::element<std::int64_t>(1, 60, 3600, 86'400);
  const seconds duration{std::max<std::int64_t>(count / unit * unit, 1)};
  RC_ASSERT(parse_duration(format_duration(duration)).value() == duration);
}

TEST(ParseRetries, ReadsBackWhatIsWritten) {
  for (const char* text : {"count", "once", "once:24h", "once:7d", "once:90s"}) {
    EXPECT_EQ(to_text(parse_retries(text).value()), text);
  }
}

TEST(ParseRetries, RefusesAWindowThatIsNone) {
  for (const char* text : {"", "twice", "once:", "once:0s", "once:x", "count:24h", "Once", "once:4000d"}) {
    EXPECT_EQ(parse_retries(text).error().code, ErrorCode::rule_invalid) << text;
  }
}

TEST(ParseFreshness, ReadsBackWhatIsWritten) {
  EXPECT_EQ(to_text(parse_freshness("live").value()), "live");
  EXPECT_EQ(to_text(parse_freshness("rolled-up:1h").value()), "rolled-up:1h");
  for (const char* text : {"", "rolled-up", "rolled-up:", "rolled_up:1h", "live:1h"}) {
    EXPECT_EQ(parse_freshness(text).error().code, ErrorCode::rule_invalid) << text;
  }
}

TEST(Complete, SpreadsAndCreatesWithAKey) {
  RuleOptions options;
  options.key = "page";
  const Rule rule = complete(options, many_writers);
  EXPECT_EQ(rule, (Rule{"page", 16, Pick::spread, Missing::create, {}, {}, Layout::compact}));
}

TEST(Complete, PicksBySessionAndRefusesMissingSlotsWithoutAKey) {
  const Rule rule = complete({}, one_writer);
  EXPECT_EQ(rule, (Rule{std::nullopt, 1, Pick::session, Missing::error, {}, {}, Layout::compact}));
}

TEST(Complete, KeepsWhatWasSaid) {
  const RuleOptions options{"page",        8, Pick::value, Missing::error, Retries{true, hours{1}}, Freshness{hours{2}},
                            Layout::padded};
  EXPECT_EQ(complete(options, many_writers), (Rule{"page", 8, Pick::value, Missing::error, Retries{true, hours{1}},
                                                   Freshness{hours{2}}, Layout::padded}));
}

TEST(Overlay, LeavesWhatWasNotSaidAsStored) {
  const Rule stored{"page", 8, Pick::random, Missing::error, Retries{true, {}}, {}, Layout::compact};
  EXPECT_EQ(overlay({}, stored), stored);
  RuleOptions options;
  options.slots = 9;
  Rule wanted = stored;
  wanted.slots = 9;
  EXPECT_EQ(overlay(options, stored), wanted);
}

TEST(Check, TakesEveryDefault) {
  RuleOptions keyed;
  keyed.key = "page";
  for (const EngineTraits& engine : {many_writers, one_writer}) {
    EXPECT_TRUE(check(complete({}, engine), engine));
    EXPECT_TRUE(check(complete(keyed, engine), engine));
  }
}

TEST(Check, RefusesSlotsOutOfRange) {
  for (const int slots : {0, -1, 1025}) {
    Rule rule;
    rule.slots = slots;
    EXPECT_EQ(code_of(rule), ErrorCode::rule_invalid) << slots;
  }
}

TEST(Check, RefusesAKeyColumnThatWouldClash) {
  for (const char* key : {"slot", "n", "total", "order", "", "Page", "a b"}) {
    Rule rule;
    rule.key = key;
    EXPECT_EQ(code_of(rule), ErrorCode::name_invalid) << key;
  }
}

TEST(Check, RefusesPickRequestWithoutIds) {
  Rule rule;
  rule.pick = Pick::request;
  EXPECT_EQ(code_of(rule), ErrorCode::rule_invalid);
  rule.retries.once = true;
  EXPECT_EQ(code_of(rule), ErrorCode{});
}

TEST(Check, RefusesAWindowWithoutOnceOrOutOfRange) {
  Rule rule;
  rule.retries = {false, hours{1}};
  EXPECT_EQ(code_of(rule), ErrorCode::rule_invalid);
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, limits::window_seconds_max + 1}) {
    rule.retries = {true, seconds{count}};
    EXPECT_EQ(code_of(rule), ErrorCode::rule_invalid) << count;
    rule.retries = {};
    rule.freshness = {seconds{count}};
    EXPECT_EQ(code_of(rule), ErrorCode::rule_invalid) << count;
    rule.freshness = {};
  }
}

TEST(Check, RefusesWhatTheEngineDoesNotDo) {
  Rule rule;
  rule.layout = Layout::padded;
  EXPECT_EQ(check(rule, one_writer).error().message,
            "layout padded is not on SQLite (one writer would only lose space); use layout compact");
  EXPECT_EQ(code_of(rule, one_writer), ErrorCode::not_on_this_engine);
  EXPECT_EQ(code_of(rule), ErrorCode{});
  rule.layout = Layout::journal;
  EXPECT_EQ(code_of(rule, one_writer), ErrorCode::not_on_this_engine);
  EXPECT_EQ(code_of(rule), ErrorCode{});
  rule.layout = Layout::compact;
  rule.freshness.rolled_up = hours{1};
  EXPECT_EQ(code_of(rule, one_writer), ErrorCode::not_on_this_engine);
  EXPECT_EQ(code_of(rule), ErrorCode{});
}

TEST(Difference, ListsStoredAgainstWanted) {
  const Rule stored{"page", 16, Pick::random, Missing::create, {}, {}, Layout::compact};
  Rule wanted = stored;
  EXPECT_EQ(difference(stored, wanted), "");
  wanted.slots = 8;
  wanted.pick = Pick::spread;
  EXPECT_EQ(difference(stored, wanted), "slots is 16, not 8; pick is random, not spread");
}

TEST(Difference, SeesEveryField) {
  const Rule stored{"page", 16, Pick::random, Missing::create, {}, {}, Layout::compact};
  const Rule wanted{std::nullopt, 8, Pick::value, Missing::error, {true, hours{1}}, {hours{2}}, Layout::journal};
  EXPECT_EQ(
      difference(stored, wanted),
      "key is page, not none; slots is 16, not 8; pick is random, not value; missing is create, not error; retries "
      "is count, not once:1h; freshness is live, not rolled-up:2h; layout is compact, not journal");
  EXPECT_FALSE(check_key_name("none")) << "else the sentence would be ambiguous";
}

TEST(IsPrime, KnowsThePrimesBelow30) {
  std::string primes;
  for (int number = -3; number < 30; ++number) {
    if (is_prime(number)) primes += std::to_string(number) + ' ';
  }
  EXPECT_EQ(primes, "2 3 5 7 11 13 17 19 23 29 ");
  EXPECT_TRUE(is_prime(1021));
  EXPECT_FALSE(is_prime(1023));
}

TEST(PrimesNear, NamesOneBelowAndOneAboveWithinTheSlots) {
  EXPECT_EQ(primes_near(12), "11 or 13");
  EXPECT_EQ(primes_near(16), "13 or 17");
  EXPECT_EQ(primes_near(1), "2");
  EXPECT_EQ(primes_near(2), "2");
  EXPECT_EQ(primes_near(11), "11");
  EXPECT_EQ(primes_near(1024), "1021");
}

}  // namespace
}  // namespace splitcount::rule
