#include <engine/mariadb/engine.h>

#include <engine/mariadb/address.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/console.h>
#include <engine/mariadb/counter_sql.h>
#include <engine/mariadb/errors.h>
#include <engine/mariadb/sandbox.h>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::mariadb {
namespace {

class MariadbEngine final : public Engine {
 public:
  /// `enter`: what each connection sends first; empty: nothing.
  explicit MariadbEngine(Address address, std::string enter = {})
      : address_(std::move(address)), name_(mariadb::display_name(address_)), enter_(std::move(enter)) {}

  const rule::EngineTraits& traits() const noexcept override { return mariadb::traits(); }
  std::string_view dialect() const noexcept override { return mariadb::dialect; }
  std::string display_name() const override { return name_; }

  Result<std::unique_ptr<Connection>> connect(bool /*create*/, Deadline deadline) override {
    auto handle = open_handle(deadline);
    if (!handle) return fail(std::move(handle.error()));
    auto connection = std::make_unique<MariadbConnection>(std::move(*handle));
    if (auto ready = connection->set_up(deadline); !ready) return fail(std::move(ready.error()));
    return connection;
  }

  Result<std::unique_ptr<Console>> console(Deadline deadline) override {
    auto handle = open_handle(deadline);
    if (!handle) return fail(std::move(handle.error()));
    return MariadbConsole::open(std::move(*handle), deadline);
  }

  Result<std::unique_ptr<Sandbox>> sandbox(Deadline deadline) override {
    auto keeper = console(deadline);
    if (!keeper) return fail(std::move(keeper.error()));
    Address place = address_;
    place.database = sandbox_database();
    return open_sandbox(std::move(*keeper),
                        std::make_unique<MariadbEngine>(
                            std::move(place), std::string(statement(mariadb::dialect, "sandbox_no_limits"))));
  }

 private:
  Result<Handle> open_handle(Deadline deadline) {
    auto handle = mariadb::connect(address_, name_, deadline);
    if (!handle || enter_.empty()) return handle;
    auto entered = mariadb::run(handle->get(), enter_, deadline, Whose::ours);
    if (entered.error) return fail(std::move(*entered.error));
    return handle;
  }

  Address address_;
  std::string name_;
  std::string enter_;
};

}  // namespace

const rule::EngineTraits& traits() noexcept {
  static const rule::EngineTraits mariadb{.name = "MariaDB",
                                          .one_writer = false,
                                          .slots_default = 16,
                                          .padded = false,
                                          .journal = true,
                                          .rolled_up = false,
                                          .padded_refusal = "InnoDB keeps at least two rows on a page"};
  return mariadb;
}

Result<std::shared_ptr<Engine>> open(std::string_view address) {
  auto parsed = parse_address(address);
  if (!parsed) return fail(std::move(parsed.error()));
  return std::make_shared<MariadbEngine>(std::move(*parsed));
}

Result<std::unique_ptr<Connection>> borrow(st_mysql* handle) {
  if (handle == nullptr) return fail(ErrorCode::invalid_argument, "the borrowed MYSQL handle is null");
  if (handle->status != MYSQL_STATUS_READY || mysql_more_results(handle) != 0) {
    return fail(ErrorCode::invalid_argument,
                "a statement is still running on the borrowed MYSQL; read its results before the add");
  }
  if (mysql_get_socket(handle) < 0) {
    Error error = lost_connection("the borrowed MYSQL is not connected");
    return fail(std::move(error));
  }
  unsigned status = 0;
  mariadb_get_infov(handle, MARIADB_CONNECTION_SERVER_STATUS, &status);
  const bool begins_by_itself = (status & SERVER_STATUS_AUTOCOMMIT) == 0;
  if ((status & SERVER_STATUS_IN_TRANS) == 0 && !begins_by_itself) {
    return fail(ErrorCode::no_transaction,
                "the borrowed MYSQL has no open transaction; send START TRANSACTION before the add");
  }
  return std::make_unique<MariadbConnection>(handle);
}

}  // namespace splitcount::engine::mariadb
