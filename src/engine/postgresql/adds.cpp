// How adds are written: one call of the counter's add_many function for the whole call, all or nothing; one add alone by
// add_one, which takes a third of its time. An error in it
// leaves the transaction dead, so where each add is to be judged for itself (never in a caller's transaction) a savepoint
// is kept, and a part that is refused is halved until the culprits are alone.
#include <algorithm>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/postgresql/connection.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/quote.h>
#include <engine/rule_row.h>

namespace splitcount::engine::postgresql {
namespace {

constexpr std::string_view own_states = "SC";  // of what the functions refuse
constexpr std::string_view lock_timeout_state = "55P03";

void append_bare(std::string& array, std::string_view word) {
  if (array.size() > 1) array += ',';
  array += word;
}

Parameters values_of(const StoredCounter& counter, std::span<const ReadyAdd> adds) {
  std::string keys = "{";
  std::string amounts = "{";
  std::string ids = "{";
  std::string slots = "{";
  for (const auto& add : adds) {
    if (counter.rule.key) append_element(keys, add.key);
    append_bare(amounts, fmt::format_int(add.amount).c_str());
    if (counter.rule.retries.once) {
      if (add.request_id.empty()) {
        append_bare(ids, "NULL");
      } else {
        append_element(ids, add.request_id);
      }
    }
    append_bare(slots, add.slot ? fmt::format_int(*add.slot).c_str() : "NULL");
  }
  for (auto* array : {&keys, &amounts, &ids, &slots}) *array += '}';
  Parameters values;
  values.array(std::move(keys)).array(std::move(amounts)).array(std::move(ids)).array(std::move(slots));
  values.number(counter.version).number(counter.created_at.time_since_epoch().count());
  return values;
}

bool have_ids(std::span<const ReadyAdd> adds) {
  return std::any_of(adds.begin(), adds.end(), [](const ReadyAdd& add) { return !add.request_id.empty(); });
}

/// The function waits for one thing only under a time limit of its own: an id that another session has open.
Error explained(Error error, const StoredCounter& counter, std::span<const ReadyAdd> adds) {
  if (error.sqlstate == lock_timeout_state && have_ids(adds)) {
    error.code = ErrorCode::request_in_flight;
    error.message = fmt::format("another session holds a request id of counter {} open; send it again",
                                quoted(counter.name));
  } else if (error.code == ErrorCode::unknown_counter) {
    error.message = fmt::format("the counter {0} is not in this database, or its objects have gone; `splitcount define {0}` tells",
                                counter.name);
  }
  return error;
}

/// The counter is another one than it was, or closed, and nothing of the call is written.
bool is_of_counter(const Error& error) {
  return !error.connection_dead && (error.code == ErrorCode::rule_changed || error.code == ErrorCode::unknown_counter ||
                                    error.code == ErrorCode::counter_closed);
}

/// The same after a part of the call was written: only the whole transaction can be run again.
Error as_lost_race(Error error) {
  error.code = ErrorCode::serialization_failure;
  error.retryable = true;
  error.transaction_dead = true;
  return error;
}

Error not_answered(const StoredCounter& counter, std::size_t adds, std::size_t answered) {
  Error error;
  error.code = ErrorCode::internal;
  error.message = fmt::format("{} adds to counter {} were answered as {}", adds, quoted(counter.name), answered);
  error.transaction_dead = true;
  return error;
}

struct Part {
  std::size_t first;
  std::size_t count;
};

}  // namespace

Result<Answer> PostgresqlConnection::run_adds(std::string_view statement_name, const StoredCounter& counter,
                                              std::span<const ReadyAdd> adds, const Parameters& values) {
  const auto sql = counter_sql(statement_name, counter.name, counter.rule, counter.schema);
  auto answer = have_ids(adds) ? run_to_its_limit(sql, values) : run(sql, values);
  if (!answer) return fail(explained(std::move(answer.error()), counter, adds));
  return answer;
}

Result<std::vector<Added>> PostgresqlConnection::apply_one(const StoredCounter& counter, const ReadyAdd& add) {
  Parameters values;
  values.number(add.amount);
  add.request_id.empty() ? values.null() : values.text(add.request_id);
  add.slot ? values.number(*add.slot) : values.null();
  values.number(counter.version).number(counter.created_at.time_since_epoch().count());
  if (counter.rule.key) values.text(add.key);
  const auto answer = run_adds("apply_one", counter, std::span(&add, 1), values);
  if (!answer) return fail(answer.error());
  if (!answer->is_null(0, 0)) {
    const auto slot = static_cast<int>(answer->number(0, 0));
    return std::vector<Added>{slot < 0 ? Added{-1 - slot, true} : Added{slot, false}};
  }
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  return fail(not_answered(counter, 1, 0));
}

Result<std::vector<Added>> PostgresqlConnection::apply_all(const StoredCounter& counter,
                                                           std::span<const ReadyAdd> adds) {
  if (adds.size() == 1) return apply_one(counter, adds.front());
  auto answer = run_adds("apply", counter, adds, values_of(counter, adds));
  if (!answer) return fail(std::move(answer.error()));
  if (answer->rows() == 0) {  // the function goes by another rule, and has written nothing
    if (auto current = check_current(counter, ErrorCode::rule_changed); !current) {
      return fail(std::move(current.error()));
    }
  }
  std::vector<Added> added(adds.size());
  std::size_t answered = 0;
  for (int row = 0; row < answer->rows(); ++row) {
    const auto item = static_cast<std::size_t>(answer->number(row, 0));
    if (item < 1 || item > adds.size()) continue;
    added[item - 1] = {static_cast<int>(answer->number(row, 1)), answer->truth(row, 2)};
    ++answered;
  }
  if (answered == adds.size()) return added;
  return fail(not_answered(counter, adds.size(), answered));
}

Result<std::vector<Result<Added>>> PostgresqlConnection::apply_each(const StoredCounter& counter,
                                                                    std::span<const ReadyAdd> adds) {
  std::vector<Result<Added>> results(adds.size(), Added{});
  std::vector<Part> parts{{0, adds.size()}};
  bool written = false;
  while (!parts.empty()) {
    const auto [first, count] = parts.back();
    parts.pop_back();
    if (auto kept = run_named("savepoint"); !kept) return fail(std::move(kept.error()));
    auto added = apply_all(counter, adds.subspan(first, count));
    if (!added) {
      Error error = std::move(added.error());
      const bool of_adds = error.sqlstate.starts_with(own_states) && !is_of_counter(error);
      if (!of_adds && !is_of_counter(error)) return fail(std::move(error));
      if (!of_adds && written) return fail(as_lost_race(std::move(error)));
      if (auto back = run_named("savepoint_rollback"); !back) return fail(std::move(back.error()));
      error.transaction_dead = false;
      if (!of_adds) return fail(std::move(error));
      if (count == 1) {
        results[first] = fail(std::move(error));
      } else {
        parts.push_back({first + count / 2, count - count / 2});
        parts.push_back({first, count / 2});
      }
    } else {
      for (std::size_t i = 0; i < count; ++i) results[first + i] = (*added)[i];
      written = true;
    }
    if (auto released = run_named("savepoint_release"); !released) return fail(std::move(released.error()));
  }
  return results;
}

Result<std::vector<Result<Added>>> PostgresqlConnection::apply(const StoredCounter& counter,
                                                               std::span<const ReadyAdd> adds, Refusal refusal) {
  if (adds.empty()) return std::vector<Result<Added>>{};
  if (counter.moved_to) {  // asked, the server would refuse it in a way that kills the transaction
    if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
    return fail(judge_open(counter).error());
  }
  if (refusal == Refusal::each) return apply_each(counter, adds);
  auto added = apply_all(counter, adds);
  if (!added) return fail(std::move(added.error()));
  return std::vector<Result<Added>>(added->begin(), added->end());
}

}  // namespace splitcount::engine::postgresql
