// How adds are written. The write lock is held from the first read on, so what is read stays true until the commit:
// every add is judged before anything is written, and a call that is refused needs no savepoint to undo it.
//
//   ids      in byte order: known -> replay or conflict; the first of a new one will be written
//   rows     merged by (key, slot), read, settled against signed 64 bits
//   verdict  Refusal::all and any refused: nothing is written
//   writes   ids in byte order, expired ids out, then rows in byte order
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/rule_row.h>
#include <engine/sqlite/connection.h>
#include <rule/merge.h>

namespace splitcount::engine::sqlite {
namespace {

using Indexes = std::vector<std::size_t>;

/// Expired ids that a new one takes with it, so that their table stays bounded.
constexpr std::int64_t purged_per_id = 2;

Error refusal_of(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

class AddsCall {
 public:
  AddsCall(sqlite3* database, StatementCache& statements, const StoredCounter& counter, std::span<const ReadyAdd> adds)
      : database_(database),
        statements_(statements),
        counter_(counter),
        adds_(adds),
        has_window_(counter.rule.retries.window.has_value()),
        results_(adds.size(), Added{}),
        first_refused_(adds.size()) {}

  Result<void> judge() {
    if (auto matched = match_ids(); !matched) return matched;
    return settle_rows();
  }
  /// The first refused add's error, or null.
  [[nodiscard]] Error* refused() { return first_refused_ < adds_.size() ? &results_[first_refused_].error() : nullptr; }
  Result<void> write() {
    if (auto written = write_ids(); !written) return written;
    return write_rows();
  }
  std::vector<Result<Added>> results() && { return std::move(results_); }

 private:
  struct RowWrite {
    const rule::MergedRow* row;
    std::int64_t n;
  };
  struct Duplicate {
    std::size_t index;
    std::size_t first;
  };

  void refuse(std::size_t index, Error error) {
    results_[index] = fail(std::move(error));
    first_refused_ = std::min(first_refused_, index);
  }
  [[nodiscard]] bool same(const ReadyAdd& a, std::string_view key, std::int64_t amount) const {
    return a.key == key && a.amount == amount;
  }
  [[nodiscard]] std::string where(std::string_view key) const {
    return key.empty() ? quoted(counter_.name) : fmt::format("{} of {}", quoted(key), quoted(counter_.name));
  }
  void bind_window(Query& query, int index) const {
    if (has_window_) {
      query.bind(index, std::chrono::milliseconds(*counter_.rule.retries.window).count());
    } else {
      query.bind_null(index);
    }
  }

  Result<void> match_ids();
  Result<void> match_id(Query& query, std::span<const std::size_t> same_id);
  Result<void> settle_rows();
  Result<void> settle_row(Query& query, const rule::MergedRow& row);
  Result<void> refuse_missing(const rule::MergedRow& row);
  Result<void> write_ids();
  Result<void> purge(std::int64_t ids);
  Result<void> write_rows();

  sqlite3* database_;
  StatementCache& statements_;
  const StoredCounter& counter_;
  std::span<const ReadyAdd> adds_;
  bool has_window_;
  std::vector<Result<Added>> results_;
  std::size_t first_refused_;
  Indexes matched_;  // adds that write nothing: replays, conflicts, later ones of an id; sorted before it is used
  Indexes new_ids_;  // the first add of each new id, in byte order of the ids
  std::vector<Duplicate> duplicates_;
  rule::Merged merged_;
  std::vector<RowWrite> writes_;
};

Result<void> AddsCall::match_ids() {
  Indexes order;
  for (std::size_t i = 0; i < adds_.size(); ++i) {
    if (!adds_[i].request_id.empty()) order.push_back(i);
  }
  if (order.empty()) return {};
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::pair(adds_[a].request_id, a) < std::pair(adds_[b].request_id, b);
  });
  auto statement = statements_.of(counter_, "request_read");
  if (!statement) return fail(std::move(statement.error()));
  Query query(*statement);
  bind_window(query, 3);
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    const auto id = adds_[order[first]].request_id;
    while (end < order.size() && adds_[order[end]].request_id == id) ++end;
    if (auto done = match_id(query, std::span(order).subspan(first, end - first)); !done) return done;
  }
  std::sort(matched_.begin(), matched_.end());
  return {};
}

Result<void> AddsCall::match_id(Query& query, std::span<const std::size_t> same_id) {
  const ReadyAdd& first = adds_[same_id.front()];
  query.again();
  const auto row = query.bind(2, first.request_id).next();
  if (!row) return fail(row.error());
  const bool known = *row;
  const std::string key(known ? query.text(0) : first.key);
  const std::int64_t amount = known ? query.number(1) : first.amount;
  const int slot = known ? static_cast<int>(query.number(2)) : first.slot.value_or(0);
  if (!known) new_ids_.push_back(same_id.front());
  for (const auto index : known ? same_id : same_id.subspan(1)) {
    matched_.push_back(index);
    if (same(adds_[index], key, amount)) {
      results_[index] = Added{slot, true};
      if (!known) duplicates_.push_back({index, same_id.front()});
    } else {
      refuse(index,
             refusal_of(ErrorCode::request_conflict,
                        fmt::format("request id {} stands for an add of {} to {}, so it cannot stand for {} to {}",
                                    quoted(first.request_id), amount, where(key), adds_[index].amount,
                                    where(adds_[index].key))));
    }
  }
  return {};
}

Result<void> AddsCall::settle_rows() {
  std::vector<rule::RowAdd> row_adds;
  row_adds.reserve(adds_.size());
  auto matched = matched_.begin();
  for (std::size_t i = 0; i < adds_.size(); ++i) {
    if (matched != matched_.end() && *matched == i) {
      ++matched;
      continue;
    }
    const int slot = adds_[i].slot.value_or(-1);
    if (slot < 0 || slot >= counter_.rule.slots) {
      refuse(i, refusal_of(ErrorCode::slot_missing, fmt::format("{} has slots 0 to {}, and {} is not one of them",
                                                                quoted(counter_.name), counter_.rule.slots - 1, slot)));
      continue;
    }
    results_[i]->slot = slot;
    row_adds.push_back({adds_[i].key, slot, adds_[i].amount, i});
  }
  merged_ = rule::merge(row_adds);
  writes_.reserve(merged_.rows.size());
  auto statement = statements_.of(counter_, "slot_read");
  if (!statement) return fail(std::move(statement.error()));
  Query query(*statement);
  for (const auto& row : merged_.rows) {
    if (auto settled = settle_row(query, row); !settled) return settled;
  }
  for (const auto& duplicate : duplicates_) {
    if (!results_[duplicate.first]) refuse(duplicate.index, results_[duplicate.first].error());
  }
  return {};
}

Result<void> AddsCall::settle_row(Query& query, const rule::MergedRow& row) {
  query.again();
  const auto found = query.bind(1, row.key).bind(2, row.slot).next();
  if (!found) return fail(found.error());
  if (!*found && counter_.rule.missing == Missing::error) return refuse_missing(row);
  const std::int64_t stored = *found ? query.number(0) : 0;
  const auto adds = std::span(merged_.adds).subspan(row.first, row.count);
  const auto settled = rule::settle(stored, adds);
  for (const auto index : settled.refused) {
    refuse(index, refusal_of(ErrorCode::out_of_range,
                             fmt::format("slot {} of {} holds {}, and an add of {} would take it out of signed 64 bits",
                                         row.slot, where(row.key), stored, adds_[index].amount)));
  }
  if (!*found || settled.n != stored) writes_.push_back({&row, settled.n});
  return {};
}

Result<void> AddsCall::refuse_missing(const rule::MergedRow& row) {
  bool key_known = true;
  if (counter_.rule.key) {
    auto statement = statements_.of(counter_, "key_exists");
    if (!statement) return fail(std::move(statement.error()));
    Query query(*statement);
    const auto found = query.bind(1, row.key).next();
    if (!found) return fail(found.error());
    key_known = query.number(0) != 0;
  }
  const Error error =
      key_known
          ? refusal_of(ErrorCode::slot_missing,
                       fmt::format("slot {} of {} was never created, and this counter's missing slots are an error",
                                   row.slot, where(row.key)))
          : refusal_of(
                ErrorCode::key_missing,
                fmt::format("key {} was never defined, and this counter's missing keys are an error", where(row.key)));
  for (const auto& add : std::span(merged_.adds).subspan(row.first, row.count)) refuse(add.index, error);
  return {};
}

Result<void> AddsCall::write_ids() {
  if (new_ids_.empty()) return {};
  auto statement = statements_.of(counter_, "request_write");
  if (!statement) return fail(std::move(statement.error()));
  Query query(*statement);
  std::int64_t written = 0;
  for (const auto index : new_ids_) {
    if (!results_[index]) continue;  // a refused add leaves no id behind
    const ReadyAdd& add = adds_[index];
    query.again();
    query.bind(1, add.key).bind(2, add.request_id).bind(3, add.amount).bind(4, results_[index]->slot);
    if (auto done = query.run(); !done) return done;
    ++written;
  }
  return has_window_ && written > 0 ? purge(written) : Result<void>{};
}

Result<void> AddsCall::purge(std::int64_t ids) {
  auto statement = statements_.of(counter_, "requests_purge");
  if (!statement) return fail(std::move(statement.error()));
  Query query(*statement);
  bind_window(query, 1);
  return query.bind(2, ids * purged_per_id).run();
}

Result<void> AddsCall::write_rows() {
  if (writes_.empty()) return {};
  auto statement = statements_.of(counter_, "slot_write");
  if (!statement) return fail(std::move(statement.error()));
  Query query(*statement);
  for (const auto& write : writes_) {
    query.again();
    if (auto done = query.bind(1, write.row->key).bind(2, write.row->slot).bind(3, write.n).run(); !done) return done;
    if (sqlite3_changes(database_) != 1) {
      return fail(ErrorCode::internal, fmt::format("the write of slot {} of {} changed {} rows, not one",
                                                   write.row->slot, where(write.row->key), sqlite3_changes(database_)));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Result<Added>>> SqliteConnection::apply(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                                           Refusal refusal) {
  if (!owned_) {
    if (auto locked = run("lock"); !locked) return fail(explained(std::move(locked.error()), nullptr));
  }
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  if (auto open = judge_open(counter); !open) return fail(std::move(open.error()));
  AddsCall call(database_, statements_, counter, adds);
  if (auto judged = call.judge(); !judged) return fail(explained(std::move(judged.error()), &counter));
  if (Error* error = call.refused(); error != nullptr && refusal == Refusal::all) return fail(std::move(*error));
  if (auto written = call.write(); !written) {
    Error error = noted(std::move(written.error()));
    error.transaction_dead = true;
    // Our own transaction is rolled back by whoever began it; the caller has to hear of theirs.
    if (!owned_) error.message += "; a part of the call may be written, so the transaction must be rolled back";
    return fail(std::move(error));
  }
  return std::move(call).results();
}

}  // namespace splitcount::engine::sqlite
