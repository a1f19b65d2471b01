// A database of its own for a trial's tables.
#pragma once

#include <memory>
#include <string>

#include <engine/engine.h>

namespace splitcount::engine::mariadb {

/// The database's name.
[[nodiscard]] std::string sandbox_database();

/// `keeper` holds the lock that says that a trial is running. `engine`: of connections whose database is that one.
[[nodiscard]] Result<std::unique_ptr<Sandbox>> open_sandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine);

}  // namespace splitcount::engine::mariadb
