#include <measure/trial.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <base/text.h>
#include <counter/random.h>
#include <engine/engine.h>
#include <engine/statements.h>

namespace splitcount::measure {
namespace {

using Clock = std::chrono::steady_clock;
using engine::Console;
using engine::Placeholder;

constexpr std::chrono::seconds connect_max{10};
constexpr std::chrono::seconds answer_max{60};       // beyond a turn's own time
constexpr std::chrono::milliseconds fold_pause{200};
constexpr std::size_t parameters = 3;                // of an add: see sql/<dialect>/trial.sql
constexpr int total_reads = 15;
constexpr double overhead_seconds = 1.2;             // of a turn: tables emptied, totals read, lock waits counted

/// Threads, and the first error of any of them, which ends the others.
class Crew {
 public:
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  void note(Error error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    failed_ = true;
  }
  [[nodiscard]] Result<void> outcome() {
    const std::scoped_lock lock(mutex_);
    if (error_) return fail(*error_);
    return {};
  }
  /// Runs `work(i)` for each number below `count`, each in a thread, all from one instant on.
  template <class Work>
  Result<void> run(std::size_t count, const Work& work) {
    std::barrier start(static_cast<std::ptrdiff_t>(count));
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&work, &start, i] {
          start.arrive_and_wait();
          work(i);
        });
      }
    }
    return outcome();
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> failed_{false};
};

/// What one session did in a turn.
struct Work {
  std::vector<std::uint32_t> latencies_us;
  std::int64_t adds = 0;
  std::int64_t waited = 0;
  std::int64_t deadlocks = 0;
  std::int64_t retries = 0;
};

std::uint32_t microseconds_since(Clock::time_point begun) {
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(passed, 0, std::numeric_limits<std::uint32_t>::max()));
}

/// What a design gathers over its turns.
struct Gathered {
  std::vector<double> adds_per_second;
  std::vector<std::uint32_t> latencies_us;
  std::vector<std::uint32_t> totals_us;
  std::int64_t adds = 0;
  std::int64_t waited = 0;
  std::int64_t tried = 0;  ///< adds that could have waited
  std::int64_t deadlocks = 0;
  std::int64_t retries = 0;
  std::int64_t bytes = 0;
  std::int64_t wrong_by = 0;
};

class Trial {
 public:
  Trial(engine::Engine& place, const std::vector<Design>& designs, const TrialOptions& options)
      : place_(place), designs_(designs), options_(options) {}

  Result<void> prepare();
  Result<void> turn(std::size_t design);
  [[nodiscard]] TrialResult result();
  [[nodiscard]] bool is_stopped() const noexcept { return options_.stop != nullptr && options_.stop->load(); }
  void round_is_done() noexcept { ++rounds_; }
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_; }

 private:
  /// What its tables' names begin with; a counter's name.
  [[nodiscard]] std::string table_of(const Design& design) const;
  [[nodiscard]] std::string sql(const Design& design, std::string_view statement_name, bool insert_too = false) const;
  [[nodiscard]] std::string shared(std::string_view name) const {
    return std::string(engine::statement(place_.dialect(), name));
  }
  Result<std::int64_t> number(const std::string& text);
  Result<void> create(const Design& design);
  Result<void> open_sessions();
  void add(std::size_t session, std::size_t design, Clock::time_point end, Work& work, Crew& crew);
  Result<void> add_by_all(std::size_t design, Gathered& gathered);
  void hold(std::size_t session, std::size_t design, Work& work, Crew& crew);
  Result<void> hold_by_all(std::size_t design, Gathered& gathered);
  void fold(const Design& design, const std::stop_token& ended, Crew& crew);
  Result<void> read_totals(const Design& design, Gathered& gathered);
  [[nodiscard]] Measured measured(std::size_t design) ;

  engine::Engine& place_;
  const std::vector<Design>& designs_;
  const TrialOptions& options_;
  std::unique_ptr<Console> desk_;  // beside the sessions
  std::vector<std::unique_ptr<Console>> sessions_;
  std::vector<Gathered> gathered_;
  Settings settings_;
  std::size_t rounds_ = 0;
};

/// The names of designs may be words that are reserved for counters, and one may begin like another.
std::string Trial::table_of(const Design& design) const {
  return fmt::format("trial_{}", &design - designs_.data());
}

std::string Trial::sql(const Design& design, std::string_view statement_name, bool insert_too) const {
  const auto text = shared(statement_name);
  const auto insert = [&](std::string_view how) { return insert_too ? shared(how) : std::string(); };
  std::vector<Placeholder> values{{"design", table_of(design)},
                                  {"slots", std::to_string(design.slots)},
                                  {"insert_first", insert("trial_insert_first")},
                                  {"insert_many_first", insert("trial_insert_many_first")},
                                  {"adds", std::to_string(design.adds)}};
  // Only where an insert and its count are several statements does something stand behind them.
  if (text.find("{insert_last}") != std::string::npos) values.push_back({"insert_last", insert("trial_insert_last")});
  // The insert comes first, and has the adds as a placeholder of its own.
  return engine::fill(engine::fill(text, values), values);
}

Result<std::int64_t> Trial::number(const std::string& text) {
  auto rows = desk_->ask(text);
  if (!rows) return fail(std::move(rows.error()));
  if (rows->empty() || !rows->front()[0]) return 0;
  return std::stoll(*rows->front()[0]);
}

Result<void> Trial::create(const Design& design) {
  if (!design.rule) {
    auto made = desk_->ask(sql(design, design.create));
    if (made) return {};
    made.error().message = fmt::format("the design {} cannot be made here: {}", design.name, made.error().message);
    return fail(std::move(made.error()));
  }
  const auto deadline = deadline_in(answer_max);
  auto connection = place_.connect(false, deadline);
  if (!connection) return fail(std::move(connection.error()));
  auto done = (*connection)->begin(deadline);
  if (done) done = (*connection)->install();
  if (done) done = (*connection)->create(table_of(design), *design.rule);
  if (done) return (*connection)->commit();
  (*connection)->rollback();
  return done;
}

Result<void> Trial::open_sessions() {
  for (int i = 0; i < options_.sessions; ++i) {
    auto session = place_.console(deadline_in(connect_max));
    if (!session) return fail(std::move(session.error()));
    (*session)->set_deadline(deadline_in(answer_max));
    if (!options_.isolation.empty() && !place_.traits().one_writer) {
      const std::array<Placeholder, 1> level{Placeholder{"isolation", options_.isolation}};
      auto set = (*session)->ask(engine::fill(engine::statement(place_.dialect(), "trial_isolation"), level));
      if (!set) return fail(std::move(set.error()));
    }
    // So a design's number is that of its add, and `designs_.size()` more that of its add without the insert.
    for (const bool insert_too : {options_.insert_too, false}) {
      for (const auto& design : designs_) {
        auto prepared = (*session)->prepare(sql(design, design.add, insert_too), parameters);
        if (!prepared) return fail(std::move(prepared.error()));
      }
    }
    sessions_.push_back(*std::move(session));
  }
  return {};
}

Result<void> Trial::prepare() {
  auto desk = place_.console(deadline_in(connect_max));
  if (!desk) return fail(std::move(desk.error()));
  desk_ = *std::move(desk);
  desk_->set_deadline(deadline_in(answer_max));
  if (auto made = desk_->ask(shared("trial_create")); !made) return fail(std::move(made.error()));
  for (const auto& design : designs_) {
    if (auto made = create(design); !made) return made;
  }
  if (auto analyzed = desk_->ask(shared("trial_analyze")); !analyzed) return fail(std::move(analyzed.error()));
  auto settings = settings_of(*desk_, place_.dialect());
  if (!settings) return fail(std::move(settings.error()));
  settings_ = *std::move(settings);
  gathered_.resize(designs_.size());
  return open_sessions();
}

/// Adds until the end; what asks to be sent again is.
void Trial::add(std::size_t session, std::size_t design, Clock::time_point end, Work& work, Crew& crew) {
  auto& console = *sessions_[session];
  console.set_deadline(end + answer_max);
  for (std::int64_t i = 0; !crew.failed() && !is_stopped() && Clock::now() < end; ++i) {
    const std::array<std::int64_t, parameters> numbers{
        static_cast<std::int64_t>(session), static_cast<std::int64_t>(counter::draw() >> 33U),
        i * options_.sessions + static_cast<std::int64_t>(session) + 1};
    const auto begun = Clock::now();
    auto done = console.run(design, numbers);
    while (!done && done.error().retryable && !done.error().connection_dead && !crew.failed() && !is_stopped()) {
      ++work.retries;
      if (done.error().code == ErrorCode::deadlock) ++work.deadlocks;
      done = console.run(design, numbers);
    }
    if (!done) {
      if (!done.error().retryable || done.error().connection_dead) crew.note(std::move(done.error()));
      return;
    }
    work.latencies_us.push_back(microseconds_since(begun));
    work.adds += designs_[design].adds;
    if (*done) work.waited += designs_[design].adds;
  }
}

Result<void> Trial::add_by_all(std::size_t design, Gathered& gathered) {
  std::vector<Work> works(sessions_.size());
  Crew crew;
  std::jthread folding;
  if (designs_[design].folds) {
    folding = std::jthread([this, design, &crew](const std::stop_token& ended) { fold(designs_[design], ended, crew); });
  }
  const auto begun = Clock::now();
  const auto end = begun + options_.turn;
  auto done = crew.run(sessions_.size(), [&](std::size_t session) { add(session, design, end, works[session], crew); });
  const double seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  if (folding.joinable()) {
    folding.request_stop();
    folding.join();
    if (done) done = crew.outcome();
  }
  if (!done) return done;
  std::int64_t adds = 0;
  for (const auto& work : works) {
    adds += work.adds;
    gathered.deadlocks += work.deadlocks;
    gathered.retries += work.retries;
    if (place_.traits().one_writer) gathered.waited += work.waited;
    gathered.latencies_us.insert(gathered.latencies_us.end(), work.latencies_us.begin(), work.latencies_us.end());
  }
  if (place_.traits().one_writer) gathered.tried += adds;
  gathered.adds += adds;
  gathered.adds_per_second.push_back(static_cast<double>(adds) / seconds);
  return {};
}

/// Transactions that stay open for a moment after their add; without the insert, which may wait for its own reasons.
void Trial::hold(std::size_t session, std::size_t design, Work& work, Crew& crew) {
  auto& console = *sessions_[session];
  console.set_deadline(deadline_in(answer_max));
  if (auto set = console.ask(shared("trial_hold_begin")); !set) return crew.note(std::move(set.error()));
  for (int i = 0; i < limits::trial_held_adds && !crew.failed() && !is_stopped(); ++i) {
    const std::array<std::int64_t, parameters> numbers{
        static_cast<std::int64_t>(session), static_cast<std::int64_t>(counter::draw() >> 33U),
        static_cast<std::int64_t>(i) * options_.sessions + static_cast<std::int64_t>(session) + 1};
    if (auto begun = console.ask(shared("trial_hold")); !begun) return crew.note(std::move(begun.error()));
    if (auto added = console.run(designs_.size() + design, numbers); !added) {
      if (!added.error().retryable || added.error().connection_dead) return crew.note(std::move(added.error()));
      const bool waited = added.error().code == ErrorCode::database_busy || added.error().code == ErrorCode::request_in_flight;
      ++(waited ? work.waited : work.retries);
      continue;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(limits::trial_hold_ms));
    if (auto released = console.ask(shared("trial_release")); !released) {
      if (!released.error().retryable || released.error().connection_dead) return crew.note(std::move(released.error()));
      ++work.retries;
      continue;
    }
    work.adds += designs_[design].adds;
  }
  if (auto set = console.ask(shared("trial_hold_end")); !set) crew.note(std::move(set.error()));
}

Result<void> Trial::hold_by_all(std::size_t design, Gathered& gathered) {
  std::vector<Work> works(sessions_.size());
  Crew crew;
  auto done = crew.run(sessions_.size(), [&](std::size_t session) { hold(session, design, works[session], crew); });
  if (!done) return done;
  for (const auto& work : works) {
    gathered.adds += work.adds;
    gathered.waited += work.waited;
    gathered.tried += work.adds / designs_[design].adds + work.waited + work.retries;
  }
  return {};
}

void Trial::fold(const Design& design, const std::stop_token& ended, Crew& crew) {
  auto connection = place_.connect(false, deadline_in(connect_max));
  if (!connection) return crew.note(std::move(connection.error()));
  auto stored = (*connection)->find(table_of(design));
  if (!stored || !*stored) return;
  std::optional<std::int64_t> pages;
  while (!ended.stop_requested()) {
    Result<engine::Folded> folded;
    auto done = (*connection)->begin(deadline_in(answer_max));
    if (done) folded = (*connection)->fold_deltas(**stored, pages);
    if (done && folded) done = (*connection)->commit();
    if (!done || !folded) {
      Error error = done ? std::move(folded.error()) : std::move(done.error());
      (*connection)->rollback();
      if (!error.retryable || error.connection_dead) return crew.note(std::move(error));
    }
    pages = done && folded && folded->pages_left > 0 ? std::optional(folded->pages_left) : std::nullopt;
    if (!pages) std::this_thread::sleep_for(fold_pause);
  }
}

Result<void> Trial::read_totals(const Design& design, Gathered& gathered) {
  auto prepared = desk_->prepare(sql(design, design.total), 0);
  if (!prepared) return fail(std::move(prepared.error()));
  for (int i = 0; i < total_reads; ++i) {
    const auto begun = Clock::now();
    if (auto read = desk_->run(*prepared, {}); !read) return fail(std::move(read.error()));
    gathered.totals_us.push_back(microseconds_since(begun));
  }
  return {};
}

Result<void> Trial::turn(std::size_t design) {
  auto& gathered = gathered_[design];
  const auto& what = designs_[design];
  desk_->set_deadline(deadline_in(answer_max));
  if (auto reset = desk_->ask(shared("trial_reset")); !reset) return fail(std::move(reset.error()));
  const std::array<Placeholder, 1> name{Placeholder{"design", table_of(what)}};
  const auto size = engine::fill(engine::statement(place_.dialect(), "trial_size"), name);
  const auto bytes = number(size);
  if (!bytes) return fail(bytes.error());
  const auto before = number(sql(what, what.total));
  if (!before) return fail(before.error());
  const auto adds_before = gathered.adds;
  if (auto done = add_by_all(design, gathered); !done) return done;
  desk_->set_deadline(deadline_in(answer_max));
  const auto bytes_after = number(size);
  if (!bytes_after) return fail(bytes_after.error());
  gathered.bytes += *bytes_after - *bytes;
  if (!place_.traits().one_writer) {
    if (auto done = hold_by_all(design, gathered); !done) return done;
  }
  const auto after = number(sql(what, what.total));
  if (!after) return fail(after.error());
  gathered.wrong_by += *after - *before - (gathered.adds - adds_before);
  return read_totals(what, gathered);
}

Measured Trial::measured(std::size_t design) {
  auto& gathered = gathered_[design];
  Measured one;
  one.design = designs_[design];
  gathered.adds_per_second.resize(std::min(gathered.adds_per_second.size(), rounds_));
  one.adds_per_second = gathered.adds_per_second;
  one.p50_us = percentile(gathered.latencies_us, 0.5);
  one.p99_us = percentile(gathered.latencies_us, 0.99);
  one.p999_us = percentile(gathered.latencies_us, 0.999);
  one.longest_us = percentile(gathered.latencies_us, 1);
  one.adds = gathered.adds;
  one.share_waited = gathered.tried == 0 ? 0 : static_cast<double>(gathered.waited) / static_cast<double>(gathered.tried);
  one.deadlocks = gathered.deadlocks;
  one.retries = gathered.retries;
  one.total_us = percentile(gathered.totals_us, 0.5);
  const auto counted = static_cast<double>(gathered.latencies_us.size()) * one.design.adds;
  one.bytes_per_add = counted == 0 ? 0 : static_cast<double>(gathered.bytes) / counted;
  one.total_wrong_by = gathered.wrong_by;
  return one;
}

TrialResult Trial::result() {
  TrialResult result;
  result.rounds = rounds_;
  result.stopped = is_stopped();
  if (rounds_ > 0) {
    for (std::size_t i = 0; i < designs_.size(); ++i) result.designs.push_back(measured(i));
    for (auto& one : result.designs) {
      one.of_limit = ratio_of(one.adds_per_second, result.designs.front().adds_per_second);
    }
  }
  result.settings = settings_;
  return result;
}

/// What the server would refuse in the middle is refused before anything is created.
Result<void> check(engine::Engine& engine, const TrialOptions& options) {
  if (engine.traits().one_writer) {
    if (options.isolation.empty() || options.isolation == "serializable") return {};
    return fail(ErrorCode::not_on_this_engine,
                fmt::format("{} has one isolation level, serializable; leave --isolation out", engine.traits().name));
  }
  auto console = engine.console(deadline_in(connect_max));
  if (!console) return fail(std::move(console.error()));
  (*console)->set_deadline(deadline_in(connect_max));
  auto left = (*console)->ask(std::string(engine::statement(engine.dialect(), "trial_sessions_left")));
  if (!left) return fail(std::move(left.error()));
  constexpr std::int64_t beside = 3;  // who keeps the place, who reads totals, who folds; this one goes
  const auto most = std::stoll(left->front()[0].value_or("0")) - beside + 1;
  if (options.sessions <= most) return {};
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} sessions are more than this server has room for: {} can be opened now; give a smaller "
                          "--sessions, or raise max_connections or what limits this role or database",
                          options.sessions, std::max<std::int64_t>(most, 0)));
}

Result<TrialResult> run_rounds(Trial& trial, std::size_t designs, const TrialOptions& options,
                               const std::function<void(const TrialProgress&)>& tell,
                               const std::vector<Design>& all) {
  if (auto prepared = trial.prepare(); !prepared) return fail(std::move(prepared.error()));
  TrialProgress progress;
  progress.turns_total = options.rounds * static_cast<int>(designs);
  for (int round = 0; round < options.rounds && !trial.is_stopped(); ++round) {
    for (std::size_t design = 0; design < designs && !trial.is_stopped(); ++design) {
      progress.design = all[design].name;
      if (tell) tell(progress);
      if (auto done = trial.turn(design); !done) {
        if (trial.rounds() == 0) return fail(std::move(done.error()));
        auto result = trial.result();  // what is finished is kept
        result.fault = std::move(done.error());
        return result;
      }
      ++progress.turns_done;
    }
    if (!trial.is_stopped()) trial.round_is_done();
  }
  return trial.result();
}

}  // namespace

std::optional<std::string> wrong_total(const TrialResult& result) {
  for (const auto& one : result.designs) {
    if (!one.design.rule || one.total_wrong_by == 0) continue;
    return fmt::format("the total of {} was wrong by {}: somebody else wrote into the trial's tables, or it is a fault of "
                       "splitcount; please report it",
                       one.design.name, one.total_wrong_by);
  }
  return std::nullopt;
}

std::chrono::seconds estimate(const TrialOptions& options, std::size_t designs) {
  const double turn = std::chrono::duration<double>(options.turn).count() + overhead_seconds;
  return std::chrono::seconds(static_cast<std::int64_t>(turn * options.rounds * static_cast<double>(designs)) + 1);
}

Result<TrialResult> run_trial(const Target& target, const std::vector<Design>& designs, const TrialOptions& options,
                              const std::function<void(const TrialProgress&)>& tell) {
  auto& engine = target.engine();
  if (auto checked = check(engine, options); !checked) return fail(std::move(checked.error()));
  auto place = engine.sandbox(deadline_in(connect_max));
  if (!place) return fail(std::move(place.error()));
  Result<TrialResult> result;
  {
    Trial trial((*place)->engine(), designs, options);
    result = run_rounds(trial, designs.size(), options, tell, designs);
  }
  auto removed = (*place)->remove();
  if (!result) return result;
  result->place = (*place)->name();
  if (!removed && !result->fault) {
    result->fault = removed.error();
    result->fault->message = fmt::format("{} is left and the next trial removes it: {}", result->place, removed.error().message);
  }
  return result;
}

}  // namespace splitcount::measure
