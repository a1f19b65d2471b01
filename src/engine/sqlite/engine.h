// SQLite: one file, one writer. What src/engine/open.cpp needs of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <engine/engine.h>

namespace splitcount::engine::sqlite {

[[nodiscard]] const rule::EngineTraits& traits() noexcept;

/// A database file by its path. Nothing is touched yet. Error: config_invalid for a path that can be no file.
[[nodiscard]] Result<std::shared_ptr<Engine>> open(std::string_view path);

/// See engine::borrow.
[[nodiscard]] Result<std::unique_ptr<Connection>> borrow(sqlite3* handle);

/// See engine::script.
[[nodiscard]] Result<std::string> script(std::string_view name, const Rule& rule, std::span<const std::string> keys);

}  // namespace splitcount::engine::sqlite
