#include <contract/door.h>

#include <future>
#include <stdexcept>
#include <utility>

namespace splitcount::contract {
namespace {

constexpr std::chrono::seconds answer_wait{60};

std::vector<Result<Told>> everywhere(std::size_t count, const Error& error) {
  return std::vector<Result<Told>>(count, Result<Told>(fail(error)));
}

std::vector<Result<Told>> told(std::span<const Added> added) {
  std::vector<Result<Told>> out;
  for (const auto& one : added) out.emplace_back(Told{one.slot, one.replay});
  return out;
}

class OwnDoor final : public Door {
 public:
  std::vector<Result<Told>> add_many(Counter& counter, std::span<const Add> adds) override {
    if (adds.size() == 1) {
      const auto added = counter.add(adds.front());
      return added ? told(std::span(&*added, 1)) : everywhere(1, added.error());
    }
    const auto added = counter.add(adds);
    return added ? told(*added) : everywhere(adds.size(), added.error());
  }
};

class CallerDoor final : public Door {
 public:
  explicit CallerDoor(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  std::vector<Result<Told>> add_many(Counter& counter, std::span<const Add> adds) override {
    if (const auto begun = session_->begin(); !begun) {
      if (session_->in_transaction()) (void)session_->rollback();
      return everywhere(adds.size(), error_of(begun.error()));
    }
    auto answers = add_inside(counter, adds);
    const bool refused = !answers.front();
    if (refused) {
      if (session_->in_transaction()) (void)session_->rollback();
      return answers;
    }
    const auto committed = session_->commit();
    if (committed) return answers;
    auto error = error_of(committed.error());
    error.outcome_unknown = !session_->in_transaction();
    if (session_->in_transaction()) (void)session_->rollback();
    return everywhere(adds.size(), error);
  }

 private:
  std::vector<Result<Told>> add_inside(Counter& counter, std::span<const Add> adds) {
    if (adds.size() == 1) {
      const auto added = counter.add(session_->caller(), adds.front());
      return added ? told(std::span(&*added, 1)) : everywhere(1, added.error());
    }
    const auto added = counter.add(session_->caller(), adds);
    return added ? told(*added) : everywhere(adds.size(), added.error());
  }
  std::unique_ptr<Session> session_;
};

class SqlDoor final : public Door {
 public:
  explicit SqlDoor(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  std::vector<Result<Told>> add_many(Counter& counter, std::span<const Add> adds) override {
    const auto rule = counter.rule();
    if (const auto begun = session_->begin(); !begun) return everywhere(adds.size(), error_of(begun.error()));
    for (const auto& add : adds) {
      const auto added = session_->add(counter.name(), rule, add);
      if (added) continue;
      if (session_->in_transaction()) (void)session_->rollback();
      return everywhere(adds.size(), error_of(added.error()));
    }
    if (const auto done = session_->commit(); !done) return everywhere(adds.size(), error_of(done.error()));
    return std::vector<Result<Told>>(adds.size(), Result<Told>(Told{}));
  }

 private:
  std::unique_ptr<Session> session_;
};

class CombinedDoor final : public Door {
 public:
  explicit CombinedDoor(Database& database) : combiner_(Combiner::open(database).value_or_throw()) {}
  bool all_or_nothing() const override { return false; }
  std::vector<Result<Told>> add_many(Counter& counter, std::span<const Add> adds) override {
    auto promise = std::make_shared<std::promise<std::vector<Result<Added>>>>();
    auto answers = promise->get_future();
    const auto taken = combiner_.submit(counter, adds, std::chrono::steady_clock::now() + answer_wait,
                                        [promise](std::span<const Result<Added>> results) {
                                          promise->set_value({results.begin(), results.end()});
                                        });
    if (!taken) return everywhere(adds.size(), taken.error());
    std::vector<Result<Told>> out;
    for (const auto& answer : answers.get()) {
      out.push_back(answer ? Result<Told>(Told{answer->slot, answer->replay}) : Result<Told>(fail(answer.error())));
    }
    return out;
  }

 private:
  Combiner combiner_;
};

}  // namespace

std::string door_name(DoorKind kind) {
  switch (kind) {
    case DoorKind::own: return "own";
    case DoorKind::caller: return "caller";
    case DoorKind::sql: return "sql";
    case DoorKind::combined: return "combined";
  }
  throw std::logic_error("a door without a name");
}

std::unique_ptr<Door> open_door(DoorKind kind, Stand& stand, Database& database) {
  switch (kind) {
    case DoorKind::own: return std::make_unique<OwnDoor>();
    case DoorKind::caller: return std::make_unique<CallerDoor>(stand.session());
    case DoorKind::sql: return std::make_unique<SqlDoor>(stand.session());
    case DoorKind::combined: return std::make_unique<CombinedDoor>(database);
  }
  throw std::logic_error("no such door");
}

Error error_of(const SqlError& error) {
  Error out;
  out.code = ErrorCode::internal;
  out.message = error.message;
  const auto end = error.message.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  const auto word = std::string_view(error.message).substr(0, end);
  for (auto code = ErrorCode::invalid_argument; code <= ErrorCode::counter_closed;
       code = static_cast<ErrorCode>(static_cast<int>(code) + 1)) {
    if (word == error_code_name(code)) out.code = code;
  }
  return out;
}

}  // namespace splitcount::contract
