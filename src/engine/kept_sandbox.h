// The place of a trial on a server: one connection keeps it, which is the one that others see by its lock.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <engine/engine.h>

namespace splitcount::engine {

class KeptSandbox final : public Sandbox {
 public:
  /// `keeper` holds the lock that says that a trial is running. `engine`: of connections that are in the place, which
  /// `name` names. The dialect's statement sandbox_drop removes it.
  KeptSandbox(std::unique_ptr<Console> keeper, std::unique_ptr<Engine> engine, std::string name)
      : keeper_(std::move(keeper)), engine_(std::move(engine)), name_(std::move(name)) {}

  Engine& engine() noexcept override { return *engine_; }
  std::string name() const override { return name_; }
  Result<void> remove() override;

 private:
  std::unique_ptr<Console> keeper_;
  std::unique_ptr<Engine> engine_;
  std::string name_;
};

}  // namespace splitcount::engine
