#include <combine/committer.h>

#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/transaction.h>
#include <counter/write.h>

namespace splitcount::combine {

namespace {

/// An error of a whole call that one add alone can have caused, on engines where it kills the transaction.
bool one_add_can_cause(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::amount_invalid:
    case ErrorCode::value_invalid:
    case ErrorCode::key_invalid:
    case ErrorCode::request_id_invalid:
    case ErrorCode::key_missing:
    case ErrorCode::slot_missing:
    case ErrorCode::out_of_range:
    case ErrorCode::request_id_refused:
    case ErrorCode::request_conflict:
    case ErrorCode::request_in_flight: return true;
    default: return false;
  }
}

/// An error that says something of one counter only; the transaction lives.
bool is_of_one_counter(ErrorCode code) noexcept {
  return code == ErrorCode::unknown_counter || code == ErrorCode::rule_changed || code == ErrorCode::counter_closed;
}

/// The stream is not where it was left, or is gone with everything of ours.
bool is_of_lost_stream(ErrorCode code) noexcept {
  return code == ErrorCode::stream_conflict || code == ErrorCode::not_installed;
}

constexpr int patience_max = 4;

/// 128 random bits, so that no two committers ever share a stream.
std::string new_stream_name() {
  std::random_device device;
  return fmt::format("combiner/{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

}  // namespace

Committer::Committer(std::shared_ptr<counter::Store> store, Queue& queue, std::chrono::milliseconds wait_ms_max)
    : store_(std::move(store)), queue_(queue), wait_ms_max_(wait_ms_max) {
  start_stream();
}

void Committer::start_stream() {
  stream_ = new_stream_name();
  position_ = 0;
}

void Committer::run() {
  while (Block* block = queue_.next()) {
    groups_ = 0;
    commit_block(*block);
    queue_.finish(results_, groups_);
  }
  remove_stream();
}

// --- A block: one group, or several where one is refused as a whole

void Committer::commit_block(Block& block) {
  results_.clear();
  Items all(block.adds.size());
  std::iota(all.begin(), all.end(), 0U);
  std::vector<Items> groups;
  groups.push_back(std::move(all));
  while (!groups.empty()) {
    Items items = std::move(groups.back());
    groups.pop_back();
    if (commit(block, items) != Outcome::failed) continue;
    if (items.size() > 1 && one_add_can_cause(error_.code)) {
      const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
      groups.emplace_back(middle, items.end());
      groups.emplace_back(items.begin(), middle);
    } else {
      answer_all(block, items, error_);
    }
  }
  results_of(block);
}

/// One result for each add. An add that no group has answered is told as unknown, whatever the reason.
std::vector<Result<Added>>& Committer::results_of(const Block& block) {
  if (results_.size() < block.adds.size()) {
    Error error{ErrorCode::outcome_unknown, "the group of this add ended without an answer"};
    results_.resize(block.adds.size(), Result<Added>(fail(counter::as_unknown(std::move(error)))));
  }
  return results_;
}

void Committer::answer_all(const Block& block, const Items& items, const Error& error) {
  results_of(block);
  for (const std::uint32_t item : items) results_[item] = fail(error);
}

/// Until the group is settled or has failed. While the database cannot be had that lasts as long as somebody waits;
/// where it was had and gave the group up, at most limits::call_tries_max tries. In doubt it goes on also when nobody
/// waits, since no later group may overtake it: only the end of the combiner ends that.
Committer::Outcome Committer::commit(Block& block, Items& items) {
  Group group{items};
  for (int pauses = 1;; ++pauses) {
    const Outcome outcome = try_once(block, group);
    if (outcome != Outcome::again) return outcome;
    queue_.set_trouble(error_.message);
    if (group.in_doubt) {
      if (queue_.is_closed() && !queue_.anybody_waits(items)) {
        stream_unsettled_ = true;
        return Outcome::settled;
      }
    } else {
      if (groups_ == 0) queue_.hold();  // else some adds of this block are in the database
      if (group.tries >= limits::call_tries_max) return Outcome::failed;
      if (!queue_.anybody_waits(items)) return Outcome::settled;
    }
    counter::pause_before_try(pauses, error_, Deadline::max());
  }
}

Committer::Outcome Committer::try_once(Block& block, Group& group) {
  if (auto begun = begin(); !begun) return after_failure(group, std::move(begun.error()));
  ++group.tries;
  auto moved = connection_->advance(stream_, position_, position_ + 1, {});
  if (!moved) {
    connection_->rollback();
    if (is_of_lost_stream(moved.error().code)) return after_lost_stream(block, group, std::move(moved.error()));
    return after_failure(group, std::move(moved.error()));
  }
  if (!*moved) {  // the try in doubt was committed, and results_ is what it answered
    connection_->rollback();
    return after_commit();
  }
  group.in_doubt = false;  // no earlier try was committed
  queue_.send(group.items);
  if (group.items.empty()) {
    connection_->rollback();
    return Outcome::settled;
  }
  if (auto error = apply(block, group.items)) {
    connection_->rollback();
    return after_failure(group, std::move(*error));
  }
  if (auto committed = connection_->commit(); !committed) return after_failure(group, std::move(committed.error()));
  return after_commit();
}

Result<void> Committer::begin() {
  const Deadline deadline = deadline_in(wait_ms_max_ * patience_);
  if (!connection_) {
    auto made = store_->engine().connect(false, deadline);
    if (!made) return fail(std::move(made.error()));
    connection_ = std::move(*made);
  }
  return connection_->begin(deadline);
}

Committer::Outcome Committer::after_commit() {
  ++position_;
  ++groups_;
  patience_ = 1;
  return Outcome::settled;
}

/// Where no answer came, the next try waits longer for it: a database that has too much to do would never get to one
/// that goes away and comes again.
Committer::Outcome Committer::after_failure(Group& group, Error error) {
  if (error.connection_dead || counter::is_away(error)) patience_ = std::min(2 * patience_, patience_max);
  if (connection_ && (error.connection_dead || error.outcome_unknown || !connection_->healthy())) connection_.reset();
  error_ = std::move(error);
  group.in_doubt = group.in_doubt || error_.outcome_unknown;
  const bool again = group.in_doubt || counter::is_worth_another_try(error_) || counter::is_away(error_);
  return again ? Outcome::again : Outcome::failed;
}

/// Somebody removed or moved the stream (an uninstall, a hand): with it goes the knowledge of a try in doubt. The next
/// try has a new stream.
Committer::Outcome Committer::after_lost_stream(Block& block, Group& group, Error error) {
  start_stream();
  if (!group.in_doubt && error.code == ErrorCode::stream_conflict) return Outcome::again;
  if (!group.in_doubt) return after_failure(group, std::move(error));
  answer_all(block, group.items, counter::as_unknown(std::move(error)));
  return Outcome::settled;
}

// --- The adds of a group, counter by counter

std::optional<Error> Committer::apply(Block& block, const Items& items) {
  if (block.lanes.size() > 1 || items.size() < block.adds.size()) return apply_by_counter(block, items);
  const Lane& lane = block.lanes.front();
  auto written = counter::write(*lane.handle, *connection_, block.adds, engine::Refusal::each, lane.checked.get());
  if (written) {
    results_ = std::move(*written);
    return {};
  }
  if (!is_of_one_counter(written.error().code)) return std::move(written.error());
  answer_all(block, items, written.error());
  return {};
}

/// By name, so that two committers take the counters in the same order.
std::optional<Error> Committer::apply_by_counter(Block& block, const Items& items) {
  const auto handle_of = [&block](std::uint32_t item) {
    return block.lanes[block.waiting[block.owner[item]].lane].handle.get();
  };
  Items sorted = items;
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    const counter::Handle* left = handle_of(a);
    const counter::Handle* right = handle_of(b);
    return left != right && left->name() < right->name();
  });
  for (std::size_t first = 0; first < sorted.size();) {
    std::size_t end = first + 1;
    while (end < sorted.size() && handle_of(sorted[end]) == handle_of(sorted[first])) ++end;
    if (auto error = apply_run(block, std::span(sorted).subspan(first, end - first))) return error;
    first = end;
  }
  return {};
}

/// Adds of one counter.
std::optional<Error> Committer::apply_run(Block& block, std::span<const std::uint32_t> items) {
  const Lane& lane = block.lanes[block.waiting[block.owner[items.front()]].lane];
  bool same_rule = true;
  scratch_.clear();
  for (const std::uint32_t item : items) {
    scratch_.push_back(block.adds[item]);
    same_rule = same_rule && block.lanes[block.waiting[block.owner[item]].lane].checked == lane.checked;
  }
  auto written = counter::write(*lane.handle, *connection_, scratch_, engine::Refusal::each,
                                same_rule ? lane.checked.get() : nullptr);
  if (!written && !is_of_one_counter(written.error().code)) return std::move(written.error());
  std::vector<Result<Added>>& results = results_of(block);
  for (std::size_t i = 0; i < items.size(); ++i) {
    results[items[i]] = written ? std::move((*written)[i]) : Result<Added>(fail(written.error()));
  }
  return {};
}

/// On an orderly end. Where it fails the row stays, which costs its few bytes and nothing else.
void Committer::remove_stream() {
  if (position_ == 0 || stream_unsettled_) return;
  if (auto begun = begin(); !begun) return;
  if (auto gone = connection_->forget(stream_); !gone) return connection_->rollback();
  static_cast<void>(connection_->commit());
}

}  // namespace splitcount::combine
