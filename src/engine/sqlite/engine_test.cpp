// Opening files that are none, or not ours to open.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <engine/sqlite/test_database.h>

namespace splitcount::engine::sqlite {
namespace {

class EngineOf : public TestDatabase {
 protected:
  static Result<std::unique_ptr<Connection>> connect_to(const std::string& path, bool create = false) {
    auto engine = engine::open(path);
    if (!engine) return fail(std::move(engine.error()));
    return (*engine)->connect(create, soon());
  }
  static Error error_of(const std::string& path, bool create = false) {
    const auto connected = connect_to(path, create);
    EXPECT_FALSE(connected) << path;
    return connected ? Error{} : connected.error();
  }
  static void write(const std::string& path, const std::string& bytes) { std::ofstream(path) << bytes; }
};

/// root may do everything, so as root these tests act as a user who may not.
class AsOrdinaryUser {
 public:
  AsOrdinaryUser() : was_root_(::geteuid() == 0) {
    if (was_root_) {
      EXPECT_EQ(::seteuid(65'534), 0);
    }
  }
  ~AsOrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;

 private:
  bool was_root_;
};

TEST_F(EngineOf, AMissingFileNamesItAndCreatesNothing) {
  const auto error = error_of(path());
  EXPECT_EQ(error.code, ErrorCode::database_unavailable);
  EXPECT_NE(error.message.find("test.db"), std::string::npos);
  EXPECT_NE(error.message.find("splitcount define"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

TEST_F(EngineOf, AMissingFolderIsNamed) {
  const auto error = error_of(folder_.file("nowhere/test.db"), true);
  EXPECT_EQ(error.code, ErrorCode::database_unavailable);
  EXPECT_NE(error.message.find("there is no folder"), std::string::npos);
}

TEST_F(EngineOf, AFolderIsNoDatabase) {
  EXPECT_EQ(error_of(folder_.path()).code, ErrorCode::not_a_database);
  EXPECT_EQ(error_of(folder_.path(), true).code, ErrorCode::not_a_database);
}

TEST_F(EngineOf, APipeIsNoDatabaseAndDoesNotBlock) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(error_of(path()).code, ErrorCode::not_a_database);
}

TEST_F(EngineOf, AnyOtherFileIsNoDatabaseAndStaysAsItIs) {
  for (const auto& bytes : {std::string("not a database\n"), std::string(5'000, 'x')}) {
    write(path(), bytes);
    EXPECT_EQ(error_of(path()).code, ErrorCode::not_a_database);
    EXPECT_EQ(error_of(path(), true).code, ErrorCode::not_a_database);
    EXPECT_EQ(std::filesystem::file_size(path()), bytes.size());
  }
}

TEST_F(EngineOf, AnEmptyFileIsAnEmptyDatabase) {
  write(path(), "");
  const auto connected = connect_to(path());
  ASSERT_TRUE(connected);
  EXPECT_EQ((*connected)->schema_version().value(), 0);
}

TEST_F(EngineOf, ADamagedFileIsToldAsSuch) {
  const auto counter = define("page_views", by_page(), {"k"});
  const auto page = std::stoi(plain().rows("SELECT rootpage FROM sqlite_schema WHERE name = 'page_views_slots'"));
  ASSERT_EQ(plain().rows("PRAGMA wal_checkpoint(TRUNCATE)"), "0|0|0");
  disconnect();
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(std::streamoff{page - 1} * 4'096);
    file << std::string(4'096, '\xEE');
  }
  auto& c = connection();
  const auto keys_now = c.keys(counter);
  ASSERT_FALSE(keys_now);
  EXPECT_EQ(keys_now.error().code, ErrorCode::database_corrupt);
  EXPECT_FALSE(c.healthy());
}

TEST_F(EngineOf, AFileWithAStrangeNameIsThatFile) {
  for (const auto* name : {"file:x?mode=memory", "a b%20c#.db", "-x", ":x:"}) {
    const auto path = folder_.file(name);
    const auto connected = connect_to("sqlite:" + path, true);
    ASSERT_TRUE(connected) << name;
    ASSERT_TRUE((*connected)->begin(soon()));
    ASSERT_TRUE((*connected)->install());
    ASSERT_TRUE((*connected)->commit());
    EXPECT_TRUE(std::filesystem::exists(path)) << name;
  }
}

TEST_F(EngineOf, ARelativeNameIsNeverTakenForAUri) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto connected = connect_to("sqlite:file:x?mode=memory", true);
  std::filesystem::current_path(before);
  ASSERT_TRUE(connected);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("file:x?mode=memory")));
}

TEST_F(EngineOf, AFileThatMayNotBeWrittenIsReadButNotWritten) {
  const auto counter = define("page_views", by_page());
  ASSERT_EQ(add(counter, to_key("k")), "0");
  disconnect();
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0777));
  std::filesystem::permissions(path(), std::filesystem::perms(0444));
  const AsOrdinaryUser user;
  const auto connected = connect_to(path());
  ASSERT_TRUE(connected) << connected.error().message;
  const auto total = (*connected)->total(counter, "k");
  ASSERT_TRUE(total) << total.error().message;
  EXPECT_EQ((*total)->total, 1);
  EXPECT_EQ(code_of((*connected)->begin(soon())), "read_only");
  const auto status = (*connected)->status();
  ASSERT_TRUE(status);
  EXPECT_EQ(status->warnings.size(), 1U);
  const auto to_create = connect_to(path(), true);
  ASSERT_TRUE(to_create) << to_create.error().message;
}

TEST_F(EngineOf, AFileThatMayNotBeReadIsNamed) {
  define("page_views", by_page());
  disconnect();
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(path(), std::filesystem::perms(0600));
  const AsOrdinaryUser user;
  if (::geteuid() == 65'534) {
    EXPECT_EQ(error_of(path()).code, ErrorCode::permission_denied);
  }
}

TEST_F(EngineOf, AFolderThatMayNotBeWrittenIsNamed) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0555));
  const AsOrdinaryUser user;
  const auto error = error_of(path(), true);
  EXPECT_EQ(error.code, ErrorCode::permission_denied);
  EXPECT_NE(error.message.find("may not write its folder"), std::string::npos);
}

TEST_F(EngineOf, AFolderThatMayNotBeEnteredIsNamed) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0000));
  {
    const AsOrdinaryUser user;
    EXPECT_EQ(error_of(path()).code, ErrorCode::permission_denied);
  }
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0700));
}

}  // namespace
}  // namespace splitcount::engine::sqlite
