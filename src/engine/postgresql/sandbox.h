// A schema of its own for a trial's tables.
#pragma once

#include <memory>

#include <engine/engine.h>

namespace splitcount::engine::postgresql {

/// `keeper` holds the lock that says that a trial is running. `engine`: of connections whose search_path is the schema.
[[nodiscard]] Result<std::unique_ptr<Sandbox>> open_sandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine);

}  // namespace splitcount::engine::postgresql
