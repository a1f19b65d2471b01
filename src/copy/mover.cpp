#include <copy/mover.h>

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <copy/side.h>
#include <counter/closing.h>
#include <counter/random.h>
#include <counter/transaction.h>

namespace splitcount::copy {
namespace {

/// total - known, in pieces that each fit into 64 bits: no partial sum leaves the way between the two.
std::vector<std::int64_t> pieces_between(std::int64_t known, std::int64_t total) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(total, known, &difference)) return {difference};
  const std::int64_t half = total / 2 - known / 2;
  return {half, half, total % 2 - known % 2};
}

/// Adds amounts to keys, each in slot 0; several rounds where an amount has several pieces.
Result<void> add_pieces(engine::Connection& connection, const engine::StoredCounter& target,
                        const std::vector<std::string>& keys, const std::vector<std::vector<std::int64_t>>& pieces) {
  for (std::size_t round = 0;; ++round) {
    std::vector<engine::ReadyAdd> adds;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (round < pieces[i].size()) adds.push_back({keys[i], pieces[i][round], {}, 0, {}});
    }
    if (adds.empty()) return {};
    auto added = connection.apply(target, adds, engine::Refusal::all);
    if (!added) return fail(std::move(added.error()));
  }
}

/// The number goes to `place`; an error is handed on.
Result<void> store_in(std::int64_t& place, Result<std::int64_t>&& number) {
  if (!number) return fail(std::move(number.error()));
  place = *number;
  return {};
}

bool is_of_unfinished_pass(std::string_view file) { return file.find("/again/") != std::string_view::npos; }

}  // namespace

Mover::Mover(counter::Store& from, counter::Store& to, engine::StoredCounter source, State state, Rule target_rule,
             const Options& options, std::function<bool()> go_on, Report& report)
    : from_(from),
      to_(to),
      source_(std::move(source)),
      state_(std::move(state)),
      target_rule_(std::move(target_rule)),
      options_(options),
      go_on_(std::move(go_on)),
      report_(report),
      run_(counter::draw()) {}

void Mover::tell(std::string_view doing, std::int64_t keys) const {
  if (options_.tell) options_.tell({source_.name, doing, keys});
}

Result<bool> Mover::move() {
  report_.closed = source_.moved_to.has_value();
  if (state_.phase != Phase::complete) {
    for (const auto step : {&Mover::copy_all, &Mover::compare}) {
      auto done = (this->*step)();
      if (!done || !*done) return done;
    }
    if (!report_.closed || differs(report_)) return true;
  }
  if (auto finished = finish(); !finished) return fail(std::move(finished.error()));
  report_.complete = true;
  return true;
}

/// A pass that an earlier run had begun is taken up again, and what was counted meanwhile before its place is for another
/// one. Before the source is closed everything is copied that can be, so that it is closed for a short time only.
Result<bool> Mover::copy_all() {
  const bool goes_on = state_.position > 0 && state_.phase == Phase::copying && !state_.after.empty() &&
                       state_.closed == report_.closed;
  if (!goes_on) state_.after.clear();
  state_.closed = report_.closed;
  auto done = pass();
  if (!done || !*done) return done;
  if (options_.close && !report_.closed) {
    auto closed = close_source();
    if (!closed || !*closed) return closed;
  } else if (!goes_on || report_.closed) {
    return true;
  }
  state_.after.clear();
  state_.closed = report_.closed;
  return pass();
}

Result<bool> Mover::pass() {
  auto totals = pass_totals();
  if (!totals || !*totals) return totals;
  auto requests = pass_requests();
  if (!requests || !*requests) return requests;
  if (auto files = pass_files(); !files) return fail(std::move(files.error()));
  if (state_.phase == Phase::copied && state_.after.empty()) return true;
  State next = state_;
  next.phase = Phase::copied;
  next.after.clear();
  if (auto written = write(std::move(next)); !written) return fail(std::move(written.error()));
  return true;
}

// --- Totals

Result<Page> Mover::read_page(counter::Store& store, const engine::StoredCounter& counter, std::string_view after) {
  return ask(store, [&](engine::Connection& connection) -> Result<Page> {
    Page page;
    if (!counter.rule.key) {
      auto total = connection.total(counter, std::nullopt);
      if (!total) return fail(std::move(total.error()));
      if (!*total) return page;
      page.keys.emplace_back();
      page.totals.push_back((*total)->total);
      return page;
    }
    auto totals = connection.totals_after(counter, after, limits::copy_page_keys);
    if (!totals) return fail(std::move(totals.error()));
    for (auto& total : *totals) {
      page.keys.push_back(std::move(*total.key));
      page.totals.push_back(total.total);
    }
    page.is_last = page.keys.size() < static_cast<std::size_t>(limits::copy_page_keys);
    return page;
  });
}

Result<bool> Mover::pass_totals() {
  std::string after = state_.after;
  report_.keys = 0;
  for (;;) {
    if (!go_on_()) return false;
    auto page = read_page(from_, source_, after);
    if (!page) return fail(std::move(page.error()));
    const auto known = state_.position == 0 ? Result<bool>(false) : holds(*page);
    if (!known) return fail(known.error());
    if (!page->keys.empty()) after = page->keys.back();
    if (!*known) {
      State next = state_;
      next.phase = Phase::copying;
      next.after = after;
      std::int64_t keys = 0;
      auto written = write(std::move(next), [&](engine::Connection& connection, const engine::StoredCounter& target) {
        return store_in(keys, write_page(connection, target, *page));
      });
      if (!written) return fail(std::move(written.error()));
      report_.keys_written += keys;
    }
    report_.keys += static_cast<std::int64_t>(page->keys.size());
    tell("copying", report_.keys);
    if (page->is_last) return true;
  }
}

Result<bool> Mover::holds(const Page& page) {
  return ask(to_, [&](engine::Connection& connection) -> Result<bool> {
    auto target = find_target(connection);
    if (!target) return fail(std::move(target.error()));
    auto known = connection.copied(*target, page.keys);
    if (!known) return fail(std::move(known.error()));
    return std::equal(known->begin(), known->end(), page.totals.begin(), page.totals.end());
  });
}

/// What the target got from here before is looked up in the transaction that adds the difference.
Result<std::int64_t> Mover::write_page(engine::Connection& connection, const engine::StoredCounter& target, const Page& page) {
  auto known = connection.copied(target, page.keys);
  if (!known) return fail(std::move(known.error()));
  std::vector<std::string> keys;
  std::vector<std::int64_t> totals;
  std::vector<std::vector<std::int64_t>> pieces;
  for (std::size_t i = 0; i < page.keys.size(); ++i) {
    if ((*known)[i] == page.totals[i]) continue;
    keys.push_back(page.keys[i]);
    totals.push_back(page.totals[i]);
    pieces.push_back(pieces_between((*known)[i].value_or(0), page.totals[i]));
  }
  if (target.rule.key && target.rule.missing == Missing::error && !keys.empty()) {
    if (auto made = connection.create_keys(target, keys); !made) return fail(std::move(made.error()));
  }
  if (auto added = add_pieces(connection, target, keys, pieces); !added) return fail(std::move(added.error()));
  if (auto noted = connection.put_copied(target, keys, totals); !noted) return fail(std::move(noted.error()));
  return static_cast<std::int64_t>(keys.size());
}

// --- Request ids and files

Result<bool> Mover::pass_requests() {
  std::string after;
  for (;;) {
    if (!go_on_()) return false;
    auto rows = ask(from_, [&](engine::Connection& connection) {
      return connection.requests_after(source_, after, limits::copy_page_keys);
    });
    if (!rows) return fail(std::move(rows.error()));
    if (rows->empty()) return true;
    after = rows->back().request_id;
    std::int64_t put = 0;
    auto written = write(state_, [&](engine::Connection& connection, const engine::StoredCounter& target) {
      return store_in(put, connection.put_requests(target, *rows));
    });
    if (!written) return fail(std::move(written.error()));
    report_.ids_written += put;
    tell("copying request ids", report_.ids_written);
  }
}

Result<std::vector<engine::StreamRow>> Mover::files_of(counter::Store& store) {
  return ask(store, [&](engine::Connection& connection) {
    return connection.streams(fmt::format("file/{}/", source_.name));
  });
}

/// A file that was counted on there stays where it is. The position of a pass of `count --again` goes when that has ended.
Result<void> Mover::pass_files() {
  auto here = files_of(from_);
  if (!here) return fail(std::move(here.error()));
  auto there = files_of(to_);
  if (!there) return fail(std::move(there.error()));
  std::map<std::string_view, std::int64_t> positions;
  for (const auto& row : *there) positions[row.name] = row.position;
  std::vector<std::pair<const engine::StreamRow*, std::int64_t>> moved;
  for (const auto& row : *here) {
    const auto known = positions.extract(row.name);
    const std::int64_t position = known.empty() ? 0 : known.mapped();
    if (row.position > position) moved.emplace_back(&row, position);
  }
  std::erase_if(positions, [](const auto& left) { return !is_of_unfinished_pass(left.first); });
  if (moved.empty() && positions.empty()) return {};
  auto written = write(state_, [&](engine::Connection& connection, const engine::StoredCounter&) -> Result<void> {
    for (const auto& [row, position] : moved) {
      auto now = connection.advance(row->name, position, row->position, row->checkpoint);
      if (!now) return fail(std::move(now.error()));
    }
    for (const auto& [name, position] : positions) {
      if (auto gone = connection.forget(name); !gone) return gone;
    }
    return {};
  });
  if (written) report_.files_written += static_cast<std::int64_t>(moved.size());
  return written;
}

// --- Closing

Result<bool> Mover::close_source() {
  const Deadline last = deadline_in(std::chrono::seconds(limits::copy_close_wait_s_max));
  constexpr std::chrono::seconds turn{1};
  for (;;) {
    if (!go_on_()) return false;
    tell("closing", report_.keys);
    auto closed = counter::close(from_, source_.name, to_.engine().place(), std::min(last, deadline_in(turn)));
    if (closed) break;
    if (closed.error().code != ErrorCode::database_busy || time_left(last).count() == 0) return fail(std::move(closed.error()));
  }
  auto stored = ask(from_, [this](engine::Connection& connection) { return counter::look_up(connection, source_.name); });
  if (!stored) return fail(std::move(stored.error()));
  source_ = **stored;
  report_.closed = source_.moved_to.has_value();
  return true;
}

// --- The target's transactions

Result<engine::StoredCounter> Mover::find_target(engine::Connection& connection) {
  auto found = connection.find(source_.name);
  if (!found) return fail(std::move(found.error()));
  if (*found) return std::move(**found);
  return fail(ErrorCode::unknown_counter,
              fmt::format("the counter {} was dropped there meanwhile; copy it again", quoted(source_.name)));
}

/// In the first transaction. One that is there by now was made by an earlier try of it, or by somebody else, which the
/// stream tells.
Result<void> Mover::prepare(engine::Connection& connection) {
  if (auto installed = connection.install(); !installed) return installed;
  auto found = connection.find(source_.name);
  if (!found) return fail(std::move(found.error()));
  if (*found) return {};
  if (auto gone = connection.forget(stream_of(source_.name)); !gone) return gone;
  return connection.create(source_.name, target_rule_);
}

Result<void> Mover::write(State next, const Body& body) {
  next.run = run_;
  next.source_created = source_.created_at.time_since_epoch().count();
  next.position = state_.position + 1;
  const bool is_first = state_.position == 0;
  const counter::TransactionOptions how{.deadline = copy_deadline(), .create = is_first, .send_again = true};
  auto done = counter::run_transaction(to_.pool(), how, [&](counter::Attempt& attempt) -> Result<void> {
    auto& connection = attempt.connection;
    if (is_first) {
      if (auto ready = prepare(connection); !ready) return ready;
    }
    auto moved = connection.advance(stream_of(source_.name), state_.position, next.position, encode(next));
    if (!moved) return fail(std::move(moved.error()));
    if (!*moved) return {};  // an earlier try in doubt was committed
    attempt.in_doubt = false;
    auto target = find_target(connection);
    if (!target) return fail(std::move(target.error()));
    return body ? body(connection, *target) : Result<void>();
  });
  if (done) {
    state_ = std::move(next);
  } else if (done.error().code == ErrorCode::stream_conflict) {
    done.error().message = fmt::format("another copy of {} is under way, or a hand has moved its stream {}; let that end, and "
                                       "run this again",
                                       source_.name, stream_of(source_.name));
  }
  return done;
}

/// What was noted for each key is needed no more.
Result<void> Mover::finish() {
  if (state_.phase != Phase::complete) {
    State next = state_;
    next.phase = Phase::complete;
    if (auto written = write(std::move(next)); !written) return written;
  }
  for (std::int64_t gone = limits::copy_page_keys; gone == limits::copy_page_keys;) {
    const counter::TransactionOptions how{.deadline = copy_deadline(), .send_again = true};
    auto done = counter::run_transaction(to_.pool(), how, [&](counter::Attempt& attempt) -> Result<void> {
      auto target = find_target(attempt.connection);
      if (!target) return fail(std::move(target.error()));
      return store_in(gone, attempt.connection.forget_copied(*target, limits::copy_page_keys));
    });
    if (!done) return done;
  }
  return {};
}

}  // namespace splitcount::copy
