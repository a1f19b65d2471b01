// INSERT INTO page_views_add: what any program may send.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/sqlite/quote.h>
#include <engine/sqlite/test_database.h>
#include <rule/key.h>
#include <rule/pick.h>

namespace splitcount::engine::sqlite {
namespace {

using AddView = TestDatabase;

std::string hex_text(std::string_view bytes) {
  std::string out = "CAST(x'";
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out + "' AS TEXT)";
}

TEST_F(AddView, CountsOneWhereNoAmountIsGiven) {
  define("page_views", by_page());
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page) VALUES ('/home'), ('/home')"), "");
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, amount) VALUES ('/home', 40), ('/about', -2)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views ORDER BY page"), "/about|-2 /home|42");
}

TEST_F(AddView, CountsACounterWithoutKey) {
  Rule rule;
  rule.slots = 11;
  rule.pick = Pick::value;
  define("prizes_won", rule);
  EXPECT_EQ(plain().rows("SELECT * FROM prizes_won"), "0");
  EXPECT_EQ(plain().run("INSERT INTO prizes_won_add(value) VALUES (4711), (-1), (0)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM prizes_won_slots"), "0|1 3|1 10|1");
  EXPECT_EQ(plain().rows("SELECT * FROM prizes_won"), "3");
}

TEST_F(AddView, TakesItsPlaceInTheTransaction) {
  define("page_views", by_page());
  plain().run("BEGIN; INSERT INTO page_views_add(page) VALUES ('/home'); ROLLBACK");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "");
  plain().run("BEGIN; INSERT INTO page_views_add(page) VALUES ('/home'); COMMIT");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "/home|1");
}

TEST_F(AddView, RefusesAmountsThatAreNoIntegers) {
  define("page_views", by_page());
  for (const auto* amount : {"'5'", "1.5", "1.0", "x'05'", "'+5'", "''", "9223372036854775808", "1e3"}) {
    EXPECT_EQ(plain().code(fmt::format("INSERT INTO page_views_add(page, amount) VALUES ('a', {})", amount)),
              "amount_invalid")
        << amount;
  }
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, amount) VALUES ('a', 0)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|0");
}

TEST_F(AddView, RefusesWhatIsNoKey) {
  define("page_views", by_page());
  const std::string longest(768, 'k');
  for (const auto& key : {std::string("NULL"), std::string("5"), std::string("1.5"), std::string("x'61'"),
                          std::string("''"), quote_text(longest + "k"), hex_text(std::string_view("a\0b", 3)),
                          hex_text(std::string_view("\0", 1)), hex_text("\xC3"), hex_text("a\x80")}) {
    EXPECT_EQ(plain().code("INSERT INTO page_views_add(page) VALUES (" + key + ")"), "key_invalid") << key;
  }
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page) VALUES (" + quote_text(longest) + ")"), "");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_slots"), "1");
}

TEST_F(AddView, KeepsKeysApartThatLookAlike) {
  define("page_views", by_page());
  const std::string long_key(299, 'x');
  const std::vector<std::string> keys{"Ab", "ab",  "AB",    "ab ",          "\xC3\xA9",    "e\xCC\x81",
                                      "11", "011", "1.1e1", long_key + "1", long_key + "2"};
  for (const auto& key : keys) {
    EXPECT_EQ(plain().run("INSERT INTO page_views_add(page) VALUES (" + quote_text(key) + ")"), "") << key;
  }
  for (const auto& key : keys) {
    EXPECT_EQ(plain().rows("SELECT total FROM page_views WHERE page = " + quote_text(key)), "1") << key;
  }
}

TEST_F(AddView, AgreesWithTheLibraryOnWhatIsUtf8) {
  define("page_views", by_page());
  // Ends of ranges, noncharacters, overlong forms, surrogates, cut-off and stray bytes.
  const std::vector<std::string> keys{"\xEF\xBF\xBD",
                                      "\xEF\xBF\xBE",
                                      "\xEF\xBF\xBF",
                                      "\xF4\x8F\xBF\xBF",
                                      "\xF0\x90\x80\x80",
                                      "\xED\x9F\xBF",
                                      "\xEE\x80\x80",
                                      "\xDF\xBF",
                                      "\xC2\x80",
                                      "\xE0\xA0\x80",
                                      "\xF0\x9F\x98\x80",
                                      "\xC0\xAF",
                                      "\xC1\xBF",
                                      "\xE0\x80\xAF",
                                      "\xE0\x9F\xBF",
                                      "\xF0\x8F\xBF\xBF",
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",
                                      "\xF8\x88\x80\x80\x80",
                                      "\xFE",
                                      "\xFF",
                                      "\x80",
                                      "\xBF",
                                      "a\xC3",
                                      "\xC3"
                                      "a",
                                      "\xE2\x82",
                                      "\xE2\x82"
                                      "a",
                                      "\xF0\x9F\x98",
                                      "\xC3\xA9\xA9",
                                      "\xC3\xEF\xBF\xBE\xA9",
                                      "\xEF\xBF\xBE\x80",
                                      "\xEF\xBB\xBF",
                                      "\xEF\xBB\xBF"
                                      "a"};
  for (const auto& key : keys) {
    const auto message = plain().run("INSERT INTO page_views_add(page) VALUES (" + hex_text(key) + ")");
    EXPECT_EQ(message.empty(), rule::is_valid_key(key)) << quoted(key) << ": " << message;
  }
}

TEST_F(AddView, AgreesWithTheLibraryOnAnyBytes) {
  define("page_views", by_page());
  plain().run("BEGIN");
  EXPECT_TRUE(rc::check([this] {
    const auto byte = rc::gen::element<char>('a', '\x7F', '\x80', '\x8F', '\x90', '\x9F', '\xA0', '\xBD', '\xBE',
                                             '\xBF', '\xC2', '\xC3', '\xE0', '\xED', '\xEF', '\xF0', '\xF4', '\0');
    const auto keys =
        *rc::gen::container<std::vector<std::string>>(30, rc::gen::resize(6, rc::gen::container<std::string>(byte)));
    for (const auto& key : keys) {
      const auto message = plain().run("INSERT INTO page_views_add(page) VALUES (" + hex_text(key) + ")");
      RC_ASSERT(message.empty() == rule::is_valid_key(key));
    }
  }));
}

TEST_F(AddView, RefusesASlotOutsideTheRule) {
  auto rule = by_page();
  rule.slots = 11;
  rule.pick = Pick::random;
  define("page_views", rule);
  for (const auto* slot : {"-1", "11", "1024", "'3'", "3.0", "9223372036854775807"}) {
    EXPECT_EQ(plain().code(fmt::format("INSERT INTO page_views_add(page, slot) VALUES ('a', {})", slot)),
              "slot_missing")
        << slot;
  }
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, slot) VALUES ('a', 0), ('a', 10)"), "");
  EXPECT_EQ(plain().rows("SELECT slot, n FROM page_views_slots"), "0|1 10|1");
}

TEST_F(AddView, DrawsOneSlotARow) {
  auto rule = by_page();
  rule.slots = 11;
  rule.pick = Pick::random;
  for (const auto missing : {Missing::create, Missing::error}) {
    rule.missing = missing;
    const std::string name = missing == Missing::create ? "made" : "defined";
    define(name, rule, {"k"});
    EXPECT_EQ(
        plain().run(fmt::format("INSERT INTO {}_add(page) WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
                                "FROM i WHERE x < 10000) SELECT 'k' FROM i",
                                name)),
        "");
    EXPECT_EQ(plain().rows("SELECT total FROM " + name), "10000");
    EXPECT_EQ(plain().rows(fmt::format("SELECT count(*), min(n) > 500, max(n) < 1500 FROM {}_slots", name)), "11|1|1");
  }
}

TEST_F(AddView, RefusesMissingRowsWhereTheyAreAnError) {
  auto rule = by_page();
  rule.slots = 4;
  rule.missing = Missing::error;
  define("page_views", rule, {"known"});
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page) VALUES ('other')"), "key_missing");
  plain().run("DELETE FROM page_views_slots WHERE slot = 2");
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, slot) VALUES ('known', 2)"), "slot_missing");
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, slot) VALUES ('known', 3)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views_slots"), "known|0|0 known|1|0 known|3|1");
  Rule single;
  single.slots = 2;
  single.missing = Missing::error;
  define("single", single);
  EXPECT_EQ(plain().run("INSERT INTO single_add(slot) VALUES (1)"), "");
  plain().run("DELETE FROM single_slots WHERE slot = 1");
  EXPECT_EQ(plain().code("INSERT INTO single_add(slot) VALUES (1)"), "slot_missing");
}

TEST_F(AddView, RefusesAValueWhereThePickTakesNoneAndTheReverse) {
  define("page_views", by_page());
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, value) VALUES ('a', 1)"), "value_invalid");
  Rule rule;
  rule.slots = 11;
  rule.pick = Pick::value;
  define("prizes_won", rule);
  for (const auto* values : {"(NULL, NULL)", "('7', NULL)", "(1.5, NULL)", "(7, 7)", "(x'07', NULL)"}) {
    EXPECT_EQ(plain().code(fmt::format("INSERT INTO prizes_won_add(value, slot) VALUES {}", values)), "value_invalid")
        << values;
  }
  EXPECT_EQ(plain().run("INSERT INTO prizes_won_add(value, slot) VALUES (NULL, 7)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM prizes_won"), "1");
}

TEST_F(AddView, KeepsTheEndsOfSixtyFourBits) {
  define("page_views", by_page());
  plain().run("INSERT INTO page_views_add(page, amount) VALUES ('top', 9223372036854775807)");
  plain().run("INSERT INTO page_views_add(page, amount) VALUES ('low', -9223372036854775807), ('low', -1)");
  for (const auto* verb : {"INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "INSERT OR FAIL"}) {
    EXPECT_EQ(plain().code(fmt::format("{} INTO page_views_add(page) VALUES ('new'), ('top')", verb)), "out_of_range")
        << verb;
    EXPECT_EQ(plain().code(fmt::format("{} INTO page_views_add(page, amount) VALUES ('low', -1)", verb)),
              "out_of_range")
        << verb;
  }
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "low|-9223372036854775808 top|9223372036854775807");
  plain().run("INSERT INTO page_views_add(page, amount) VALUES ('top', -1)");
  EXPECT_EQ(plain().rows("SELECT total FROM page_views WHERE page = 'top'"), "9223372036854775806");
}

TEST_F(AddView, KeepsTheEndsOfSixtyFourBitsWhereRowsMustExist) {
  auto rule = by_page();
  rule.missing = Missing::error;
  define("page_views", rule, {"top"});
  plain().run("INSERT INTO page_views_add(page, amount) VALUES ('top', 9223372036854775807)");
  for (const auto* verb : {"INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE"}) {
    EXPECT_EQ(plain().code(fmt::format("{} INTO page_views_add(page) VALUES ('top')", verb)), "out_of_range") << verb;
  }
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "top|9223372036854775807");
}

TEST_F(AddView, AddsUpWhateverConflictClauseTheCallerSends) {
  define("page_views", by_page());
  for (const auto* verb : {"INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE", "REPLACE", "INSERT OR FAIL"}) {
    EXPECT_EQ(plain().run(fmt::format("{} INTO page_views_add(page) VALUES ('a')", verb)), "") << verb;
  }
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|5");
}

TEST_F(AddView, RefusesARequestIdWhereEveryRetryCounts) {
  define("page_views", by_page());
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, request_id) VALUES ('a', 'X')"), "request_id_refused");
}

class AddViewOnce : public AddView {
 protected:
  static Rule once(std::optional<std::chrono::seconds> window = std::nullopt) {
    auto rule = by_page();
    rule.slots = 11;
    rule.pick = Pick::random;
    rule.retries = {.once = true, .window = window};
    return rule;
  }
};

TEST_F(AddViewOnce, CountsAnIdOnceAndGoesOnWithTheNextRow) {
  define("page_views", once());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('a', 'X'), ('b', 'Y'), ('b', 'Y')"),
              "");
  }
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, request_id) SELECT column1, column2 FROM "
                        "(VALUES ('a', 'X'), ('a', 'Z'), ('a', NULL), ('a', NULL))"),
            "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|4 b|1");
  EXPECT_EQ(plain().rows("SELECT request_id, page, amount FROM page_views_requests"), "X|a|1 Y|b|1 Z|a|1");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_requests r WHERE NOT EXISTS "
                         "(SELECT 1 FROM page_views_slots s WHERE s.page = r.page AND s.slot = r.slot)"),
            "0");
}

TEST_F(AddViewOnce, RefusesAnIdWithAnotherKeyOrAmount) {
  define("page_views", once());
  const auto add = [this](const char* verb, const char* values) {
    return plain().code(fmt::format("{} INTO page_views_add(page, amount, request_id) VALUES {}", verb, values));
  };
  EXPECT_EQ(add("INSERT", "('k', 1, 'X')"), "");
  for (const auto* verb : {"INSERT", "INSERT OR IGNORE", "INSERT OR REPLACE"}) {
    EXPECT_EQ(add(verb, "('k', 5, 'X')"), "request_conflict");
    EXPECT_EQ(add(verb, "('l', 1, 'X')"), "request_conflict");
    EXPECT_EQ(add(verb, "('k', 1, 'X')"), "");
  }
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "k|1");
}

TEST_F(AddViewOnce, RefusesWhatIsNoRequestId) {
  define("page_views", once());
  const std::string longest(128, 'i');
  for (const auto& id : {std::string("''"), std::string("5"), std::string("x'61'"), quote_text(longest + "i"),
                         hex_text(std::string_view("a\0b", 3)), hex_text("\xC3")}) {
    EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, request_id) VALUES ('a', " + id + ")"),
              "request_id_invalid")
        << id;
  }
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('a', " + quote_text(longest) + ")"), "");
}

TEST_F(AddViewOnce, LeavesNoIdBehindWhereTheAddIsRefused) {
  define("page_views", once());
  plain().run("INSERT INTO page_views_add(page, amount, slot) VALUES ('a', 9223372036854775807, 3)");
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, slot, request_id) VALUES ('a', 3, 'X')"), "out_of_range");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_requests"), "0");
}

TEST_F(AddViewOnce, CountsAnExpiredIdAnewAndPurgesOthers) {
  define("page_views", once(std::chrono::seconds(60)));
  plain().run(
      "INSERT INTO page_views_add(page, request_id) VALUES ('a', 'old1'), ('a', 'old2'), ('a', 'old3'), ('a', 'X')");
  plain().run("UPDATE page_views_requests SET counted = counted - 60001");
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, amount, request_id) VALUES ('b', 7, 'X')"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|4 b|7");
  EXPECT_EQ(plain().rows("SELECT request_id, page, amount FROM page_views_requests WHERE request_id = 'X'"), "X|b|7");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views_requests"), "2");
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page, amount, request_id) VALUES ('b', 8, 'X')"),
            "request_conflict");
}

TEST_F(AddViewOnce, KnowsAnIdForEverWithoutAWindow) {
  define("page_views", once());
  plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('a', 'X')");
  plain().run("UPDATE page_views_requests SET counted = 0");
  plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('a', 'X')");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|1");
}

TEST_F(AddViewOnce, PicksBySameHashAsTheLibrary) {
  Rule rule;
  rule.slots = 1009;
  rule.pick = Pick::request;
  rule.retries.once = true;
  define("jobs", rule);
  std::vector<std::string> ids{"a", "foobar", "\xC3\xA9", std::string(128, '~'), "7f3a", "A", " ", "\x01\x7F"};
  for (int i = 0; i < 500; ++i) ids.push_back(fmt::format("id-{}-{:x}", i, i * 2654435761U));
  for (const auto& id : ids) {
    ASSERT_EQ(plain().run("INSERT INTO jobs_add(request_id) VALUES (" + quote_text(id) + ")"), "");
    EXPECT_EQ(plain().rows("SELECT slot FROM jobs_requests WHERE request_id = " + quote_text(id)),
              std::to_string(rule::request_hash(id) % 1009))
        << id;
  }
  EXPECT_EQ(plain().run("INSERT INTO jobs_add DEFAULT VALUES"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM jobs"), std::to_string(ids.size() + 1));
}

TEST_F(AddView, FailsWhereTheRuleRowIsGone) {
  define("page_views", by_page());
  plain().run("DELETE FROM splitcount_counters");
  EXPECT_EQ(plain().code("INSERT INTO page_views_add(page) VALUES ('a')"), "unknown_counter");
}

TEST_F(AddViewOnce, WorksWhereTheSchemaIsNotTrusted) {
  auto rule = once(std::chrono::hours(1));
  rule.pick = Pick::request;
  define("page_views", rule);
  plain().run("PRAGMA trusted_schema = OFF");
  sqlite3_db_config(plain().get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('\xC3\xA9', 'X'), ('a', NULL)"), "");
  EXPECT_EQ(plain().rows("SELECT count(*) FROM page_views"), "2");
}

TEST_F(AddViewOnce, WorksWithRecursiveTriggersOn) {
  define("page_views", once());
  plain().run("PRAGMA recursive_triggers = ON");
  EXPECT_EQ(plain().run("INSERT INTO page_views_add(page, request_id) VALUES ('a', 'X'), ('a', 'X'), ('a', NULL)"), "");
  EXPECT_EQ(plain().rows("SELECT * FROM page_views"), "a|2");
}

}  // namespace
}  // namespace splitcount::engine::sqlite
