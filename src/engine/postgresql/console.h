// Plain SQL over a connection of its own, with statements that stay prepared under a name: so a pooler in transaction mode
// must not stand between, as it may elsewhere.
#pragma once

#include <engine/engine.h>
#include <engine/postgresql/handle.h>

namespace splitcount::engine::postgresql {

class PostgresqlConsole final : public Console {
 public:
  explicit PostgresqlConsole(Handle handle) : handle_(std::move(handle)) {}

  Result<std::vector<Row>> ask(const std::string& sql, std::span<const std::string> values = {}) override;
  Result<std::size_t> prepare(const std::string& sql, std::size_t parameters) override;
  Result<bool> run(std::size_t prepared, std::span<const std::int64_t> numbers) override;
  void set_deadline(Deadline deadline) noexcept override { deadline_ = deadline; }

 private:
  void end_transaction() noexcept;

  Handle handle_;
  Deadline deadline_ = Deadline::max();
  std::size_t prepared_ = 0;
};

}  // namespace splitcount::engine::postgresql
