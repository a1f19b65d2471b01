#include <engine/kept_sandbox.h>

#include <chrono>

#include <base/clock.h>
#include <engine/statements.h>

namespace splitcount::engine {
namespace {

constexpr std::chrono::seconds answer_max{60};  // beyond what the statement itself waits for

}  // namespace

Result<void> KeptSandbox::remove() {
  keeper_->set_deadline(deadline_in(answer_max));
  auto removed = keeper_->ask(std::string(statement(engine_->dialect(), "sandbox_drop")));
  if (!removed) return fail(std::move(removed.error()));
  return {};
}

}  // namespace splitcount::engine
