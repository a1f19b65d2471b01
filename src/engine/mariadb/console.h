// Plain SQL over a connection of its own. ?1, ?2 and so on stand for the values.
#pragma once

#include <string>
#include <vector>

#include <engine/engine.h>
#include <engine/mariadb/handle.h>

namespace splitcount::engine::mariadb {

class MariadbConsole final : public Console {
 public:
  /// Begins the session as those of our connections begin.
  [[nodiscard]] static Result<std::unique_ptr<MariadbConsole>> open(Handle handle, Deadline deadline);

  Result<std::vector<Row>> ask(const std::string& sql, std::span<const std::string> values = {}) override;
  /// Keeps the text: sent whole, several statements are one round trip, which prepared ones are not.
  Result<std::size_t> prepare(const std::string& sql, std::size_t parameters) override;
  Result<bool> run(std::size_t prepared, std::span<const std::int64_t> numbers) override;
  void set_deadline(Deadline deadline) noexcept override { deadline_ = deadline; }

 private:
  explicit MariadbConsole(Handle handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Answers send(std::string_view sql) const { return mariadb::run(handle_.get(), sql, deadline_, Whose::ours); }

  Handle handle_;
  Deadline deadline_ = Deadline::max();
  std::vector<std::string> texts_;
};

}  // namespace splitcount::engine::mariadb
