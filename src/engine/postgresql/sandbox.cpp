#include <engine/postgresql/sandbox.h>

#include <utility>

#include <fmt/format.h>

#include <engine/kept_sandbox.h>
#include <engine/postgresql/counter_sql.h>

namespace splitcount::engine::postgresql {
namespace {

bool is_true(const std::optional<std::string>& cell) { return cell == "t"; }

}  // namespace

Result<std::unique_ptr<Sandbox>> open_sandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine) {
  auto looked = keeper->ask(std::string(statement(dialect, "sandbox_look")));
  if (!looked) return fail(std::move(looked.error()));
  const auto& found = looked->front();
  if (is_true(found[0])) {
    return fail(ErrorCode::read_only, "a trial writes, and this is a standby, or a session that may only read (default_transaction_read_only)");
  }
  if (!is_true(found[1])) {
    return fail(ErrorCode::permission_denied,
                fmt::format("a trial creates a schema of its own, and this role may not; right is GRANT CREATE ON DATABASE "
                            "{} TO {}",
                            *found[2], *found[3]));
  }
  if (!is_true(found[4])) {
    return fail(ErrorCode::name_clash,
                fmt::format("a schema {} is there that is none of ours; a trial needs that name", *found[5]));
  }
  auto unlimited = keeper->ask(std::string(statement(dialect, "sandbox_no_limits")));
  if (!unlimited) return fail(std::move(unlimited.error()));
  auto locked = keeper->ask(std::string(statement(dialect, "sandbox_lock")));
  if (!locked) return fail(std::move(locked.error()));
  if (!is_true(locked->front()[0])) {
    return fail(ErrorCode::database_busy, "another trial is running in this database; wait until it has ended");
  }
  auto made = keeper->ask(std::string(statement(dialect, "sandbox_create")));
  if (!made) return fail(std::move(made.error()));
  return std::make_unique<KeptSandbox>(std::move(keeper), std::move(engine),
                                       fmt::format("the schema {}", statement(dialect, "sandbox_schema")));
}

}  // namespace splitcount::engine::postgresql
