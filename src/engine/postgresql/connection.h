// The engine interface on one PGconn, owned or borrowed. Spread over files by what it does: connection.cpp
// (transactions), schema.cpp, rules.cpp, adds.cpp, maintenance.cpp, streams.cpp, copy.cpp, reads.cpp. Statements are sent without a
// name, so that a pooler in transaction mode may stand between.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <engine/engine.h>
#include <engine/postgresql/errors.h>
#include <engine/postgresql/handle.h>

namespace splitcount::engine::postgresql {

/// The server stops waiting this much before we do, so that it is the server that says why.
inline constexpr std::chrono::milliseconds answer_ms_max{500};
/// A transaction of ours whose client has gone without a word is ended by the server after its deadline, and not before.
inline constexpr std::chrono::milliseconds idle_ms_min{1'000};

class PostgresqlConnection final : public Connection {
 public:
  explicit PostgresqlConnection(Handle owned) : owned_(std::move(owned)), handle_(owned_.get()) {}
  /// The caller's handle: no setting and no statement of ours stays on it, and waiting is as long as the caller's.
  explicit PostgresqlConnection(PGconn* borrowed) : handle_(borrowed) {}

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
  [[nodiscard]] Result<Answer> run(const std::string& sql);
  [[nodiscard]] Result<Answer> run(const std::string& sql, const Parameters& parameters);
  /// A function that has a limit of its own on its wait, which is heard of also where the deadline is nearer.
  [[nodiscard]] Result<Answer> run_to_its_limit(const std::string& sql, const Parameters& parameters = {});
  /// A statement that all counters of the schema in use share.
  [[nodiscard]] Result<Answer> run_shared(std::string_view statement_name, const Parameters& parameters = {});
  [[nodiscard]] Result<void> run_named(std::string_view statement_name);

  /// schema_, looked for where it is not known. Error: not_installed.
  [[nodiscard]] Result<void> find_schema();
  /// not_installed or schema_too_new.
  [[nodiscard]] Result<void> check_schema();
  [[nodiscard]] Result<void> check_server();
  [[nodiscard]] Result<void> check_rights_of_owner(std::string_view name);
  [[nodiscard]] Result<void> check_nothing_in_the_way(std::string_view what, std::span<const std::string> names);
  /// Nothing where the stored rule is the one that this copy was read from; rule_changed, or `gone` where there is
  /// none.
  [[nodiscard]] Result<void> check_current(const StoredCounter& counter, ErrorCode gone);
  /// A statement that writes adds.
  [[nodiscard]] Result<Answer> run_adds(std::string_view statement_name, const StoredCounter& counter,
                                        std::span<const ReadyAdd> adds, const Parameters& values);
  [[nodiscard]] Result<std::vector<Added>> apply_one(const StoredCounter& counter, const ReadyAdd& add);
  [[nodiscard]] Result<std::vector<Added>> apply_all(const StoredCounter& counter, std::span<const ReadyAdd> adds);
  [[nodiscard]] Result<std::vector<Result<Added>>> apply_each(const StoredCounter& counter,
                                                              std::span<const ReadyAdd> adds);
  /// Work that is overdue, and where it cannot be seen, into a status.
  [[nodiscard]] Result<void> look_for_overdue(Status& status);
  [[nodiscard]] Error noted(Error error);

  Handle owned_;  // null where borrowed
  PGconn* handle_;
  Deadline deadline_ = Deadline::max();
  std::string schema_;  // where the shared objects are, quoted; empty: not known
  bool healthy_ = true;
};

}  // namespace splitcount::engine::postgresql
