// A PostgreSQL database that is reached through a relay, and beside it.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include <contract/contract.h>
#include <contract/postgresql_server.h>
#include <faults/relay.h>

namespace splitcount::faults {

using Answers = std::vector<Result<Added>>;

[[nodiscard]] inline Deadline in(std::chrono::milliseconds wait) { return std::chrono::steady_clock::now() + wait; }

/// Submits, and gives the answers when they come.
[[nodiscard]] inline std::future<Answers> submit(Combiner& combiner, const Counter& counter, std::span<const Add> adds,
                                                 Deadline deadline = in(std::chrono::minutes(1))) {
  auto promise = std::make_shared<std::promise<Answers>>();
  auto answers = promise->get_future();
  const auto taken = combiner.submit(counter, adds, deadline, [promise](std::span<const Result<Added>> results) {
    promise->set_value({results.begin(), results.end()});
  });
  if (!taken) promise->set_value(Answers(adds.size(), Result<Added>(fail(taken.error()))));
  return answers;
}

/// A program that uses libpq and nothing of this library.
class Plain {
 public:
  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  explicit Plain(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    PQsetNoticeReceiver(
        connection_.get(), [](void*, const PGresult*) {}, nullptr);
  }

  [[nodiscard]] bool is_connected() const { return PQstatus(connection_.get()) == CONNECTION_OK; }
  [[nodiscard]] Caller caller() const { return Caller(connection_.get()); }
  /// The last statement's first value, or its tag where it has none; on an error the SQLSTATE, or "broken".
  std::string run(const std::string& sql) { return read(PQexec(connection_.get(), sql.c_str())); }
  /// The same as a statement with a parameter, in the extended protocol.
  std::string run(const std::string& sql, const std::string& parameter) {
    const char* value = parameter.c_str();
    return read(PQexecParams(connection_.get(), sql.c_str(), 1, nullptr, &value, nullptr, nullptr, 0));
  }

 private:
  static std::string read(PGresult* answer) {
    const std::unique_ptr<PGresult, Clear> result(answer);
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_TUPLES_OK) return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
    if (status == PGRES_COMMAND_OK) return PQcmdStatus(result.get());
    const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return state == nullptr ? "broken" : state;
  }
  std::unique_ptr<PGconn, Finish> connection_;
};

/// The same database by way of the relay, without encryption, so that it can be read there.
[[nodiscard]] inline std::string through(const std::string& conninfo, const Relay& relay) {
  // What comes later in a conninfo string counts.
  return conninfo + " host=127.0.0.1 sslmode=disable gssencmode=disable port=" + std::to_string(relay.port());
}

template <class Fixture>
class RelayedGround : public Fixture {
 protected:
  RelayedGround()
      : stand_(contract::make_postgresql_stand()),
        relay_(contract::PostgresqlServer::instance().socket(), watch_postgresql),
        beside_(Database::open(stand_->dsn()).value_or_throw()),
        through_(Database::open(dsn_through()).value_or_throw()) {}

  [[nodiscard]] std::string dsn_through() const { return through(stand_->dsn(), relay_); }
  [[nodiscard]] Plain plain_through() const { return Plain(dsn_through().substr(sizeof "postgresql:" - 1)); }
  [[nodiscard]] Plain plain_beside() const { return Plain(stand_->dsn().substr(sizeof "postgresql:" - 1)); }

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
  Relay relay_;
  Database beside_;
  Database through_;
};

}  // namespace splitcount::faults
