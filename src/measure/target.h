// The database that is looked at.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <splitcount/error.h>

#include <rule/rule.h>

namespace splitcount::engine {
class Engine;
}

namespace splitcount::measure {

class Target {
 public:
  /// By its DSN. Nothing is touched yet. Error: config_invalid.
  [[nodiscard]] static Result<Target> open(std::string_view dsn);

  [[nodiscard]] engine::Engine& engine() const noexcept { return *engine_; }
  [[nodiscard]] const rule::EngineTraits& traits() const noexcept;
  /// As in sql/<dialect>: "sqlite", "postgresql", "mariadb".
  [[nodiscard]] std::string dialect() const;

 private:
  explicit Target(std::shared_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
  std::shared_ptr<engine::Engine> engine_;
};

}  // namespace splitcount::measure
