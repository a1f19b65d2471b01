#include <intake/access_log.h>

#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <base/limits.h>
#include <intake/test_support.h>

namespace splitcount::intake {
namespace {

const std::string combined =
    R"(192.168.0.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a/b?c=d HTTP/1.0" 304 2326 "http://from/" "Mozilla/4.08 [en]")";
const std::string common = R"(192.168.0.7 - frank [10/Oct/2000:13:55:36 -0700] "GET /a/b?c=d HTTP/1.0" 304 2326)";

/// The key, or the reason in brackets.
std::string key_of(std::string_view line, Field field) {
  std::string scratch;
  auto reading = read_key(line, field, limits::log_line_bytes_max, scratch);
  if (reading.reason == Reason::none) reading.reason = key_reason(reading.text);
  if (reading.reason != Reason::none) return "[" + std::string(to_text(reading.reason)) + "]";
  return std::string(reading.text);
}

std::string path_of_target(std::string_view target) {
  std::string scratch;
  return std::string(path_of(target, scratch));
}

std::string request(std::string_view text) { return "h - - [t] \"" + std::string(text) + "\" 200 1"; }

TEST(ReadKey, FindsEachFieldOfACombinedLine) {
  EXPECT_EQ(key_of(combined, Field::target), "/a/b?c=d");
  EXPECT_EQ(key_of(combined, Field::path), "/a/b");
  EXPECT_EQ(key_of(combined, Field::host), "192.168.0.7");
  EXPECT_EQ(key_of(combined, Field::status), "304");
  EXPECT_EQ(key_of(combined, Field::referer), "http://from/");
  EXPECT_EQ(key_of(combined, Field::agent), "Mozilla/4.08 [en]");
  EXPECT_EQ(key_of(combined, Field::line), combined);
}

TEST(ReadKey, FindsTheFieldsOfACommonLineAndMissesTheOthers) {
  EXPECT_EQ(key_of(common, Field::target), "/a/b?c=d");
  EXPECT_EQ(key_of(common, Field::status), "304");
  EXPECT_EQ(key_of(common, Field::referer), "[no referer]");
  EXPECT_EQ(key_of(common, Field::agent), "[no agent]");
}

TEST(ReadKey, KeepsBackslashEscapesAsTheyStandInTheLog) {
  EXPECT_EQ(key_of(request(R"(GET /a\"b\x0a\\ HTTP/1.1)"), Field::target), R"(/a\"b\x0a\\)");
  EXPECT_EQ(key_of(R"(h - - [t] "GET / HTTP/1.1" 200 1 "r" "a \"quoted\" agent")", Field::agent), R"(a \"quoted\" agent)");
}

TEST(ReadKey, EndsAQuotedFieldAfterAnEscapedBackslash) {
  EXPECT_EQ(key_of(R"(h - - [t] "GET /a\\" 200 1 "r" "agent")", Field::target), R"(/a\\)");
  EXPECT_EQ(key_of(R"(h - - [t] "GET /a\\" 200 1 "r" "agent")", Field::referer), "r");
}

TEST(ReadKey, TakesTheRequestsSecondWord) {
  EXPECT_EQ(key_of(request("GET /"), Field::target), "/");
  EXPECT_EQ(key_of(request("GET  /two-blanks HTTP/1.1"), Field::target), "/two-blanks");
  EXPECT_EQ(key_of(request("GET /stray blank HTTP/1.1"), Field::target), "/stray");
  EXPECT_EQ(key_of(request("OPTIONS * HTTP/1.1"), Field::target), "*");
  EXPECT_EQ(key_of(request("CONNECT a.example:443 HTTP/1.1"), Field::path), "a.example:443");
}

TEST(ReadKey, RefusesARequestWithoutTarget) {
  for (const auto* text : {"-", "", "GET", "GET ", " ", R"(\x16\x03\x01)", "GET  HTTP/1.1"}) {
    EXPECT_EQ(key_of(request(text), Field::target), "[no target in the request]") << text;
    EXPECT_EQ(key_of(request(text), Field::path), "[no target in the request]") << text;
  }
}

TEST(ReadKey, RefusesALineWithoutRequest) {
  for (const auto field : {Field::target, Field::path, Field::status, Field::referer, Field::agent}) {
    EXPECT_EQ(key_of("no quotes at all", field), "[no request]");
    EXPECT_EQ(key_of(R"(only \" escaped)", field), "[no request]");
    EXPECT_EQ(key_of("", field), "[empty line]");
  }
  EXPECT_EQ(key_of("", Field::host), "[empty line]");
  EXPECT_EQ(key_of("", Field::line), "[key is empty]");
}

TEST(ReadKey, NeedsTheEndOfATargetButNotOfTheRequest) {
  EXPECT_EQ(key_of(R"(h - - [t] "GET /whole HTT)", Field::target), "/whole");
  EXPECT_EQ(key_of(R"(h - - [t] "GET /cu)", Field::target), "[no end of the request]");
  EXPECT_EQ(key_of(R"(h - - [t] "GE)", Field::target), "[no end of the request]");
  EXPECT_EQ(key_of(R"(h - - [t] "GET /whole HTT)", Field::status), "[no end of the request]");
}

TEST(ReadKey, TakesAnAgentWithoutItsClosingQuoteToTheEndOfTheLine) {
  const std::string line = R"(h - - [t] "GET / HTTP/1.1" 200 1 "r" "agent (compatible)";
  EXPECT_EQ(key_of(line, Field::agent), "agent (compatible");
  EXPECT_EQ(key_of(line, Field::target), "/");
  EXPECT_EQ(key_of(R"(h - - [t] "GET / HTTP/1.1" 200 1 "cut)", Field::referer), "[no referer]");
  EXPECT_EQ(key_of(R"(h - - [t] "GET / HTTP/1.1" 200 1 "cut)", Field::agent), "[no agent]");
}

TEST(ReadKey, WantsThreeDigitsForAStatus) {
  EXPECT_EQ(key_of(R"(h - - [t] "GET /" 200)", Field::status), "200");
  for (const auto* rest : {"", " ", " -", " 20", " 2000", " 20x 1", "200 1", "  200 1"}) {
    EXPECT_EQ(key_of(R"(h - - [t] "GET /")" + std::string(rest), Field::status), "[no status]") << rest;
  }
}

TEST(ReadKey, WantsABlankBehindTheHost) {
  EXPECT_EQ(key_of("oneword", Field::host), "[not an access log line]");
  EXPECT_EQ(key_of(" leading blank", Field::host), "[not an access log line]");
  EXPECT_EQ(key_of("2001:db8::1 - -", Field::host), "2001:db8::1");
}

TEST(ReadKey, NamesWhatIsWrongWithAKey) {
  EXPECT_EQ(key_of(request("GET /" + std::string(767, 'a') + " HTTP/1.1"), Field::target).size(), 768U);
  EXPECT_EQ(key_of(request("GET /" + std::string(768, 'a') + " HTTP/1.1"), Field::target), "[key longer than 768 bytes]");
  EXPECT_EQ(key_of(request("GET /\xff HTTP/1.1"), Field::target), "[key is not UTF-8]");
  EXPECT_EQ(key_of(request(std::string("GET /a\0b HTTP/1.1", 17)), Field::target), "[key holds a NUL byte]");
  EXPECT_EQ(key_of(R"(h - - [t] "GET /" 200 1 "" "")", Field::referer), "[key is empty]");
  EXPECT_EQ(key_of(request("GET ?only=query HTTP/1.1"), Field::path), "[key is empty]");
}

TEST(ReadKey, MeasuresALineWithoutItsNewline) {
  std::string scratch;
  EXPECT_EQ(read_key("12345", Field::line, 5, scratch).reason, Reason::none);
  EXPECT_EQ(read_key("123456", Field::line, 5, scratch).reason, Reason::line_too_long);
}

TEST(PathOf, DropsQueryAndFragment) {
  EXPECT_EQ(path_of_target("/a?b#c?d"), "/a");
  EXPECT_EQ(path_of_target("/a#b?c"), "/a");
  EXPECT_EQ(path_of_target("/"), "/");
}

TEST(PathOf, ReducesTheAbsoluteFormToItsPath) {
  EXPECT_EQ(path_of_target("http://host.example/a?b"), "/a");
  EXPECT_EQ(path_of_target("HTTPS://host.example:8443/"), "/");
  EXPECT_EQ(path_of_target("http://host.example"), "/");
  EXPECT_EQ(path_of_target("http://host.example?q"), "/");
  EXPECT_EQ(path_of_target("/http://host.example/a"), "/http://host.example/a");
  EXPECT_EQ(path_of_target("//host.example/a"), "//host.example/a");
  EXPECT_EQ(path_of_target("1http://host/a"), "1http://host/a");
  EXPECT_EQ(path_of_target("ht tp://host/a"), "ht tp://host/a");
}

TEST(PathOf, DecodesUnreservedCharactersOnceAndNothingElse) {
  EXPECT_EQ(path_of_target("/%7Euser/%61%2D%2e%5f%39"), "/~user/a-._9");
  EXPECT_EQ(path_of_target("/%2F%20%25%C3%A9%00"), "/%2F%20%25%C3%A9%00");
  EXPECT_EQ(path_of_target("/%2541"), "/%2541");
  EXPECT_EQ(path_of_target("/%%341"), "/%41");
  EXPECT_EQ(path_of_target("/%4"), "/%4");
  EXPECT_EQ(path_of_target("/%"), "/%");
  EXPECT_EQ(path_of_target("/%zz%G1"), "/%zz%G1");
  EXPECT_EQ(path_of_target("/a%3Fb?c"), "/a%3Fb");
}

TEST(EachLine, CutsOneCarriageReturnBeforeANewline) {
  std::vector<std::string> lines;
  std::vector<std::size_t> starts;
  each_line("a\r\n\n\r\nb\r\r\nc\rd\n", [&](std::string_view line, std::size_t start) {
    lines.emplace_back(line);
    starts.push_back(start);
  });
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "", "", "b\r", "c\rd"}));
  EXPECT_EQ(starts, (std::vector<std::size_t>{0, 3, 4, 6, 10}));
}

TEST(ExampleLog, HasTheTargetsThatAwkFinds) {
  const auto bytes = read_file(example_log());
  std::map<Field, std::map<std::string, int>> keys;
  int lines = 0;
  each_line(bytes, [&](std::string_view line, std::size_t) {
    ++lines;
    for (const auto field : {Field::target, Field::host, Field::agent}) ++keys[field][key_of(line, field)];
  });
  EXPECT_EQ(lines, 10'000);
  EXPECT_EQ(keys[Field::target].size(), 1'498U);
  EXPECT_EQ(keys[Field::target]["/favicon.ico"], 807);
  EXPECT_EQ(keys[Field::host].size(), 1'753U);
  for (const auto& [field, counts] : keys) {
    for (const auto& [key, count] : counts) EXPECT_NE(key.front(), '[') << key << " " << count;
  }
}

TEST(ExampleLog, CountsTheLineThatLacksItsClosingQuote) {
  const auto bytes = read_file(example_log());
  int number = 0;
  each_line(bytes, [&](std::string_view line, std::size_t) {
    if (++number != 8'899) return;
    EXPECT_EQ(key_of(line, Field::target), "/scripts/grok-py-test/configlib.py");
    EXPECT_EQ(key_of(line, Field::agent), "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html");
  });
}

/// Bytes that look enough like a log to get into every branch.
rc::Gen<std::string> log_like() {
  return rc::gen::container<std::string>(
      rc::gen::weightedOneOf<char>({{6, rc::gen::elementOf(std::string("\"\\ %?#/:aG2[-"))}, {1, rc::gen::arbitrary<char>()}}));
}

RC_GTEST_PROP(ReadKey, GivesAPartOfTheLineOrAReasonForAnyBytes, ()) {
  const auto line = *log_like();
  for (const auto field :
       {Field::target, Field::path, Field::host, Field::status, Field::referer, Field::agent, Field::line}) {
    std::string scratch;
    const auto reading = read_key(line, field, 40, scratch);
    RC_ASSERT(reading.text.size() <= line.size());
    if (reading.reason == Reason::none && field != Field::path) RC_ASSERT(line.find(reading.text) != std::string::npos);
    static_cast<void>(key_reason(reading.text));
  }
}

RC_GTEST_PROP(PathOf, ChangesNothingTheSecondTimeWithoutPercentSigns, ()) {
  auto target = *log_like();
  std::erase(target, '%');
  const auto once = path_of_target("/" + target);
  RC_ASSERT(path_of_target(once) == once);
}

}  // namespace
}  // namespace splitcount::intake
