// A schema of its own for a trial's tables.
#pragma once

#include <memory>
#include <string>

#include <engine/engine.h>
#include <engine/postgresql/console.h>

namespace splitcount::engine::postgresql {

class PostgresqlSandbox final : public Sandbox {
 public:
  /// `keeper` holds the lock that says that a trial is running. `engine`: of connections whose search_path is the schema.
  [[nodiscard]] static Result<std::unique_ptr<Sandbox>> open(std::unique_ptr<Console> keeper,
                                                             std::unique_ptr<Engine> engine);

  Engine& engine() noexcept override { return *engine_; }
  std::string name() const override;
  Result<void> remove() override;

 private:
  PostgresqlSandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine)
      : keeper_(std::move(keeper)), engine_(std::move(engine)) {}

  std::unique_ptr<Console> keeper_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace splitcount::engine::postgresql
