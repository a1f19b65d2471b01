#include <copy/copy.h>

#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <copy/mover.h>
#include <copy/side.h>
#include <counter/access.h>
#include <engine/engine.h>
#include <rule/rule.h>

namespace splitcount::copy {
namespace {

using counter::Access;
using counter::Store;

/// One counter, judged.
struct Plan {
  engine::StoredCounter source;
  State state;
  Rule rule;
  std::vector<std::string> notes;
};

Result<void> check_apart(Store& from, Store& to) {
  const auto identity = [](engine::Connection& connection) { return connection.identity(); };
  const auto here = ask(from, identity);
  if (!here) return fail(here.error());
  const auto there = ask(to, true, identity);
  if (!there) return fail(there.error());
  if (*here != *there) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} is the same database on both sides; a copy goes from one to another", from.engine().place()));
}

Result<std::vector<engine::StoredCounter>> sources(Store& from, const std::vector<std::string>& names) {
  return ask(from, [&](engine::Connection& connection) -> Result<std::vector<engine::StoredCounter>> {
    if (names.empty()) return connection.list();
    std::vector<engine::StoredCounter> counters;
    for (const auto& name : names) {
      auto stored = counter::look_up(connection, name);
      if (!stored) return fail(std::move(stored.error()));
      counters.push_back(**stored);
    }
    return counters;
  });
}

/// The rule that a counter has there. What is another is told.
Result<void> choose_rule(Plan& plan, const rule::EngineTraits& here, const rule::EngineTraits& there) {
  plan.rule = plan.source.rule;
  const bool has_layout = plan.rule.layout == Layout::compact || (plan.rule.layout == Layout::padded && there.padded) ||
                          (plan.rule.layout == Layout::journal && there.journal);
  if (!has_layout) {
    plan.notes.push_back(fmt::format("{} has the layout compact there, since {} has no {}", plan.source.name, there.name,
                                     rule::to_text(plan.rule.layout)));
    plan.rule.layout = Layout::compact;
  }
  const bool is_default = plan.rule.slots == here.slots_default && here.slots_default != there.slots_default;
  if (is_default && plan.rule.pick != Pick::value) {
    plan.notes.push_back(fmt::format("{} has slots {} there, the default of {}, where it has {} here, that of {}",
                                     plan.source.name, there.slots_default, there.name, plan.rule.slots, here.name));
    plan.rule.slots = there.slots_default;
  }
  return rule::check(plan.rule, there);
}

/// Everything of the source that is going to be read can be read.
Result<void> check_source(Store& from, const engine::StoredCounter& source) {
  return ask(from, [&](engine::Connection& connection) -> Result<void> {
    if (auto whole = connection.check_objects(source); !whole) return whole;
    if (auto ids = connection.requests_after(source, {}, 1); !ids) return fail(std::move(ids.error()));
    if (auto files = connection.streams(fmt::format("file/{}/", source.name)); !files) return fail(std::move(files.error()));
    return {};
  });
}

Error not_from_here(const engine::StoredCounter& source, const Store& to) {
  Error error;
  error.code = ErrorCode::name_clash;
  error.message = fmt::format("{} has a counter {} that is not from here; drop it there, or copy the others by --counter",
                              to.engine().place(), quoted(source.name));
  return error;
}

/// How far an earlier copy came. Error: name_clash, where the counter there is none of it.
Result<State> look_at_target(Store& to, const engine::StoredCounter& source) {
  return ask(to, [&](engine::Connection& connection) -> Result<State> {
    auto version = connection.schema_version();
    if (!version) return fail(std::move(version.error()));
    if (*version == 0) return State{};
    auto found = connection.find(source.name);
    if (!found) return fail(std::move(found.error()));
    if (!*found) return State{};
    auto streams = connection.streams(stream_of(source.name));
    if (!streams) return fail(std::move(streams.error()));
    for (const auto& row : *streams) {
      auto state = row.name == stream_of(source.name) ? decode(row.checkpoint) : std::nullopt;
      if (!state || state->source_created != source.created_at.time_since_epoch().count()) continue;
      state->position = row.position;
      return std::move(*state);
    }
    return fail(not_from_here(source, to));
  });
}

/// What can be seen without the target, which may not exist yet.
Result<Plan> plan_of(Store& from, Store& to, engine::StoredCounter source) {
  Plan plan{std::move(source), {}, {}, {}};
  if (auto chosen = choose_rule(plan, from.traits(), to.traits()); !chosen) return fail(std::move(chosen.error()));
  if (auto checked = check_source(from, plan.source); !checked) return fail(std::move(checked.error()));
  return plan;
}

Result<void> judge(Plan& plan, Store& to, const Options& options) {
  auto state = look_at_target(to, plan.source);
  if (!state) return fail(std::move(state.error()));
  plan.state = std::move(*state);
  if (plan.state.position > 0) plan.notes.clear();  // they were told when it was made
  if (plan.state.phase == Phase::complete && !plan.source.moved_to) {
    return fail(ErrorCode::name_clash,
                fmt::format("{0} has moved to {1} for good before, and was opened again here since; drop it there to copy it anew",
                            plan.source.name, to.engine().place()));
  }
  if (options.close && plan.source.moved_to && plan.state.position == 0) {
    return fail(ErrorCode::counter_closed, fmt::format("{} has moved to {} already; copy it from there, or leave --final out",
                                                       plan.source.name, *plan.source.moved_to));
  }
  return {};
}

Report copy_one(Store& from, Store& to, Plan& plan, const Options& options, const std::function<bool()>& go_on) {
  Report report;
  report.counter = plan.source.name;
  report.notes = std::move(plan.notes);
  const std::string name = plan.source.name;
  auto done = Mover(from, to, std::move(plan.source), std::move(plan.state), std::move(plan.rule), options, go_on, report).move();
  if (done) {
    report.stopped = !*done;
  } else {
    report.error = std::move(done.error());
  }
  return report;
}

}  // namespace

Result<std::vector<Report>> run(Database& from_database, Database& to_database, const Options& options) {
  Store& from = *Access::store(from_database);
  Store& to = *Access::store(to_database);
  auto counters = sources(from, options.counters);
  if (!counters) return fail(std::move(counters.error()));
  std::vector<Plan> plans;
  for (auto& source : *counters) {
    auto plan = plan_of(from, to, std::move(source));
    if (!plan) return fail(std::move(plan.error()));
    plans.push_back(std::move(*plan));
  }
  if (auto apart = check_apart(from, to); !apart) return fail(std::move(apart.error()));
  for (auto& plan : plans) {
    if (auto judged = judge(plan, to, options); !judged) return fail(std::move(judged.error()));
  }
  const Deadline last = options.seconds_max ? deadline_in(*options.seconds_max) : Deadline::max();
  const auto go_on = [&] { return Deadline::clock::now() < last && (!options.go_on || options.go_on()); };
  std::vector<Report> reports;
  for (auto& plan : plans) {
    reports.push_back(copy_one(from, to, plan, options, go_on));
    if (reports.back().stopped || reports.back().error) break;
  }
  return reports;
}

}  // namespace splitcount::copy
