// A server's database that is reached through a relay, and beside it.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <libpq-fe.h>
#include <mysql.h>

#include <contract/contract.h>
#include <contract/test_server.h>
#include <faults/relay.h>

namespace splitcount::faults {

using Answers = std::vector<Result<Added>>;

[[nodiscard]] inline Deadline in(std::chrono::milliseconds wait) { return std::chrono::steady_clock::now() + wait; }

/// Submits, and gives the answers when they come.
[[nodiscard]] std::future<Answers> submit(Combiner& combiner, const Counter& counter, std::span<const Add> adds,
                                          Deadline deadline = in(std::chrono::minutes(1)));

/// The servers that the relay stands before.
enum class Server { postgresql, mariadb };
[[nodiscard]] inline const char* name_of(Server server) { return server == Server::mariadb ? "mariadb" : "postgresql"; }

/// A server of the tests' own, and how it is reached.
struct Place {
  Server kind;
  std::string socket;
  std::string dsn;
};
[[nodiscard]] std::unique_ptr<contract::Stand> make_stand(Server server);
[[nodiscard]] Place place_of(Server server, const contract::Stand& stand);
[[nodiscard]] std::unique_ptr<Relay> make_relay(const Place& place);
/// The same database by way of the relay, without encryption, so that it can be read there.
[[nodiscard]] std::string through(const Place& place, const Relay& relay);

/// A program that uses libpq or libmariadb and nothing of this library.
class Plain {
 public:
  explicit Plain(const std::string& dsn);

  [[nodiscard]] bool is_connected() const;
  [[nodiscard]] Caller caller() const;
  /// The last statement's first value, or where it has none its tag, on MariaDB the word that it begins with; on an error
  /// the SQLSTATE, on MariaDB the number, or "broken".
  std::string run(const std::string& sql);
  /// The same as a statement with a parameter, in PostgreSQL's extended protocol.
  std::string run(const std::string& sql, const std::string& parameter);

 private:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(MYSQL* connection) const { mysql_close(connection); }
  };
  using OfPostgresql = std::unique_ptr<PGconn, Finish>;
  using OfMariadb = std::unique_ptr<MYSQL, Finish>;
  static std::string run(MYSQL* connection, const std::string& sql);

  std::variant<OfPostgresql, OfMariadb> connection_;
};

template <class Fixture>
class RelayedGround : public Fixture {
 protected:
  explicit RelayedGround(Server server = Server::postgresql)
      : stand_(make_stand(server)),
        place_(place_of(server, *stand_)),
        relay_holder_(make_relay(place_)),
        relay_(*relay_holder_),
        beside_(Database::open(place_.dsn).value_or_throw()),
        through_(Database::open(dsn_through()).value_or_throw()) {}

  [[nodiscard]] std::string dsn_through() const { return through(place_, relay_); }
  [[nodiscard]] Plain plain_through() const { return Plain(dsn_through()); }
  [[nodiscard]] Plain plain_beside() const { return Plain(place_.dsn); }

  /// Defined beside the relay; what comes back goes through it.
  Counter make(std::string_view name, const RuleOptions& options, const std::vector<std::string>& keys = {}) {
    beside_.define(name, options, keys).value_or_throw();
    return through_.counter(name).value_or_throw();
  }
  /// Read beside the relay.
  std::int64_t total(std::string_view name, std::string_view key = {}) {
    const auto read = beside_.counter(name).value_or_throw().total(key);
    EXPECT_TRUE(contract::done(read)) << name;
    return read ? read->total : -1;
  }
  std::string value(const std::string& sql) {
    auto beside = plain_beside();
    return beside.run(sql);
  }

  std::unique_ptr<contract::Stand> stand_;
  Place place_;
  std::unique_ptr<Relay> relay_holder_;
  Relay& relay_;
  Database beside_;
  Database through_;
};

using ServerAndAction = std::tuple<Server, Action>;

/// On each server, cut before and after.
class RelayedCuts : public RelayedGround<testing::TestWithParam<ServerAndAction>> {
 protected:
  RelayedCuts() : RelayedGround(std::get<Server>(GetParam())) {}
  [[nodiscard]] static Action action() { return std::get<Action>(GetParam()); }
};
#define SPLITCOUNT_CUT_ON_EVERY_SERVER(fixture)                                                                   \
  INSTANTIATE_TEST_SUITE_P(Cut, fixture,                                                                          \
                           testing::Combine(testing::Values(Server::postgresql, Server::mariadb),                 \
                                            testing::Values(Action::cut_before, Action::cut_after)),              \
                           [](const auto& tested) {                                                               \
                             const bool before = std::get<Action>(tested.param) == Action::cut_before;            \
                             return std::string(name_of(std::get<Server>(tested.param))) + (before ? "_before" : "_after"); \
                           })
#define SPLITCOUNT_ON_EVERY_SERVER(fixture)                                                         \
  INSTANTIATE_TEST_SUITE_P(On, fixture, testing::Values(Server::postgresql, Server::mariadb), \
                           [](const auto& tested) { return std::string(name_of(tested.param)); })

}  // namespace splitcount::faults
