// The comparison at the end: key by key, a page at a time.
#include <copy/mover.h>

#include <map>

#include <fmt/format.h>

#include <base/limits.h>
#include <copy/side.h>

namespace splitcount::copy {
namespace {

/// The totals of a page's keys at the target; unset where there is no such key.
Result<std::vector<std::optional<std::int64_t>>> totals_of(engine::Connection& connection,
                                                           const engine::StoredCounter& counter, const Page& page) {
  std::vector<std::optional<std::int64_t>> totals;
  if (!counter.rule.key) {
    auto total = connection.total(counter, std::nullopt);
    if (!total) return fail(std::move(total.error()));
    totals.push_back(*total ? std::optional((*total)->total) : std::nullopt);
    return totals;
  }
  auto read = connection.totals(counter, page.keys);
  if (!read) return fail(std::move(read.error()));
  for (const auto& total : *read) totals.push_back(total.slots > 0 ? std::optional(total.total) : std::nullopt);
  return totals;
}

}  // namespace

void Mover::note(std::string_view key, std::optional<std::int64_t> here, std::optional<std::int64_t> there) {
  if (report_.differences.size() >= static_cast<std::size_t>(limits::copy_named_keys_max)) return;
  report_.differences.push_back({std::string(key), here, there});
}

Result<bool> Mover::compare() {
  std::string after;
  std::int64_t keys = 0;
  for (bool is_last = false; !is_last;) {
    if (!go_on_()) return false;
    auto page = read_page(from_, source_, after);
    if (!page) return fail(std::move(page.error()));
    if (!page->keys.empty()) {
      if (auto compared = compare_page(*page); !compared) return fail(std::move(compared.error()));
      after = page->keys.back();
    }
    keys += static_cast<std::int64_t>(page->keys.size());
    is_last = page->is_last;
    tell("comparing", keys);
  }
  report_.keys = keys;
  if (source_.rule.key) {
    auto looked = look_for_keys_of_its_own(keys);
    if (!looked || !*looked) return looked;
  }
  auto requests = compare_requests();
  if (!requests || !*requests) return requests;
  if (auto files = compare_files(); !files) return fail(std::move(files.error()));
  return true;
}

/// What was copied of a key tells whose difference it is: the source has counted on, or the target holds something else.
Result<void> Mover::compare_page(const Page& page) {
  return ask(to_, [&](engine::Connection& connection) -> Result<void> {
    auto target = find_target(connection);
    if (!target) return fail(std::move(target.error()));
    auto copied = connection.copied(*target, page.keys);
    if (!copied) return fail(std::move(copied.error()));
    auto there = totals_of(connection, *target, page);
    if (!there) return fail(std::move(there.error()));
    for (std::size_t i = 0; i < page.keys.size(); ++i) {
      const bool is_behind = (*copied)[i] != page.totals[i];
      const bool is_ahead = (*there)[i] != (*copied)[i];
      report_.keys_behind += is_behind ? 1 : 0;
      report_.keys_ahead += is_ahead ? 1 : 0;
      if (is_behind || is_ahead) note(page.keys[i], page.totals[i], (*there)[i]);
    }
    return {};
  });
}

/// They are looked for only where their number tells that there are some.
Result<bool> Mover::look_for_keys_of_its_own(std::int64_t source_keys) {
  auto target = ask(to_, [&](engine::Connection& connection) { return find_target(connection); });
  if (!target) return fail(std::move(target.error()));
  auto count = ask(to_, [&](engine::Connection& connection) { return connection.keys(*target); });
  if (!count) return fail(std::move(count.error()));
  if (*count <= source_keys) return true;
  std::string after;
  for (bool is_last = false; !is_last;) {
    if (!go_on_()) return false;
    auto page = read_page(to_, *target, after);
    if (!page) return fail(std::move(page.error()));
    is_last = page->is_last;
    if (page->keys.empty()) break;
    after = page->keys.back();
    auto here = ask(from_, [&](engine::Connection& connection) { return totals_of(connection, source_, *page); });
    if (!here) return fail(std::move(here.error()));
    for (std::size_t i = 0; i < page->keys.size(); ++i) {
      if ((*here)[i]) continue;
      ++report_.keys_ahead;
      note(page->keys[i], std::nullopt, page->totals[i]);
    }
  }
  return true;
}

/// Those that would still have to be written, in a transaction that is rolled back.
Result<bool> Mover::compare_requests() {
  std::string after;
  for (;;) {
    if (!go_on_()) return false;
    auto rows = ask(from_, [&](engine::Connection& connection) {
      return connection.requests_after(source_, after, limits::copy_page_keys);
    });
    if (!rows) return fail(std::move(rows.error()));
    if (rows->empty()) return true;
    after = rows->back().request_id;
    auto missing = ask(to_, [&](engine::Connection& connection) -> Result<std::int64_t> {
      if (auto begun = connection.begin(copy_deadline()); !begun) return fail(std::move(begun.error()));
      auto target = find_target(connection);
      auto put = target ? connection.put_requests(*target, *rows) : Result<std::int64_t>(fail(target.error()));
      connection.rollback();
      return put;
    });
    if (!missing) return fail(std::move(missing.error()));
    report_.others_behind += *missing;
  }
}

Result<void> Mover::compare_files() {
  auto here = files_of(from_);
  if (!here) return fail(std::move(here.error()));
  auto there = files_of(to_);
  if (!there) return fail(std::move(there.error()));
  std::map<std::string_view, const engine::StreamRow*> by_name;
  for (const auto& row : *there) by_name[row.name] = &row;
  for (const auto& row : *here) {
    const auto found = by_name.find(row.name);
    const bool same = found != by_name.end() && found->second->position == row.position &&
                      found->second->checkpoint == row.checkpoint;
    if (!same) ++report_.others_behind;
  }
  return {};
}

}  // namespace splitcount::copy
