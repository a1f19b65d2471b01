// The engine interface on one sqlite3 handle, owned or borrowed. Spread over files by what it does: connection.cpp
// (transactions), schema.cpp, rules.cpp, adds.cpp, maintenance.cpp, streams.cpp, copy.cpp, reads.cpp.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/engine.h>
#include <engine/sqlite/busy.h>
#include <engine/sqlite/errors.h>
#include <engine/sqlite/handle.h>
#include <engine/sqlite/statement_cache.h>

namespace splitcount::engine::sqlite {

class SqliteConnection final : public Connection {
 public:
  [[nodiscard]] static std::unique_ptr<SqliteConnection> own(Handle handle);
  /// The caller's handle: no busy handler, no setting and no statement of ours stays on it.
  [[nodiscard]] static std::unique_ptr<SqliteConnection> borrow(sqlite3* handle);

  /// Settings of an owned connection, and a first look at the file. `create`: a database that counters are about to be
  /// installed in is put into WAL mode; one that has them is left in the mode it is in.
  [[nodiscard]] Result<void> prepare_database(bool create, Deadline deadline);

  Result<void> begin(Deadline deadline) override;
  Result<void> commit() override;
  void rollback() noexcept override;
  bool healthy() const noexcept override { return healthy_; }
  void set_wait(Deadline deadline) noexcept override { busy_.set_deadline(deadline); }

  Result<int> schema_version() override;
  Result<void> install() override;
  Result<void> uninstall() override;

  Result<std::optional<StoredCounter>> find(std::string_view name) override;
  Result<std::vector<StoredCounter>> list() override;
  Result<void> create(std::string_view name, const Rule& rule) override;
  Result<std::int64_t> create_keys(const StoredCounter& counter, std::span<const std::string> keys) override;
  Result<void> check_objects(const StoredCounter& counter) override;
  Result<std::int64_t> mend(const StoredCounter& counter) override;
  Result<void> drop(const StoredCounter& counter) override;

  Result<std::vector<Result<Added>>> apply(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                           Refusal refusal) override;

  Result<Folded> fold_deltas(const StoredCounter& counter, std::optional<std::int64_t> pages) override;
  Result<std::int64_t> purge_ids(const StoredCounter& counter) override;

  Result<bool> advance(std::string_view stream, std::int64_t from, std::int64_t to,
                       std::string_view checkpoint) override;
  Result<std::vector<StreamRow>> streams(std::string_view prefix) override;
  Result<void> forget(std::string_view stream) override;

  Result<std::string> identity() override;
  Result<void> set_moved_to(const StoredCounter& counter, std::optional<std::string_view> place) override;
  Result<std::vector<Total>> totals_after(const StoredCounter& counter, std::string_view after, int count) override;
  Result<std::vector<RequestRow>> requests_after(const StoredCounter& counter, std::string_view after, int count) override;
  Result<std::int64_t> put_requests(const StoredCounter& counter, std::span<const RequestRow> requests) override;
  Result<std::vector<std::optional<std::int64_t>>> copied(const StoredCounter& counter,
                                                          std::span<const std::string> keys) override;
  Result<void> put_copied(const StoredCounter& counter, std::span<const std::string> keys,
                          std::span<const std::int64_t> totals) override;
  Result<std::int64_t> forget_copied(const StoredCounter& counter, std::int64_t count) override;

  Result<std::optional<Total>> total(const StoredCounter& counter, std::optional<std::string_view> key) override;
  Result<std::vector<Total>> totals(const StoredCounter& counter, std::span<const std::string> keys) override;
  Result<std::vector<Total>> top(const StoredCounter& counter, int n) override;
  Result<std::vector<Slot>> slots(const StoredCounter& counter, std::string_view key) override;
  Result<std::int64_t> keys(const StoredCounter& counter) override;
  Result<Status> status() override;

 private:
  SqliteConnection(Handle owned, sqlite3* database);

  [[nodiscard]] bool in_transaction() const noexcept { return sqlite3_get_autocommit(database_) == 0; }
  [[nodiscard]] bool is_read_only() const noexcept { return sqlite3_db_readonly(database_, "main") != 0; }
  [[nodiscard]] Result<void> run(std::string_view statement_name);
  /// The first column of the one row.
  [[nodiscard]] Result<std::int64_t> number(std::string_view statement_name);
  [[nodiscard]] Result<std::string> word(std::string_view statement_name);
  [[nodiscard]] Result<void> set_wal(Deadline deadline);

  [[nodiscard]] Result<std::vector<Total>> read_totals_by_key(Query& query, const StoredCounter& counter);
  /// Nothing where the stored rule is the one that this copy was read from; rule_changed, or `gone` where there is
  /// none.
  [[nodiscard]] Result<void> check_current(const StoredCounter& counter, ErrorCode gone);
  /// not_installed or schema_too_new.
  [[nodiscard]] Result<void> check_schema();
  [[nodiscard]] Result<void> check_nothing_in_the_way(std::string_view what, std::span<const std::string> names);
  /// The same error, or, where SQLite says no more than that a statement does not fit the schema, the reason for it.
  [[nodiscard]] Error explained(Error error, const StoredCounter* counter);
  /// Notes what an error says of this connection's health.
  [[nodiscard]] Error noted(Error error);

  Handle owned_;  // null where borrowed; closed after the statements below are finalized
  sqlite3* database_;
  BusyWait busy_;
  StatementCache statements_;
  bool healthy_ = true;
};

}  // namespace splitcount::engine::sqlite
