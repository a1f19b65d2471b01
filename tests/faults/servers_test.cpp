// A server that is killed with all its processes under load and recovers, and one that stands still in the middle of
// commits: what was acknowledged is there, what is unknown is settled by its id, and whoever runs goes on.
#include <atomic>
#include <random>

#include <contract/mariadb_server.h>
#include <contract/postgresql_server.h>
#include <faults/numbered.h>
#include <faults/relayed.h>
#include <faults/scale.h>

namespace splitcount::faults {
namespace {

using contract::done;
using std::chrono::milliseconds;

/// How adds were answered.
struct Told {
  std::atomic<std::int64_t> acked{0};
  std::atomic<std::int64_t> unknown{0};
  std::atomic<std::int64_t> failed{0};

  void hear(const Result<Added>& answer) {
    if (answer) {
      ++acked;
    } else {
      ++(answer.error().outcome_unknown ? unknown : failed);
    }
  }
  void expect_holds(std::int64_t total) const {
    EXPECT_GE(total, acked) << "acknowledged is committed";
    EXPECT_LE(total, acked + unknown) << failed << " were said to have failed and must not count";
  }
};

/// A server that syncs, and a database on it, for all tests of this program.
struct Syncing {
  contract::TestServer& server;
  Place place;
};

const Syncing& syncing_postgresql() {
  static contract::PostgresqlServer server(true);
  static const Syncing made{server, {Server::postgresql, server.socket(), "postgresql:" + server.conninfo("postgres")}};
  return made;
}

const Syncing& syncing_mariadb() {
  static contract::MariadbServer server(true);
  static const Syncing made = [] {
    Plain(server.dsn("mysql")).run("CREATE DATABASE faults");
    return Syncing{server, {Server::mariadb, server.socket(), server.dsn("faults")}};
  }();
  return made;
}

class FailingServer : public testing::TestWithParam<Server> {
 protected:
  static const Syncing& syncing() { return GetParam() == Server::mariadb ? syncing_mariadb() : syncing_postgresql(); }
  static contract::TestServer& server() { return syncing().server; }
  static const Place& place() { return syncing().place; }
  static std::string dsn_through(const Relay& relay) { return through(place(), relay); }

  FailingServer() : database_(Database::open(place().dsn).value_or_throw()) {}
  ~FailingServer() override {
    EXPECT_TRUE(done(database_.uninstall()));
    value("DROP TABLE IF EXISTS orders");
  }

  static std::string value(const std::string& sql) {
    Plain plain(place().dsn);
    EXPECT_TRUE(plain.is_connected());
    return plain.run(sql);
  }
  std::int64_t total(std::string_view name) {
    const auto read = database_.counter(name).value_or_throw().total();
    EXPECT_TRUE(done(read)) << name;
    return read ? read->total : -1;
  }

  Database database_;
};

/// Those who write while the server is killed: at each door, until they are told to stop.
class Load {
 public:
  Load(Database& database, std::string dsn)
      : dsn_(std::move(dsn)),
        with_ids_(
            database.define("with_ids", {.key = "page", .slots = 4, .retries = Retries{true, {}}}).value_or_throw()),
        plain_(database.define("plain", {.slots = 4}).value_or_throw()),
        callers_(database.define("callers", {.slots = 4}).value_or_throw()),
        combined_(database.define("combined", {.key = "page", .slots = 4}).value_or_throw()),
        streamed_(database.define("streamed", {.key = "page", .slots = 4}).value_or_throw()),
        combiner_(Combiner::open(database).value_or_throw()) {
    Plain(dsn_).run("CREATE TABLE orders (id bigint PRIMARY KEY)");
  }
  ~Load() { stop(); }  // also where the test ends early, so that it can say why
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  void start() {
    stop_ = false;
    const auto run = [this](void (Load::*work)()) {
      threads_.emplace_back([this, work] {
        while (!stop_) (this->*work)();
      });
    };
    for (const auto work : {&Load::add_with_id, &Load::add_with_id, &Load::add, &Load::add_as_caller,
                            &Load::add_as_caller, &Load::submit_some, &Load::apply_batch}) {
      run(work);
    }
  }
  void stop() {
    stop_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  /// At rest.
  void expect_exact(Database& database) {
    const auto total = [&](const char* name) {
      return database.counter(name).value_or_throw().total().value_or_throw().total;
    };
    std::int64_t of_ids = 0;
    for (std::int64_t number = 0; number < next_number_; ++number) of_ids += numbered_amount(number);
    EXPECT_EQ(total("with_ids"), of_ids) << "every id was answered, and counts once";
    told_plain.expect_holds(total("plain"));
    told_combined.expect_holds(total("combined"));
    told_streamed.expect_holds(total("streamed"));
    Plain plain(dsn_);
    const auto orders = std::stoll(plain.run("SELECT count(*) FROM orders"));
    EXPECT_EQ(total("callers"), orders) << "the row and its count are there together";
    told_callers.expect_holds(orders);
    EXPECT_EQ(plain.run("SELECT count(*) FROM with_ids_requests"), std::to_string(next_number_));
  }

  Told told_ids, told_plain, told_callers, told_combined, told_streamed;

 private:
  /// Until it is answered.
  void add_with_id() {
    const NumberedAdd numbered(next_number_++);
    for (auto added = with_ids_.add(numbered.add());; added = with_ids_.add(numbered.add())) {
      told_ids.hear(added);
      if (added) return;
    }
  }
  void add() { told_plain.hear(plain_.add(Add{})); }

  void add_as_caller() {
    thread_local std::unique_ptr<Plain> session;
    if (!session || !session->is_connected()) session = std::make_unique<Plain>(dsn_);
    const auto order = std::to_string(next_order_++);
    if (session->run("BEGIN") != "BEGIN") {
      ++told_callers.failed;
      return std::this_thread::sleep_for(milliseconds(50));
    }
    session->run("INSERT INTO orders VALUES (" + order + ")");
    const auto added = callers_.add(session->caller(), Add{});
    const auto ended = session->run(added ? "COMMIT" : "ROLLBACK");
    if (ended == "COMMIT") {
      ++told_callers.acked;
    } else {
      ++(added ? told_callers.unknown : told_callers.failed);
    }
  }

  void submit_some() {
    const std::vector<Add> adds(20, Add{.key = "k"});
    for (const auto& answer : submit(combiner_, combined_, adds).get()) told_combined.hear(answer);
  }
  /// A stream cannot go on before it knows.
  void apply_batch() {
    const std::vector<Add> adds{{.key = "k"}};
    const auto applied =
        combiner_.apply(streamed_, {"file", position_, position_ + 1, "", adds}, in(std::chrono::minutes(1)));
    ASSERT_TRUE(done(applied));
    ++position_;
    ++told_streamed.acked;
  }

  const std::string dsn_;
  Counter with_ids_, plain_, callers_, combined_, streamed_;
  Combiner combiner_;
  std::atomic<std::int64_t> next_number_{0};
  std::atomic<std::int64_t> next_order_{0};
  std::int64_t position_ = 0;
  std::atomic<bool> stop_{false};
  std::vector<std::jthread> threads_;
};

class KilledServer : public FailingServer {};
SPLITCOUNT_ON_EVERY_SERVER(KilledServer);

TEST_P(KilledServer, RecoversWhatWasAcknowledgedAndWhoeverRunsGoesOn) {
  std::mt19937_64 random(seed());
  const int kills = scale(3, GetParam() == Server::mariadb ? 40 : 30, 100);
  Load load(database_, place().dsn);
  auto started = server().process();
  for (int kill = 0; kill < kills && !HasFailure(); ++kill) {
    const auto acked = load.told_ids.acked.load();
    load.start();
    while (load.told_ids.acked == acked) std::this_thread::sleep_for(milliseconds(1));
    std::this_thread::sleep_for(milliseconds(random_between(random, 0, 150)));
    server().kill();
    server().start();
    load.stop();
    const auto now = server().process();
    EXPECT_NE(now, started) << "it is another server process";
    started = now;
    load.expect_exact(database_);
  }
  EXPECT_GT(load.told_callers.failed + load.told_callers.unknown, kills / 2) << "they met the kills";
  EXPECT_GT(load.told_callers.acked, kills);
  EXPECT_GT(load.told_combined.acked, kills);
  EXPECT_EQ(load.told_combined.failed, 0) << "a combiner waits for a server that comes back";
  std::cout << "acknowledged / unknown / failed: ids " << load.told_ids.acked << "/" << load.told_ids.unknown << "/"
            << load.told_ids.failed << ", plain " << load.told_plain.acked << "/" << load.told_plain.unknown << "/"
            << load.told_plain.failed << ", callers " << load.told_callers.acked << "/" << load.told_callers.unknown
            << "/" << load.told_callers.failed << ", combined " << load.told_combined.acked << "/"
            << load.told_combined.unknown << ", streamed " << load.told_streamed.acked << "\n";
}

/// A commit that the server never gets, and one that took effect, with the server killed before anybody hears of it.
TEST_P(KilledServer, AtTheCommitOfAGroupSettlesItWhenItIsBack) {
  const auto relay_holder = make_relay(place());
  Relay& relay = *relay_holder;
  auto database = Database::open(dsn_through(relay)).value_or_throw();
  auto prizes = database.define("prizes_won", {.slots = 16}).value_or_throw();
  auto views = database.define("page_views", {.key = "page", .retries = Retries{true, {}}}).value_or_throw();
  auto tickets = database.define("tickets", {.slots = 11, .pick = Pick::value}).value_or_throw();
  auto combiner = Combiner::open(database).value_or_throw();
  std::vector<std::string> ids;
  for (int i = 0; i < 33; ++i) ids.push_back(std::to_string(i));
  std::vector<Add> of_views;
  std::vector<Add> of_tickets;
  for (const auto& id : ids) of_views.push_back({.key = "/home", .request_id = id});
  for (int i = 0; i < 33; ++i) of_tickets.push_back({.value = i});
  int expected = 0;
  for (const auto action : {Action::cut_before, Action::cut_after}) {
    relay.plan({.action = action});
    const auto fired = relay.fired();
    std::vector<std::future<Answers>> waiting;
    waiting.push_back(submit(combiner, prizes, std::vector<Add>(34)));
    waiting.push_back(submit(combiner, views, of_views));
    waiting.push_back(submit(combiner, tickets, of_tickets));
    while (relay.fired() == fired) std::this_thread::yield();
    server().kill();
    server().start();
    for (auto& answers : waiting) {
      for (const auto& answer : answers.get()) EXPECT_TRUE(done(answer));
    }
    ++expected;
    EXPECT_EQ(total("prizes_won"), 34 * expected);
    EXPECT_EQ(total("page_views"), 33) << "the second time they are replays";
    EXPECT_EQ(total("tickets"), 33 * expected);
  }
}

/// Goes on at the end of its life, however that comes.
class Frozen {
 public:
  explicit Frozen(contract::TestServer& server) : server_(server) { server_.freeze(); }
  ~Frozen() { server_.go_on(); }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;

 private:
  contract::TestServer& server_;
};

class StandingServer : public FailingServer {
 protected:
  StandingServer() : relay_holder_(make_relay(place())), relay_(*relay_holder_) {}
  Database open_through() { return Database::open(dsn_through(relay_)).value_or_throw(); }
  static constexpr milliseconds machine_ms_max{2'000};  // for what a busy machine adds to a deadline
  std::unique_ptr<Relay> relay_holder_;
  Relay& relay_;
};
SPLITCOUNT_ON_EVERY_SERVER(StandingServer);

TEST_P(StandingServer, InMidCommitLeavesNobodyWithoutATrueWordAndWhoeverRunsGoesOn) {
  const auto away = std::chrono::seconds(scale(2, 7, 30));
  auto database = open_through();
  auto plain = database.define("plain", {.slots = 4}).value_or_throw();
  auto with_ids = database.define("with_ids", {.slots = 4, .retries = Retries{true, {}}}).value_or_throw();
  auto combined = database.define("combined", {.slots = 4}).value_or_throw();
  auto streamed = database.define("streamed", {.slots = 4}).value_or_throw();
  auto combiner = Combiner::open(database).value_or_throw();
  ASSERT_TRUE(done(plain.add(Add{})));
  ASSERT_TRUE(done(submit(combiner, combined, std::vector<Add>(1)).get().front()));

  Told told_plain, told_ids, told_combined, told_streamed;
  told_plain.acked = told_combined.acked = 1;
  const auto within = [](std::chrono::seconds limit, const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    EXPECT_LT(std::chrono::steady_clock::now() - start, limit + machine_ms_max) << "heard by the deadline";
  };
  // Four commits reach a server that stands still; then come those who only find it so.
  relay_.plan({.action = Action::hold_before, .times = 4, .delay = milliseconds(500)});
  const std::vector<Add> adds(10);
  std::vector<std::jthread> threads;
  threads.emplace_back([&] { within(std::chrono::seconds(5), [&] { told_plain.hear(plain.add(Add{})); }); });
  threads.emplace_back(
      [&] { within(std::chrono::seconds(8), [&] { told_ids.hear(with_ids.add({.request_id = "mid"})); }); });
  threads.emplace_back([&] {
    within(std::chrono::seconds(1), [&] {
      for (const auto& answer : submit(combiner, combined, adds, in(std::chrono::seconds(1))).get()) {
        told_combined.hear(answer);
      }
    });
  });
  threads.emplace_back([&] {
    within(std::chrono::seconds(3), [&] {
      const auto applied = combiner.apply(streamed, {"s", 0, 1, "", adds}, in(std::chrono::seconds(3)));
      for (std::size_t i = 0; i < adds.size(); ++i) {
        told_streamed.hear(applied ? Result<Added>(Added{}) : Result<Added>(fail(applied.error())));
      }
    });
  });
  while (relay_.fired() < 4) std::this_thread::sleep_for(milliseconds(1));
  {
    const Frozen frozen(server());
    const auto until = in(away);
    threads.emplace_back([&] { within(std::chrono::seconds(5), [&] { told_plain.hear(plain.add(Add{})); }); });
    threads.emplace_back([&] {
      within(std::chrono::seconds(1), [&] {
        for (const auto& answer : submit(combiner, combined, adds, in(std::chrono::seconds(1))).get()) {
          told_combined.hear(answer);
        }
      });
    });
    std::this_thread::sleep_until(until);
  }
  for (auto& thread : threads) thread.join();
  // By itself, with the connections that it has.
  EXPECT_TRUE(done(submit(combiner, combined, adds, in(std::chrono::seconds(30))).get().front()));
  told_combined.acked += 10;
  EXPECT_TRUE(done(plain.add(Add{})));
  ++told_plain.acked;
  EXPECT_TRUE(done(with_ids.add({.request_id = "mid"})));
  EXPECT_TRUE(done(combiner.apply(streamed, {"s", 0, 1, "", adds}, in(std::chrono::seconds(30)))));
  EXPECT_EQ(total("with_ids"), 1);
  EXPECT_EQ(total("streamed"), 10) << "the same batch again settles it";
  told_plain.expect_holds(total("plain"));
  told_combined.expect_holds(total("combined"));
  EXPECT_EQ(relay_.fired(), 4);
  if (away > std::chrono::seconds(5)) {
    EXPECT_GE(told_plain.unknown, 1) << "its commit was on its way";
    EXPECT_GE(told_combined.unknown, 10);
  }
}

TEST_P(StandingServer, TakesNoStatementOfAnySizeAndNobodyWaitsBeyondTheDeadline) {
  auto counter = database_.define("page_views", {.key = "page"}).value_or_throw();
  ASSERT_TRUE(done(counter.add({.key = "k"})));
  std::vector<std::string> keys;
  for (int i = 0; i < 20'000; ++i) keys.push_back(std::to_string(i) + std::string(700, 'k'));
  std::vector<Add> adds;
  for (const auto& key : keys) adds.push_back({.key = key});
  relay_.plan({.action = Action::hold_before, .statement = GetParam() == Server::mariadb ? "START TRANSACTION" : "BEGIN", .delay = milliseconds(500)});
  auto database = open_through();
  auto far = database.counter("page_views").value_or_throw();
  std::jthread sender([&] {
    const auto start = std::chrono::steady_clock::now();
    const auto added = far.add(adds);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5) + machine_ms_max);
    ASSERT_FALSE(added.has_value());
    EXPECT_FALSE(added.error().outcome_unknown) << "no commit was sent";
  });
  while (relay_.fired() < 1) std::this_thread::sleep_for(milliseconds(1));
  {
    const Frozen frozen(server());
    sender.join();
  }
  EXPECT_EQ(total("page_views"), 1);
  EXPECT_TRUE(done(counter.add({.key = "k"})));
}

}  // namespace
}  // namespace splitcount::faults
