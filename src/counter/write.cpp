#include <counter/write.h>

#include <algorithm>
#include <optional>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/random.h>
#include <rule/key.h>
#include <rule/pick.h>

namespace splitcount::counter {

namespace {

/// Adds made ready by one rule. Without refusals, adds[i] belongs to the caller's add i; else to add index[i].
struct Ready {
  std::vector<engine::ReadyAdd> adds;
  std::vector<std::size_t> index;
  std::vector<std::optional<Error>> refused;  ///< empty, or one entry for each of the caller's adds
  bool may_be_stale = false;                  ///< a refusal that depends on the rule
};

Result<engine::ReadyAdd> make_ready(const engine::StoredCounter& stored, const rule::EngineTraits& traits,
                                    const Add& add, bool is_checked, std::uint64_t drawn) {
  if (!is_checked) {
    if (auto right = rule::check_add(stored.name, stored.rule, add); !right) return fail(std::move(right.error()));
  }
  auto slot = rule::pick_slot(stored.rule, traits, add, drawn);
  if (!slot) return fail(std::move(slot.error()));
  return engine::ReadyAdd{add.key, add.amount, add.request_id, *slot, add.value};
}

Ready make_ready(const engine::StoredCounter& stored, const rule::EngineTraits& traits, std::span<const Add> adds,
                 bool is_checked) {
  const std::uint64_t drawn = draw();  // one number a transaction: pick random uses one slot in each
  Ready ready;
  ready.adds.reserve(adds.size());
  for (std::size_t i = 0; i < adds.size(); ++i) {
    auto made = make_ready(stored, traits, adds[i], is_checked, drawn);
    if (made) {
      ready.adds.push_back(*made);
      if (!ready.refused.empty()) ready.index.push_back(i);
      continue;
    }
    if (ready.refused.empty()) {
      ready.refused.resize(adds.size());
      for (std::size_t before = 0; before < i; ++before) ready.index.push_back(before);
    }
    ready.may_be_stale = ready.may_be_stale || depends_on_rule(adds[i], made.error());
    ready.refused[i] = std::move(made.error());
  }
  return ready;
}

using Written = std::vector<Result<Added>>;

/// Puts the refusals of the check between the answers of the engine.
Written merge_answers(Ready& ready, Written&& answers) {
  Written all;
  all.reserve(ready.refused.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < ready.refused.size(); ++i) {
    if (ready.refused[i]) {
      all.emplace_back(fail(std::move(*ready.refused[i])));
    } else {
      all.push_back(std::move(answers[next++]));
    }
  }
  return all;
}

Result<Written> apply(engine::Connection& connection, const engine::StoredCounter& stored, Ready& ready,
                      engine::Refusal refusal) {
  if (ready.refused.empty()) return connection.apply(stored, ready.adds, refusal);
  if (refusal == engine::Refusal::all) {
    for (std::optional<Error>& error : ready.refused) {
      if (error) return fail(std::move(*error));
    }
  }
  if (ready.adds.empty()) return merge_answers(ready, {});
  auto answers = connection.apply(stored, ready.adds, refusal);
  if (!answers) return answers;
  return merge_answers(ready, std::move(*answers));
}

bool says_rule_changed(ErrorCode code) noexcept {
  return code == ErrorCode::rule_changed || code == ErrorCode::unknown_counter || code == ErrorCode::not_installed;
}

}  // namespace

bool depends_on_rule(const Add& add, const Error& refusal) noexcept {
  switch (refusal.code) {
    case ErrorCode::key_invalid: return add.key.empty() || rule::is_valid_key(add.key);
    case ErrorCode::request_id_invalid: return false;
    default: return true;
  }
}

Result<StoredRule> check(Handle& handle, std::span<const Add> adds, Deadline deadline) {
  StoredRule stored = handle.stored();
  for (bool reread = false;;) {
    std::optional<Error> refusal;
    bool may_be_stale = false;
    for (const Add& add : adds) {
      auto right = rule::check_add(stored->name, stored->rule, add);
      if (right) continue;
      may_be_stale = depends_on_rule(add, right.error());
      refusal = std::move(right.error());
      break;
    }
    if (!refusal) return stored;
    if (reread || !may_be_stale) return fail(std::move(*refusal));
    auto now = handle.reread(std::min(deadline, deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max))));
    if (!now)
      return fail(now.error().code == ErrorCode::unknown_counter ? std::move(now.error()) : std::move(*refusal));
    stored = std::move(*now);
    reread = true;
  }
}

Result<Written> write(Handle& handle, engine::Connection& connection, std::span<const Add> adds,
                      engine::Refusal refusal, const engine::StoredCounter* checked, Transaction transaction) {
  StoredRule stored = handle.stored();
  for (bool reread = false;; reread = true) {
    Ready ready = make_ready(*stored, handle.store().traits(), adds, stored.get() == checked);
    std::optional<Result<Written>> written;
    if (reread || !ready.may_be_stale) {
      written = apply(connection, *stored, ready, refusal);
      if (reread || *written || !says_rule_changed(written->error().code)) return std::move(*written);
      if (written->error().transaction_dead) return std::move(*written);  // nothing can be read in it any more
    }
    auto now = transaction == Transaction::own ? handle.reread(connection) : look_up(connection, handle.name());
    if (!now) return fail(std::move(now.error()));
    stored = std::move(*now);
  }
}

}  // namespace splitcount::counter
