#include <cli/config.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace splitcount::cli {
namespace {

/// A folder of its own for each test, as the current one.
class ConfigTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "splitcount_config_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    unsetenv("SPLITCOUNT_DB");
  }
  void TearDown() override {
    unsetenv("SPLITCOUNT_DB");
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  static void write(std::string_view text) { std::ofstream("splitcount.toml") << text; }
  static std::string refusal() {
    const auto dsn = find_dsn(std::nullopt);
    EXPECT_FALSE(dsn.has_value());
    if (dsn) return {};
    EXPECT_EQ(dsn.error().code, ErrorCode::config_invalid);
    return dsn.error().message;
  }
  static std::string found(const std::optional<std::string>& flag = std::nullopt) {
    const auto dsn = find_dsn(flag);
    return dsn ? dsn->text : "error: " + dsn.error().message;
  }

 private:
  std::filesystem::path folder_;
  std::filesystem::path before_;
};

TEST_F(ConfigTest, TheFlagBeatsTheVariableBeatsTheFileBeatsTheDefault) {
  EXPECT_EQ(found(), "splitcount.db");
  write("db = \"file.db\"\n");
  EXPECT_EQ(found(), "file.db");
  setenv("SPLITCOUNT_DB", "variable.db", 1);
  EXPECT_EQ(found(), "variable.db");
  EXPECT_EQ(found("flag.db"), "flag.db");
}

TEST_F(ConfigTest, AnEmptyVariableSaysNothingAndAnEmptyFlagIsAnError) {
  setenv("SPLITCOUNT_DB", "", 1);
  EXPECT_EQ(found(), "splitcount.db");
  EXPECT_EQ(found(""), "error: --db is empty; it names a database, e.g. --db splitcount.db");
}

TEST_F(ConfigTest, AnUnknownSettingIsRefusedWithItsLine) {
  write("# ours\ndb = \"a.db\"\nDB = \"b.db\"\n");
  EXPECT_EQ(refusal(), "splitcount.toml line 3: there is no setting \"DB\"; the one there is is db");
}

TEST_F(ConfigTest, WhatIsNotTomlIsRefusedWithItsLineAndNotRepeated) {
  write("\ndb = postgresql://u:secret@h\n");
  EXPECT_EQ(refusal(), "splitcount.toml line 2: this is not TOML; right is e.g. db = \"splitcount.db\"");
}

TEST_F(ConfigTest, ADatabaseIsNamedByAText) {
  for (const auto* value : {"5", "\"\"", "[\"a\"]", "true"}) {
    write(std::string("db = ") + value + "\n");
    EXPECT_EQ(refusal(), "splitcount.toml line 1: db is a text that names a database, e.g. db = \"splitcount.db\"");
  }
}

TEST_F(ConfigTest, AFolderOrAHugeFileIsNoConfiguration) {
  std::filesystem::create_directory("splitcount.toml");
  EXPECT_EQ(refusal(), "splitcount.toml is no file");
  std::filesystem::remove("splitcount.toml");
  write(std::string(100'000, '#'));
  EXPECT_EQ(refusal(), "splitcount.toml has more than 65,536 bytes");
}

TEST_F(ConfigTest, APasswordInTheFlagIsRefusedAndNotRepeated) {
  for (const auto* dsn : {"postgresql://u:secret@host/db", "mysql://u:sec/ret@host/db", "postgresql://host/db?password=secret",
                          "odbc:DSN=x;PWD=secret", "postgresql:host=h password=secret"}) {
    EXPECT_TRUE(holds_password(dsn)) << dsn;
    const auto message = found(dsn);
    EXPECT_EQ(message.find("ret"), std::string::npos) << message;
    EXPECT_NE(message.find("SPLITCOUNT_DB"), std::string::npos) << message;
  }
  for (const auto* dsn : {"a.db", "sqlite:a:b@c.db", "postgresql://u@host:5432/db", "postgresql://host:5432/db", "x@y:z.db"})
    EXPECT_FALSE(holds_password(dsn)) << dsn;
}

}  // namespace
}  // namespace splitcount::cli
