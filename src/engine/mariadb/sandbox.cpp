#include <engine/mariadb/sandbox.h>

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include <base/clock.h>
#include <engine/kept_sandbox.h>
#include <engine/mariadb/counter_sql.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr std::chrono::seconds answer_max{30};  // of each statement here, whose own waits are shorter

std::string sandbox_sql(std::string_view name) { return std::string(statement(dialect, name)); }

/// MariaDB tells whether it may only when it is tried, and nothing is made where it may not.
Error explained(Error error, const std::string& account) {
  if (error.code == ErrorCode::read_only) {
    error.message = "a trial writes, and this server, or this session, only reads (read_only, transaction_read_only)";
  } else if (error.code == ErrorCode::permission_denied) {
    error.message = fmt::format("a trial creates and drops a database of its own, and this account may not; right is GRANT ALL "
                                "PRIVILEGES ON `splitcount\\_trial`.* TO {}",
                                account);
  }
  return error;
}

}  // namespace

std::string sandbox_database() { return std::string(statement(dialect, "sandbox_database")); }

Result<std::unique_ptr<Sandbox>> open_sandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine) {
  keeper->set_deadline(deadline_in(answer_max));
  auto unlimited = keeper->ask(sandbox_sql("sandbox_no_limits"));
  if (!unlimited) return fail(std::move(unlimited.error()));
  auto locked = keeper->ask(sandbox_sql("sandbox_lock"));
  if (!locked) return fail(std::move(locked.error()));
  if (locked->front()[0] != "1") {
    return fail(ErrorCode::database_busy, "another trial is running on this server; wait until it has ended");
  }
  auto looked = keeper->ask(sandbox_sql("sandbox_look"));
  if (!looked) return fail(std::move(looked.error()));
  const auto& found = looked->front();
  if (found[0] != "0") {
    return fail(ErrorCode::name_clash,
                fmt::format("a database {} is there that is none of ours; a trial needs that name", sandbox_database()));
  }
  for (const auto* step : {"sandbox_drop", "sandbox_create"}) {
    if (auto done = keeper->ask(sandbox_sql(step)); !done) return fail(explained(std::move(done.error()), found[1].value_or("")));
  }
  return std::make_unique<KeptSandbox>(std::move(keeper), std::move(engine), fmt::format("the database {}", sandbox_database()));
}

}  // namespace splitcount::engine::mariadb
