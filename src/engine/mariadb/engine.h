// MariaDB: a server and many writers. What src/engine/open.cpp needs of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <engine/engine.h>

namespace splitcount::engine::mariadb {

[[nodiscard]] const rule::EngineTraits& traits() noexcept;

/// A database by what follows `mariadb:`, as //USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH. Nothing is touched yet.
/// Error: config_invalid.
[[nodiscard]] Result<std::shared_ptr<Engine>> open(std::string_view address);

/// See engine::borrow.
[[nodiscard]] Result<std::unique_ptr<Connection>> borrow(st_mysql* handle);

/// See engine::script.
[[nodiscard]] Result<std::string> script(std::string_view name, const Rule& rule, std::span<const std::string> keys);

}  // namespace splitcount::engine::mariadb
