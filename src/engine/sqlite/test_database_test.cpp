#include <engine/sqlite/test_database.h>

#include <stdlib.h>

#include <filesystem>

namespace splitcount::engine::sqlite {
namespace {

int add_row(void* out, int columns, char** values, char** /*names*/) {
  auto& text = *static_cast<std::string*>(out);
  if (!text.empty()) text += ' ';
  for (int i = 0; i < columns; ++i) text += (i > 0 ? "|" : "") + std::string(values[i] == nullptr ? "NULL" : values[i]);
  return 0;
}

}  // namespace

TestFolder::TestFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "splitcount-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data());
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Plain::Plain(const std::string& path) {
  sqlite3* opened = nullptr;
  EXPECT_EQ(sqlite3_open(path.c_str(), &opened), SQLITE_OK);
  handle_.reset(opened);
  sqlite3_busy_timeout(opened, 5'000);
  run("PRAGMA synchronous = OFF");  // faster; no test pulls the plug
  // A quoted name that does not resolve would be taken for a text, and hide a mistake.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DQS_DDL, 0, nullptr);
}

std::string Plain::run(const std::string& sql) {
  char* message = nullptr;
  sqlite3_exec(get(), sql.c_str(), nullptr, nullptr, &message);
  std::string out = message == nullptr ? "" : message;
  sqlite3_free(message);
  return out;
}

std::string Plain::code(const std::string& sql) {
  const auto message = run(sql);
  return message.substr(0, message.find(':'));
}

std::string Plain::rows(const std::string& sql) {
  std::string out;
  char* message = nullptr;
  sqlite3_exec(get(), sql.c_str(), add_row, &out, &message);
  if (message != nullptr) out = message;
  sqlite3_free(message);
  return out;
}

std::unique_ptr<Connection> TestDatabase::connect(bool create) const {
  auto engine = engine::open(path());
  EXPECT_TRUE(engine);
  auto opened = (*engine)->connect(create, soon());
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return opened ? std::move(*opened) : nullptr;
}

Connection& TestDatabase::connection() {
  if (!connection_) connection_ = connect();
  return *connection_;
}

StoredCounter TestDatabase::define(const std::string& name, const Rule& rule, const std::vector<std::string>& keys) {
  auto& c = connection();
  EXPECT_TRUE(c.begin(soon()));
  const auto installed = c.install();
  EXPECT_TRUE(installed) << (installed ? "" : installed.error().message);
  const auto created = c.create(name, rule);
  EXPECT_TRUE(created) << (created ? "" : created.error().message);
  const auto counter = c.find(name);
  EXPECT_TRUE(counter && *counter);
  if (!keys.empty()) {
    EXPECT_TRUE(c.create_keys(**counter, keys));
  }
  EXPECT_TRUE(c.commit());
  return **counter;
}

Result<std::vector<Result<Added>>> TestDatabase::apply(const StoredCounter& counter, const std::vector<ReadyAdd>& adds,
                                                       Refusal refusal) {
  auto& c = connection();
  EXPECT_TRUE(c.begin(soon()));
  auto applied = c.apply(counter, adds, refusal);
  if (applied) {
    EXPECT_TRUE(c.commit());
  } else {
    c.rollback();
  }
  return applied;
}

std::string TestDatabase::add(const StoredCounter& counter, const ReadyAdd& one) {
  const auto applied = apply(counter, {one});
  if (!applied) return std::string(error_code_name(applied.error().code));
  return std::to_string(applied->front()->slot) + (applied->front()->replay ? " replay" : "");
}

Plain& TestDatabase::plain() {
  if (!plain_) plain_ = std::make_unique<Plain>(path());
  return *plain_;
}

}  // namespace splitcount::engine::sqlite
