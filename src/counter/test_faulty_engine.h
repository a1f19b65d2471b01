// For tests: a real engine whose connections fail where a test says so. What a fault says of the transaction is true:
// a commit whose answer is lost has really happened or has really not.
#pragma once

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <base/thread_annotations.h>
#include <engine/engine.h>

namespace splitcount::counter {

/// What happens at a commit.
enum class CommitFault : std::uint8_t {
  none,
  lost_kept,      ///< it is committed, and the connection breaks before the answer
  lost_not_kept,  ///< the connection breaks, and it is rolled back
  given_up,       ///< rolled back with a serialization failure
};

[[nodiscard]] inline Error error_with(ErrorCode code, std::string message = "a fault of the test") {
  Error error;
  error.code = code;
  error.message = std::move(message);
  error.retryable = code == ErrorCode::database_busy || code == ErrorCode::serialization_failure ||
                    code == ErrorCode::deadlock || code == ErrorCode::connection_lost;
  error.connection_dead = code == ErrorCode::connection_lost;
  error.outcome_unknown = code == ErrorCode::outcome_unknown;
  return error;
}

/// What is to fail next, and how often it did. Shared by all connections of an engine.
class Faults {
 public:
  void at_commits(std::initializer_list<CommitFault> faults) {
    Lock lock(mutex_);
    commits_.insert(commits_.end(), faults);
  }
  void at_begins(int times, ErrorCode code) { plan(begins_, times, code); }
  void at_applies(int times, ErrorCode code) { plan(applies_, times, code); }
  void at_connects(int times, ErrorCode code) { plan(connects_, times, code); }
  void at_advances(int times, ErrorCode code) { plan(advances_, times, code); }
  /// Every commit draws its fault, `percent` of them one of the three.
  void draw_commits(std::uint64_t seed, int percent) {
    Lock lock(mutex_);
    generator_.seed(seed);
    percent_ = percent;
  }
  /// A refused add is an error of the whole call and kills the transaction, as on engines without a savepoint.
  void let_refusals_kill() {
    Lock lock(mutex_);
    refusals_kill_ = true;
  }
  /// No more faults, and those that were planned are forgotten.
  void stop() {
    Lock lock(mutex_);
    commits_.clear();
    begins_.clear();
    applies_.clear();
    connects_.clear();
    advances_.clear();
    percent_ = 0;
  }
  /// Faults that really happened.
  [[nodiscard]] int fired() const {
    Lock lock(mutex_);
    return fired_;
  }
  /// Connections that were made.
  [[nodiscard]] int connected() const {
    Lock lock(mutex_);
    return connected_;
  }

 private:
  friend class FaultyConnection;
  friend class FaultyEngine;
  using Plan = std::deque<ErrorCode>;

  void plan(Plan& plan, int times, ErrorCode code) {
    Lock lock(mutex_);
    plan.insert(plan.end(), static_cast<std::size_t>(times), code);
  }
  Result<void> next(Plan& plan) {
    Lock lock(mutex_);
    if (plan.empty()) return {};
    const ErrorCode code = plan.front();
    plan.pop_front();
    ++fired_;
    return fail(error_with(code));
  }
  CommitFault next_commit() {
    Lock lock(mutex_);
    CommitFault fault = CommitFault::none;
    if (!commits_.empty()) {
      fault = commits_.front();
      commits_.pop_front();
    } else if (static_cast<int>(generator_() % 100) < percent_) {
      fault = static_cast<CommitFault>(1 + generator_() % 3);
    }
    if (fault != CommitFault::none) ++fired_;
    return fault;
  }
  bool refusals_kill() const {
    Lock lock(mutex_);
    return refusals_kill_;
  }
  void count_connection() {
    Lock lock(mutex_);
    ++connected_;
  }

  mutable Mutex mutex_;
  std::deque<CommitFault> commits_ GUARDED_BY(mutex_);
  Plan begins_, applies_, connects_, advances_;  // guarded by mutex_, which next() and plan() take
  std::mt19937_64 generator_ GUARDED_BY(mutex_);
  int percent_ GUARDED_BY(mutex_) = 0;
  bool refusals_kill_ GUARDED_BY(mutex_) = false;
  int fired_ GUARDED_BY(mutex_) = 0;
  int connected_ GUARDED_BY(mutex_) = 0;
};

class FaultyConnection final : public engine::Connection {
 public:
  FaultyConnection(std::shared_ptr<Faults> faults, std::unique_ptr<engine::Connection> real)
      : faults_(std::move(faults)), real_(std::move(real)) {}

  Result<void> begin(Deadline deadline) override {
    if (broken_) return fail(error_with(ErrorCode::connection_lost));
    if (auto fault = faults_->next(faults_->begins_); !fault) return broken(std::move(fault));
    return real_->begin(deadline);
  }
  Result<void> commit() override {
    switch (faults_->next_commit()) {
      case CommitFault::none: return real_->commit();
      case CommitFault::lost_kept:
        if (auto done = real_->commit(); !done) return done;
        broken_ = true;
        return lost();
      case CommitFault::lost_not_kept:
        real_->rollback();
        broken_ = true;
        return lost();
      case CommitFault::given_up: real_->rollback(); return fail(error_with(ErrorCode::serialization_failure));
    }
    return fail(error_with(ErrorCode::internal));
  }
  void rollback() noexcept override { real_->rollback(); }
  [[nodiscard]] bool healthy() const noexcept override { return !broken_ && real_->healthy(); }
  void set_wait(Deadline deadline) noexcept override { real_->set_wait(deadline); }

  Result<int> schema_version() override { return real_->schema_version(); }
  Result<void> install() override { return real_->install(); }
  Result<void> uninstall() override { return real_->uninstall(); }
  Result<std::optional<engine::StoredCounter>> find(std::string_view name) override { return real_->find(name); }
  Result<std::vector<engine::StoredCounter>> list() override { return real_->list(); }
  Result<void> create(std::string_view name, const Rule& rule) override { return real_->create(name, rule); }
  Result<std::int64_t> create_keys(const engine::StoredCounter& counter, std::span<const std::string> keys) override {
    return real_->create_keys(counter, keys);
  }
  Result<void> check_objects(const engine::StoredCounter& counter) override { return real_->check_objects(counter); }
  Result<std::int64_t> mend(const engine::StoredCounter& counter) override { return real_->mend(counter); }
  Result<void> drop(const engine::StoredCounter& counter) override { return real_->drop(counter); }

  Result<std::vector<Result<Added>>> apply(const engine::StoredCounter& counter, std::span<const engine::ReadyAdd> adds,
                                           engine::Refusal refusal) override {
    if (auto fault = faults_->next(faults_->applies_); !fault) return fail(broken(std::move(fault)).error());
    auto written = real_->apply(counter, adds, refusal);
    if (!written || !faults_->refusals_kill()) return written;
    for (Result<Added>& one : *written) {
      if (one) continue;
      Error error = std::move(one.error());
      error.transaction_dead = true;
      return fail(std::move(error));
    }
    return written;
  }

  Result<engine::Folded> fold_deltas(const engine::StoredCounter& counter, std::optional<std::int64_t> pages) override {
    return real_->fold_deltas(counter, pages);
  }
  Result<std::int64_t> purge_ids(const engine::StoredCounter& counter) override { return real_->purge_ids(counter); }

  Result<bool> advance(std::string_view stream, std::int64_t from, std::int64_t to,
                       std::string_view checkpoint) override {
    if (auto fault = faults_->next(faults_->advances_); !fault) return fail(broken(std::move(fault)).error());
    return real_->advance(stream, from, to, checkpoint);
  }
  Result<std::vector<engine::StreamRow>> streams(std::string_view prefix) override { return real_->streams(prefix); }
  Result<void> forget(std::string_view stream) override { return real_->forget(stream); }

  Result<std::string> identity() override { return real_->identity(); }
  Result<void> set_moved_to(const engine::StoredCounter& counter, std::optional<std::string_view> place) override {
    return real_->set_moved_to(counter, place);
  }
  Result<std::vector<Total>> totals_after(const engine::StoredCounter& counter, std::string_view after, int count) override {
    return real_->totals_after(counter, after, count);
  }
  Result<std::vector<engine::RequestRow>> requests_after(const engine::StoredCounter& counter, std::string_view after,
                                                         int count) override {
    return real_->requests_after(counter, after, count);
  }
  Result<std::int64_t> put_requests(const engine::StoredCounter& counter,
                                    std::span<const engine::RequestRow> requests) override {
    return real_->put_requests(counter, requests);
  }
  Result<std::vector<std::optional<std::int64_t>>> copied(const engine::StoredCounter& counter,
                                                          std::span<const std::string> keys) override {
    return real_->copied(counter, keys);
  }
  Result<void> put_copied(const engine::StoredCounter& counter, std::span<const std::string> keys,
                          std::span<const std::int64_t> totals) override {
    return real_->put_copied(counter, keys, totals);
  }
  Result<std::int64_t> forget_copied(const engine::StoredCounter& counter, std::int64_t count) override {
    return real_->forget_copied(counter, count);
  }

  Result<std::optional<Total>> total(const engine::StoredCounter& counter,
                                     std::optional<std::string_view> key) override {
    return real_->total(counter, key);
  }
  Result<std::vector<Total>> totals(const engine::StoredCounter& counter, std::span<const std::string> keys) override {
    return real_->totals(counter, keys);
  }
  Result<std::vector<Total>> top(const engine::StoredCounter& counter, int n) override {
    return real_->top(counter, n);
  }
  Result<std::vector<Slot>> slots(const engine::StoredCounter& counter, std::string_view key) override {
    return real_->slots(counter, key);
  }
  Result<std::int64_t> keys(const engine::StoredCounter& counter) override { return real_->keys(counter); }
  Result<Status> status() override { return real_->status(); }

 private:
  static Result<void> lost() {
    Error error = error_with(ErrorCode::outcome_unknown, "the connection broke while it was committing");
    error.connection_dead = true;
    return fail(std::move(error));
  }
  Result<void> broken(Result<void>&& fault) {
    broken_ = broken_ || fault.error().connection_dead;
    return std::move(fault);
  }

  const std::shared_ptr<Faults> faults_;
  const std::unique_ptr<engine::Connection> real_;
  bool broken_ = false;
};

class FaultyEngine final : public engine::Engine {
 public:
  FaultyEngine(std::shared_ptr<Faults> faults, std::shared_ptr<engine::Engine> real)
      : faults_(std::move(faults)), real_(std::move(real)) {}

  [[nodiscard]] const rule::EngineTraits& traits() const noexcept override { return real_->traits(); }
  Result<std::unique_ptr<engine::Connection>> connect(bool create, Deadline deadline) override {
    if (auto fault = faults_->next(faults_->connects_); !fault) return fail(std::move(fault.error()));
    auto made = real_->connect(create, deadline);
    if (!made) return made;
    faults_->count_connection();
    return std::make_unique<FaultyConnection>(faults_, std::move(*made));
  }
  [[nodiscard]] std::string_view dialect() const noexcept override { return real_->dialect(); }
  Result<std::unique_ptr<engine::Console>> console(Deadline deadline) override { return real_->console(deadline); }
  Result<std::unique_ptr<engine::Sandbox>> sandbox(Deadline deadline) override { return real_->sandbox(deadline); }
  [[nodiscard]] std::string display_name() const override { return real_->display_name(); }

 private:
  const std::shared_ptr<Faults> faults_;
  const std::shared_ptr<engine::Engine> real_;
};

}  // namespace splitcount::counter
