#include <measure/locks.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <engine/engine.h>
#include <engine/statements.h>
#include <measure/cells.h>

namespace splitcount::measure {
namespace {

using engine::Console;

constexpr std::chrono::seconds answer_max{10};
constexpr std::chrono::milliseconds refused_after{50};  // where a lock is waited for, not passed over

/// One session that counts, and another one that looks.
class Demonstration {
 public:
  explicit Demonstration(engine::Engine& place) : place_(place) {}

  Result<LocksHeld> run();

 private:
  Result<void> prepare();
  Result<void> send(Console& console, std::string_view name);
  /// Locks that the other session meets on that table.
  Result<int> held(std::string_view table);
  /// How many more are held once the statement has run.
  Result<int> held_by(std::string_view name, std::string_view table);

  engine::Engine& place_;
  std::unique_ptr<Console> counting_;
  std::unique_ptr<Console> looking_;
};

Result<void> Demonstration::send(Console& console, std::string_view name) {
  console.set_deadline(deadline_in(answer_max));
  auto done = console.ask(std::string(engine::statement(place_.dialect(), name)));
  if (!done) return fail(std::move(done.error()));
  return {};
}

Result<void> Demonstration::prepare() {
  for (auto* console : {&counting_, &looking_}) {
    auto opened = place_.console(deadline_in(answer_max));
    if (!opened) return fail(std::move(opened.error()));
    *console = *std::move(opened);
  }
  return send(*counting_, "inspect_locks_create");
}

Result<int> Demonstration::held(std::string_view table) {
  const bool is_one_lock = place_.traits().one_writer;
  looking_->set_deadline(is_one_lock ? deadline_in(refused_after) : deadline_in(answer_max));
  const std::array<engine::Placeholder, 1> name{engine::Placeholder{"table", std::string(table)}};
  auto answer = looking_->ask(engine::fill(engine::statement(place_.dialect(), "inspect_locks_held"), name));
  if (!answer && is_one_lock && answer.error().code == ErrorCode::database_busy) return 1;
  if (!answer) return fail(std::move(answer.error()));
  return static_cast<int>(number_of(answer->front()[0]));
}

Result<int> Demonstration::held_by(std::string_view name, std::string_view table) {
  const auto before = held(table);
  if (!before) return before;
  if (auto counted = send(*counting_, name); !counted) return fail(std::move(counted.error()));
  const auto after = held(table);
  if (!after) return after;
  if (auto ended = send(*counting_, "inspect_locks_end"); !ended) return fail(std::move(ended.error()));
  return *after - *before;
}

Result<LocksHeld> Demonstration::run() {
  if (auto prepared = prepare(); !prepared) return fail(std::move(prepared.error()));
  LocksHeld locks;
  locks.is_of_database = place_.traits().one_writer;
  const auto one_row = held_by("inspect_locks_one_row", "one_row");
  if (!one_row) return fail(one_row.error());
  const auto two_slots = held_by("inspect_locks_two_slots", "two_slots");
  if (!two_slots) return fail(two_slots.error());
  locks.one_row = *one_row;
  locks.two_slots = *two_slots;
  return locks;
}

std::vector<std::int64_t> processes_of(std::string_view list) {
  std::vector<std::int64_t> processes;
  while (!list.empty()) {
    const auto comma = list.find(',');
    processes.push_back(number_of(std::string(list.substr(0, comma))));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return processes;
}

}  // namespace

Result<LocksHeld> show_locks(const Target& target) {
  auto place = target.engine().sandbox(deadline_in(answer_max));
  if (!place) return fail(std::move(place.error()));
  auto locks = Demonstration((*place)->engine()).run();
  auto removed = (*place)->remove();
  if (locks && !removed) return fail(std::move(removed.error()));
  return locks;
}

WaitersView::WaitersView(WaitersView&&) noexcept = default;
WaitersView& WaitersView::operator=(WaitersView&&) noexcept = default;
WaitersView::~WaitersView() = default;

Result<WaitersView> WaitersView::open(const Target& target) {
  WaitersView view;
  auto& engine = target.engine();
  auto connection = engine.connect(false, deadline_in(answer_max));
  if (!connection) return fail(std::move(connection.error()));
  const auto version = (*connection)->schema_version();
  if (!version) return fail(version.error());
  auto counters = *version == 0 ? Result<std::vector<engine::StoredCounter>>() : (*connection)->list();
  if (!counters) return fail(std::move(counters.error()));
  if (engine.traits().one_writer) {
    view.why_none_ = fmt::format(
        "{} has one writer: who waits, waits for the whole database and not for a row or a session, and there is no list of "
        "who that is", engine.traits().name);
    return view;
  }
  if (counters->empty()) {
    view.why_none_ = "this database has no counters, so nobody waits for one";
    return view;
  }
  auto console = engine.console(deadline_in(answer_max));
  if (!console) return fail(std::move(console.error()));
  const std::array<engine::Placeholder, 1> place{engine::Placeholder{"schema", counters->front().schema}};
  view.statement_ = engine::fill(engine::statement(engine.dialect(), "inspect_waits"), place);
  view.console_ = *std::move(console);
  return view;
}

Result<std::vector<Waiter>> WaitersView::look() {
  std::vector<Waiter> waiters;
  if (!console_) return waiters;
  console_->set_deadline(deadline_in(answer_max));
  auto rows = console_->ask(statement_);
  if (!rows) return fail(std::move(rows.error()));
  for (const auto& row : *rows) {
    Waiter waiter;
    waiter.process = number_of(row[0]);
    waiter.blocked_by = processes_of(row[1].value_or(""));
    waiter.counter = row[2].value_or("");
    waiter.table = row[3].value_or("");
    waiter.since = row[4].value_or("");
    waiter.seconds = real_of(row[5]);
    waiter.statement = row[6];
    waiters.push_back(std::move(waiter));
  }
  return waiters;
}

}  // namespace splitcount::measure
