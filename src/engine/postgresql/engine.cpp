#include <engine/postgresql/engine.h>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/postgresql/connection.h>
#include <engine/postgresql/console.h>
#include <engine/postgresql/counter_sql.h>
#include <engine/postgresql/sandbox.h>

namespace splitcount::engine::postgresql {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, FreeOptions>;

std::string option(const Options& options, std::string_view keyword) {
  for (const auto* one = options.get(); one->keyword != nullptr; ++one) {
    if (keyword == one->keyword && one->val != nullptr) return one->val;
  }
  return {};
}

/// Without user and password, which need not be seen by everybody.
std::string name_of(const Options& options) {
  const std::string service = option(options, "service");
  std::string host = option(options, "host");
  if (host.empty()) host = option(options, "hostaddr");
  const std::string port = option(options, "port");
  const std::string database = option(options, "dbname");
  std::string name = "the PostgreSQL database";
  if (!database.empty()) name += " " + quoted(database);
  if (!host.empty()) name += " on " + quoted(host);
  if (!port.empty()) name += " port " + quoted(port);
  if (!service.empty()) name += " of the service " + quoted(service);
  return name;
}

class PostgresqlEngine final : public Engine {
 public:
  /// `enter`: what each connection sends first; empty: nothing.
  PostgresqlEngine(std::string conninfo, std::string name, std::string enter = {})
      : conninfo_(std::move(conninfo)), name_(std::move(name)), enter_(std::move(enter)) {}

  const rule::EngineTraits& traits() const noexcept override { return postgresql::traits(); }
  std::string_view dialect() const noexcept override { return postgresql::dialect; }
  std::string display_name() const override { return name_; }

  Result<std::unique_ptr<Connection>> connect(bool /*create*/, Deadline deadline) override {
    auto handle = open_handle(deadline);
    if (!handle) return fail(std::move(handle.error()));
    auto connection = std::make_unique<PostgresqlConnection>(std::move(*handle));
    connection->set_wait(deadline);
    return connection;
  }

  Result<std::unique_ptr<Console>> console(Deadline deadline) override {
    auto handle = open_handle(deadline);
    if (!handle) return fail(std::move(handle.error()));
    return std::make_unique<PostgresqlConsole>(std::move(*handle));
  }

  Result<std::unique_ptr<Sandbox>> sandbox(Deadline deadline) override {
    auto keeper = console(deadline);
    if (!keeper) return fail(std::move(keeper.error()));
    return open_sandbox(std::move(*keeper),
                        std::make_unique<PostgresqlEngine>(
                            conninfo_, name_,
                            fmt::format("{};\n{}", statement(postgresql::dialect, "sandbox_no_limits"),
                                        statement(postgresql::dialect, "sandbox_enter"))));
  }

 private:
  Result<Handle> open_handle(Deadline deadline) {
    auto handle = postgresql::connect(conninfo_, name_, deadline);
    if (!handle || enter_.empty()) return handle;
    if (auto entered = postgresql::run(handle->get(), enter_, deadline); !entered) return fail(std::move(entered.error()));
    return handle;
  }

  std::string conninfo_;
  std::string name_;
  std::string enter_;
};

Error unusable(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

}  // namespace

const rule::EngineTraits& traits() noexcept {
  static const rule::EngineTraits postgresql{.name = "PostgreSQL",
                                             .one_writer = false,
                                             .slots_default = 16,
                                             .padded = true,
                                             .journal = true,
                                             .rolled_up = false,
                                             .padded_refusal = {}};
  return postgresql;
}

Result<std::shared_ptr<Engine>> open(std::string_view conninfo) {
  // libpq's own words about a string that it cannot read repeat pieces of it, which may be a password.
  const Error unreadable = unusable(
      ErrorCode::config_invalid,
      "the database's address is none that PostgreSQL knows; right is postgresql://USER@HOST:PORT/DATABASE, "
      "postgresql:host=HOST dbname=DATABASE or postgresql:service=NAME, with spaces and other signs in a URI written "
      "as %20 and the like");
  if (conninfo.find('\0') != std::string_view::npos) return fail(unreadable);
  std::string text(conninfo);
  const Options options(PQconninfoParse(text.c_str(), nullptr));
  if (!options) return fail(unreadable);
  auto name = name_of(options);
  return std::make_shared<PostgresqlEngine>(std::move(text), std::move(name));
}

Result<std::unique_ptr<Connection>> borrow(pg_conn* handle) {
  if (handle == nullptr) return fail(ErrorCode::invalid_argument, "the borrowed PGconn handle is null");
  if (PQpipelineStatus(handle) != PQ_PIPELINE_OFF) {
    return fail(ErrorCode::invalid_argument, "the borrowed PGconn is in pipeline mode; leave that before the add");
  }
  switch (PQtransactionStatus(handle)) {
    case PQTRANS_INTRANS: break;
    case PQTRANS_IDLE:
      return fail(ErrorCode::no_transaction, "the borrowed PGconn has no open transaction; send BEGIN before the add");
    case PQTRANS_INERROR: {
      Error error = unusable(ErrorCode::transaction_failed,
                             "a statement in the borrowed PGconn's transaction has failed before; roll it back");
      error.transaction_dead = true;
      return fail(std::move(error));
    }
    case PQTRANS_ACTIVE:
      return fail(ErrorCode::invalid_argument,
                  "a statement is still running on the borrowed PGconn; read its results before the add");
    case PQTRANS_UNKNOWN: {
      Error error = unusable(ErrorCode::connection_lost, "the borrowed PGconn is not connected");
      mark_dead(error);
      return fail(std::move(error));
    }
  }
  if (const std::string encoding = pg_encoding_to_char(PQclientEncoding(handle)); encoding != "UTF8") {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the borrowed PGconn's client_encoding is {}, and keys are UTF-8; set it to UTF8",
                            quoted(encoding)));
  }
  return std::make_unique<PostgresqlConnection>(handle);
}

}  // namespace splitcount::engine::postgresql
