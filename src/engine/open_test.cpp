#include <engine/engine.h>

#include <gtest/gtest.h>

namespace splitcount::engine {
namespace {

std::string display_name_of(std::string_view dsn) {
  const auto engine = open(dsn);
  return engine ? (*engine)->display_name() : std::string(error_code_name(engine.error().code));
}

TEST(Open, TakesAPathWithoutASchemeAndAfterSqlite) {
  EXPECT_EQ(display_name_of("splitcount.db"), "splitcount.db");
  EXPECT_EQ(display_name_of("sqlite:splitcount.db"), "splitcount.db");
  EXPECT_EQ(display_name_of("sqlite:/srv/a b.db"), "/srv/a b.db");
  EXPECT_EQ(display_name_of("./a:b"), "./a:b");
  EXPECT_EQ(display_name_of("folder/a:b"), "folder/a:b");
  EXPECT_EQ(display_name_of("C:a.db"), "C:a.db");
  EXPECT_EQ(display_name_of("a_b:c"), "a_b:c");
}

TEST(Open, NamesAnUnknownSchemeAndWhatThereIsButNoPassword) {
  for (const auto* dsn : {"oracle://user:secret@host/db", "mysql:secret", "file:secret", "a+b.c-1:secret"}) {
    const auto engine = open(dsn);
    ASSERT_FALSE(engine) << dsn;
    EXPECT_EQ(engine.error().code, ErrorCode::config_invalid);
    EXPECT_NE(engine.error().message.find("sqlite"), std::string::npos);
    EXPECT_EQ(engine.error().message.find("secret"), std::string::npos);
  }
}

TEST(Open, TakesPostgresqlAddressesAndShowsNoPasswordOfThem) {
  EXPECT_EQ(display_name_of("postgresql://u:secret@h:5433/shop"),
            "the PostgreSQL database \"shop\" on \"h\" port \"5433\"");
  EXPECT_EQ(display_name_of("postgres://h/shop"), "the PostgreSQL database \"shop\" on \"h\"");
  EXPECT_EQ(display_name_of("postgresql:host=h dbname=shop password=secret"),
            "the PostgreSQL database \"shop\" on \"h\"");
  EXPECT_EQ(display_name_of("postgresql:service=shop"), "the PostgreSQL database of the service \"shop\"");
  EXPECT_EQ(display_name_of("postgresql:"), "the PostgreSQL database");
  for (const auto* dsn : {"postgresql:host=h secret", "postgresql://u:sec ret@h/%zz", "postgresql:secret=1"}) {
    const auto engine = open(dsn);
    ASSERT_FALSE(engine) << dsn;
    EXPECT_EQ(engine.error().code, ErrorCode::config_invalid);
    EXPECT_EQ(engine.error().message.find("secret"), std::string::npos);
    EXPECT_EQ(engine.error().message.find("ret@"), std::string::npos);
  }
}

TEST(Open, TakesNoPostgresqlAddressWithoutItsSchemeForAFile) {
  for (const auto* dsn : {"host=db password=s3cr3t dbname=shop", "dbname=shop", "user=app password=s3cr3t"}) {
    const auto opened = open(dsn);
    ASSERT_FALSE(opened) << dsn;
    EXPECT_EQ(opened.error().code, ErrorCode::config_invalid);
    EXPECT_NE(opened.error().message.find("postgresql:host="), std::string::npos);
    EXPECT_EQ(opened.error().message.find("s3cr3t"), std::string::npos);
  }
  EXPECT_TRUE(open("./host=db"));
}

TEST(Open, RefusesWhatCanBeNoFile) {
  for (const auto dsn : {std::string_view(""), std::string_view("sqlite:"), std::string_view(":memory:"),
                         std::string_view("sqlite::memory:"), std::string_view("a\0b", 3)}) {
    EXPECT_EQ(display_name_of(dsn), "config_invalid") << dsn;
  }
}

TEST(Open, KnowsTheTraitsOfADialect) {
  ASSERT_NE(traits_of("sqlite"), nullptr);
  EXPECT_TRUE(traits_of("sqlite")->one_writer);
  ASSERT_NE(traits_of("postgresql"), nullptr);
  EXPECT_FALSE(traits_of("postgresql")->one_writer);
  EXPECT_EQ(traits_of("oracle"), nullptr);
  EXPECT_EQ(script("oracle", "a", Rule{}, {}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace splitcount::engine
