#include <set>
#include <string>

#include <gtest/gtest.h>

#include <intake/count.h>
#include <intake/reason.h>

namespace splitcount::intake {
namespace {

TEST(Words, FormatsAndFieldsAreReadAsTheyAreShown) {
  for (const auto format : {Format::automatic, Format::combined, Format::common, Format::lines}) {
    EXPECT_EQ(parse_format(to_text(format)).value(), format);
  }
  for (const auto field :
       {Field::target, Field::path, Field::host, Field::status, Field::referer, Field::agent, Field::line}) {
    EXPECT_EQ(parse_field(to_text(field)).value(), field);
  }
}

TEST(Words, AWrongWordIsAnsweredWithTheRightOnes) {
  const auto format = parse_format("json");
  ASSERT_FALSE(format);
  EXPECT_EQ(format.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(format.error().message, "\"json\" is no log format: auto, combined, common or lines would be right");
  EXPECT_EQ(parse_field("").error().message,
            "\"\" is no key field: target, path, host, status, referer, agent or line would be right");
}

TEST(Words, EveryReasonHasAPhraseOfItsOwn) {
  std::set<std::string_view> phrases;
  for (std::size_t i = 0; i < reasons_count; ++i) phrases.insert(to_text(static_cast<Reason>(i)));
  EXPECT_EQ(phrases.size(), reasons_count);
}

}  // namespace
}  // namespace splitcount::intake
