// Plain SQL over a connection of its own.
#pragma once

#include <vector>

#include <engine/engine.h>
#include <engine/sqlite/busy.h>
#include <engine/sqlite/handle.h>

namespace splitcount::engine::sqlite {

class SqliteConsole final : public Console {
 public:
  /// With the settings of every connection of ours.
  [[nodiscard]] static Result<std::unique_ptr<SqliteConsole>> open(Handle handle, Deadline deadline);

  Result<std::vector<Row>> ask(const std::string& sql, std::span<const std::string> values = {}) override;
  Result<std::size_t> prepare(const std::string& sql, std::size_t parameters) override;
  Result<bool> run(std::size_t prepared, std::span<const std::int64_t> numbers) override;
  void set_deadline(Deadline deadline) noexcept override { busy_.set_deadline(deadline); }

 private:
  explicit SqliteConsole(Handle handle) : handle_(std::move(handle)) {}

  Handle handle_;
  BusyWait busy_;
  std::vector<std::vector<Statement>> prepared_;
};

}  // namespace splitcount::engine::sqlite
