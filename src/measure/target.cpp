#include <measure/target.h>

#include <engine/engine.h>

namespace splitcount::measure {

Result<Target> Target::open(std::string_view dsn) {
  auto engine = engine::open(dsn);
  if (!engine) return fail(std::move(engine.error()));
  return Target(*std::move(engine));
}

const rule::EngineTraits& Target::traits() const noexcept { return engine_->traits(); }

std::string Target::dialect() const { return std::string(engine_->dialect()); }

}  // namespace splitcount::measure
