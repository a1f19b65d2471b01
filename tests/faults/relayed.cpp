#include <faults/relayed.h>

#include <contract/mariadb_server.h>
#include <contract/postgresql_server.h>

namespace splitcount::faults {
namespace {

constexpr std::string_view mariadb_scheme = "mariadb://";
constexpr std::string_view root_of_mariadb = "mariadb://root@";
constexpr std::string_view postgresql_scheme = "postgresql:";

struct FreeResult {
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(MYSQL_RES* result) const { mysql_free_result(result); }
};

/// Of the addresses that the tests' servers have: mariadb://USER@/DATABASE?socket=PATH or
/// mariadb://USER@HOST:PORT/DATABASE.
MYSQL* connected_to_mariadb(const std::string& dsn) {
  const auto slash = dsn.find('/', mariadb_scheme.size());
  const auto at = dsn.find('@');
  const std::string user = dsn.substr(mariadb_scheme.size(), at - mariadb_scheme.size());
  const auto question = dsn.find("?socket=");
  const std::string database = dsn.substr(slash + 1, question == std::string::npos ? question : question - slash - 1);
  MYSQL* handle = mysql_init(nullptr);
  mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (question != std::string::npos) {
    const auto socket = dsn.substr(question + std::string_view("?socket=").size());
    mysql_real_connect(handle, nullptr, user.c_str(), nullptr, database.c_str(), 0, socket.c_str(), CLIENT_MULTI_STATEMENTS);
  } else {
    const auto colon = dsn.find(':', at);
    const auto host = dsn.substr(at + 1, colon - at - 1);
    const auto port = static_cast<unsigned>(std::stoul(dsn.substr(colon + 1)));
    mysql_real_connect(handle, host.c_str(), user.c_str(), nullptr, database.c_str(), port, nullptr, CLIENT_MULTI_STATEMENTS);
  }
  return handle;
}

bool is_broken(unsigned number) { return number == 2006 || number == 2013 || number == 2055; }

std::string read(PGresult* answer) {
  const std::unique_ptr<PGresult, FreeResult> result(answer);
  const auto status = PQresultStatus(result.get());
  if (status == PGRES_TUPLES_OK) return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  if (status == PGRES_COMMAND_OK) return PQcmdStatus(result.get());
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "broken" : state;
}

}  // namespace

std::future<Answers> submit(Combiner& combiner, const Counter& counter, std::span<const Add> adds, Deadline deadline) {
  auto promise = std::make_shared<std::promise<Answers>>();
  auto answers = promise->get_future();
  const auto taken = combiner.submit(counter, adds, deadline, [promise](std::span<const Result<Added>> results) {
    promise->set_value({results.begin(), results.end()});
  });
  if (!taken) promise->set_value(Answers(adds.size(), Result<Added>(fail(taken.error()))));
  return answers;
}

std::unique_ptr<contract::Stand> make_stand(Server server) {
  return server == Server::mariadb ? contract::make_mariadb_stand() : contract::make_postgresql_stand();
}

Place place_of(Server server, const contract::Stand& stand) {
  return {server,
          server == Server::mariadb ? contract::MariadbServer::instance().socket()
                                    : contract::PostgresqlServer::instance().socket(),
          stand.dsn()};
}

std::unique_ptr<Relay> make_relay(const Place& place) {
  return std::make_unique<Relay>(place.socket, place.kind == Server::mariadb ? watch_mariadb : watch_postgresql);
}

std::string through(const Place& place, const Relay& relay) {
  const auto port = std::to_string(relay.port());
  if (place.kind == Server::mariadb) {
    const auto slash = place.dsn.find('/', mariadb_scheme.size());
    return std::string(root_of_mariadb) + "127.0.0.1:" + port + place.dsn.substr(slash, place.dsn.find('?') - slash);
  }
  // What comes later in a conninfo string counts.
  return place.dsn + " host=127.0.0.1 sslmode=disable gssencmode=disable port=" + port;
}

Plain::Plain(const std::string& dsn) {
  if (dsn.starts_with(mariadb_scheme)) {
    connection_ = OfMariadb(connected_to_mariadb(dsn));
    return;
  }
  OfPostgresql connection(PQconnectdb(dsn.c_str() + postgresql_scheme.size()));
  PQsetNoticeReceiver(
      connection.get(), [](void*, const PGresult*) {}, nullptr);
  connection_ = std::move(connection);
}

bool Plain::is_connected() const {
  if (const auto* of = std::get_if<OfPostgresql>(&connection_)) return PQstatus(of->get()) == CONNECTION_OK;
  auto* handle = std::get<OfMariadb>(connection_).get();
  return mysql_thread_id(handle) != 0 && !is_broken(mysql_errno(handle)) &&
         mysql_get_socket(handle) != MARIADB_INVALID_SOCKET;
}

Caller Plain::caller() const {
  return std::visit([](const auto& connection) { return Caller(connection.get()); }, connection_);
}

std::string Plain::run(const std::string& sql) {
  if (const auto* of = std::get_if<OfPostgresql>(&connection_)) return read(PQexec(of->get(), sql.c_str()));
  return run(std::get<OfMariadb>(connection_).get(), sql);
}

std::string Plain::run(const std::string& sql, const std::string& parameter) {
  const char* value = parameter.c_str();
  return read(PQexecParams(std::get<OfPostgresql>(connection_).get(), sql.c_str(), 1, nullptr, &value, nullptr, nullptr, 0));
}

std::string Plain::run(MYSQL* connection, const std::string& sql) {
  std::string said = sql.substr(0, sql.find_first_of(" ;"));
  int failed = mysql_real_query(connection, sql.data(), sql.size());
  while (failed == 0) {
    const std::unique_ptr<MYSQL_RES, FreeResult> result(mysql_store_result(connection));
    if (result != nullptr) {
      MYSQL_ROW row = mysql_fetch_row(result.get());
      said = row == nullptr ? "" : row[0] == nullptr ? "NULL" : row[0];
    }
    failed = mysql_next_result(connection);
  }
  const auto number = mysql_errno(connection);
  if (number == 0) return said;
  return is_broken(number) ? "broken" : std::to_string(number);
}

}  // namespace splitcount::faults
