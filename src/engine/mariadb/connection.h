// The engine interface on one MYSQL, owned or borrowed. Spread over files by what it does: connection.cpp (transactions),
// schema.cpp, rules.cpp, adds.cpp, maintenance.cpp, streams.cpp, reads.cpp. Statements are sent as text, so that one round
// trip is enough.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/engine.h>
#include <engine/mariadb/handle.h>

namespace splitcount::engine::mariadb {

/// The server stops waiting this much before we do, so that it is the server that says why.
inline constexpr std::chrono::milliseconds answer_ms_max{500};

class MariadbConnection final : public Connection {
 public:
  explicit MariadbConnection(Handle owned) : owned_(std::move(owned)), handle_(owned_.get()) {}
  /// The caller's handle: no setting of ours stays on it, and waiting is as long as the caller's.
  explicit MariadbConnection(MYSQL* borrowed) : handle_(borrowed) {}
  ~MariadbConnection() override = default;

  /// What each session of ours begins with.
  Result<void> set_up(Deadline deadline);

  Result<void> begin(Deadline deadline) override;
  Result<void> commit() override;
  void rollback() noexcept override;
  bool healthy() const noexcept override;
  void set_wait(Deadline deadline) noexcept override { deadline_ = deadline; }

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
  /// Sends statements; an error in the answers says whether the transaction is dead.
  [[nodiscard]] Answers send(std::string_view sql);
  /// The rows of the last statement that has some.
  [[nodiscard]] Result<Answer> run(std::string_view sql, const Values& values = {});
  /// How many rows the last statement changed.
  [[nodiscard]] Result<std::int64_t> change(std::string_view sql, const Values& values = {});
  [[nodiscard]] Result<Answer> run_shared(std::string_view statement_name, const Values& values = {});
  [[nodiscard]] Result<void> run_named(std::string_view statement_name);
  /// One after the other, so that a caller's handle takes them too.
  [[nodiscard]] Result<void> run_each(std::span<const std::string> texts);

  [[nodiscard]] Result<void> check_schema();
  [[nodiscard]] Result<void> check_server();
  [[nodiscard]] Result<void> check_nothing_in_the_way(std::string_view what, std::span<const std::string> names);
  /// Nothing where the stored rule is the one that this copy was read from; rule_changed, or `gone` where there is
  /// none.
  [[nodiscard]] Result<void> check_current(const StoredCounter& counter, ErrorCode gone);
  [[nodiscard]] Result<void> lock_definitions();
  void unlock_definitions() noexcept;
  [[nodiscard]] Result<void> set_triggers(const StoredCounter& counter, std::optional<std::string_view> place);
  /// Takes away a counter that is not ready: its objects and its row.
  [[nodiscard]] Result<void> clear_away(std::string_view counter);

  /// Work that is overdue, and where it cannot be seen, into a status.
  [[nodiscard]] Result<void> look_for_overdue(Status& status);
  struct Sent;  // an add, or several that were merged, as one statement
  [[nodiscard]] std::vector<Sent> statements_of(const StoredCounter& counter, std::span<const ReadyAdd> adds) const;
  [[nodiscard]] Result<std::vector<Result<Added>>> apply_all(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                                             Refusal refusal);
  /// Runs them until one fails; how many were done.
  [[nodiscard]] std::size_t run_adds(std::span<const Sent> sent, std::vector<Result<Added>>& results, Error& error);
  [[nodiscard]] Error explained(Error error, const StoredCounter& counter) const;
  [[nodiscard]] Error noted(Error error);

  Handle owned_;  // null where borrowed
  MYSQL* handle_;
  Deadline deadline_ = Deadline::max();
  std::string made_;          // the counter that create() made in this transaction; empty: none
  bool is_defining_ = false;  // the lock of definitions is ours
  bool is_lost_ = false;      // the server has rolled back the transaction that we think we are in
  bool healthy_ = true;
};

}  // namespace splitcount::engine::mariadb
