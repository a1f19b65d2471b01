// How adds are written: one call of the counter's procedure for each change of a slot, in the order in which rows are
// locked (by key, then slot, then id), all of them in one round trip on a connection of ours. Adds without an id that meet
// in a slot become one call. A call that fails takes back what it wrote, and nothing else.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/errors.h>
#include <engine/mariadb/quote.h>
#include <engine/rule_row.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr std::string_view own_states = "SC";  // of what the procedures refuse
/// Of one text that is sent; servers take 16 MiB where nobody has set less.
constexpr std::size_t text_bytes_max = 500'000;
/// A server that answers within its own limit on a wait is heard of also where the deadline is nearer.
constexpr std::chrono::milliseconds turn_answer_ms{turn_s_max * 1'000 + 500};

__extension__ using Sum = __int128;

bool fits(Sum sum) { return sum >= INT64_MIN && sum <= INT64_MAX; }

bool is_of_adds(const Error& error) {
  return error.sqlstate.starts_with(own_states) && error.code != ErrorCode::counter_closed;
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

Error sum_outside() {
  Error error;
  error.code = ErrorCode::out_of_range;
  error.sqlstate = "SC015";
  error.message = "the add would take its slot out of signed 64 bits";
  return error;
}

}  // namespace

struct MariadbConnection::Sent {
  std::string text;                // empty: the sum has no place in 64 bits
  std::vector<std::size_t> items;  // of the call
};

Error MariadbConnection::explained(Error error, const StoredCounter& counter) const {
  if (error.code == ErrorCode::unknown_counter) {
    error.message = fmt::format("the counter {0} is not in this database, or its objects have gone; `splitcount define {0}` tells",
                                counter.name);
  }
  return error;
}

std::vector<MariadbConnection::Sent> MariadbConnection::statements_of(const StoredCounter& counter,
                                                                      std::span<const ReadyAdd> adds) const {
  std::vector<std::size_t> order(adds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto place = [&adds](std::size_t i) {
    return std::tuple(adds[i].key, adds[i].slot.value_or(-1), adds[i].request_id);
  };
  std::stable_sort(order.begin(), order.end(), [&place](std::size_t a, std::size_t b) { return place(a) < place(b); });
  const auto sql = counter_sql("add", counter.name, counter.rule);
  std::vector<Sent> sent;
  for (std::size_t first = 0; first < order.size();) {
    const auto& add = adds[order[first]];
    Sum amount = add.amount;
    std::size_t end = first + 1;
    while (add.request_id.empty() && end < order.size() && place(order[end]) == place(order[first])) {
      amount += adds[order[end++]].amount;
    }
    Sent one;
    one.items.assign(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(end));
    if (fits(amount)) {
      Values values;
      if (counter.rule.key) values.text(add.key);
      values.number(static_cast<std::int64_t>(amount));
      add.request_id.empty() ? values.null() : values.text(add.request_id);
      add.slot ? values.number(*add.slot) : values.null();
      values.number(counter.version).number(counter.created_at.time_since_epoch().count());
      one.text = values.into(sql);
    }
    sent.push_back(std::move(one));
    first = end;
  }
  return sent;
}

std::size_t MariadbConnection::run_adds(std::span<const Sent> sent, std::vector<Result<Added>>& results, Error& error) {
  std::size_t done = 0;
  while (done < sent.size()) {
    if (sent[done].text.empty()) {
      error = sum_outside();
      return done;
    }
    std::string text = sent[done].text;
    std::size_t end = done + 1;
    while (owned_ && end < sent.size() && !sent[end].text.empty() && text.size() < text_bytes_max) {
      text += fmt::format(";\n{}", sent[end++].text);
    }
    const auto answers = send(text);
    for (const auto& answer : answers.answers) {
      if (answer.rows() == 0 || answer.is_null(0, 0)) {
        error.code = ErrorCode::rule_changed;
        return done;
      }
      const auto slot = static_cast<int>(answer.number(0, 0));
      for (const auto item : sent[done].items) results[item] = slot < 0 ? Added{-1 - slot, true} : Added{slot, false};
      ++done;
    }
    if (answers.error) {
      error = *answers.error;
      return done;
    }
    if (done < end) {
      error.code = ErrorCode::internal;
      error.message = fmt::format("{} adds were answered as fewer", end);
      error.transaction_dead = true;
      return done;
    }
  }
  return done;
}

Result<std::vector<Result<Added>>> MariadbConnection::apply(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                                            Refusal refusal) {
  if (adds.empty()) return std::vector<Result<Added>>{};
  if (!counter.moved_to) return apply_all(counter, adds, refusal);
  if (auto current = check_current(counter, ErrorCode::rule_changed); !current) return fail(std::move(current.error()));
  return fail(judge_open(counter).error());
}

Result<std::vector<Result<Added>>> MariadbConnection::apply_all(const StoredCounter& counter, std::span<const ReadyAdd> adds,
                                                                Refusal refusal) {
  std::vector<Result<Added>> results(adds.size(), Added{});
  const Deadline deadline = deadline_;
  const bool have_ids = std::any_of(adds.begin(), adds.end(), [](const ReadyAdd& add) { return !add.request_id.empty(); });
  if (have_ids) deadline_ = std::max(deadline, Deadline::clock::now() + turn_answer_ms);
  auto sent = statements_of(counter, adds);
  const bool marks = refusal == Refusal::all && sent.size() > 1;
  if (marks) {
    if (auto marked = run_named("savepoint"); !marked) return fail(std::move(marked.error()));
  }
  bool written = false;
  std::span<const Sent> left(sent);
  std::vector<Sent> apart;  // a sum that was refused, as its adds one by one
  Result<std::vector<Result<Added>>> outcome = std::vector<Result<Added>>{};
  while (!left.empty()) {
    Error error;
    const auto done = run_adds(left, results, error);
    written = written || done > 0;
    left = left.subspan(done);
    if (left.empty()) break;
    if (error.code == ErrorCode::rule_changed) {
      auto current = check_current(counter, ErrorCode::rule_changed);
      if (current) return fail(ErrorCode::internal, "an add was answered with nothing");
      error = std::move(current.error());
    }
    error = explained(std::move(error), counter);
    if (refusal == Refusal::each && is_of_adds(error)) {
      if (left.front().items.size() > 1) {
        apart.clear();
        const auto items = left.front().items;
        for (const auto item : items) {
          auto one = statements_of(counter, adds.subspan(item, 1));
          one.front().items = {item};
          apart.push_back(std::move(one.front()));
        }
        const auto rest = left.subspan(1);
        apart.insert(apart.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
        sent = std::move(apart);
        left = sent;
        continue;
      }
      results[left.front().items.front()] = fail(std::move(error));
      left = left.subspan(1);
      continue;
    }
    if (refusal == Refusal::each && is_of_counter(error) && written) error = as_lost_race(std::move(error));
    if (marks && !error.transaction_dead) {
      if (auto back = run_named("savepoint_rollback"); !back) error.transaction_dead = true;
    }
    deadline_ = deadline;
    return fail(std::move(error));
  }
  if (marks && !owned_) {
    if (auto released = run_named("savepoint_release"); !released) return fail(std::move(released.error()));
  }
  deadline_ = deadline;
  return results;
}

}  // namespace splitcount::engine::mariadb
