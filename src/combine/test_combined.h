// For tests: submits to a combiner and waits for what it answers.
#pragma once

#include <future>
#include <memory>
#include <span>
#include <vector>

#include <splitcount/combiner.h>

#include <counter/test_ground.h>

namespace splitcount::combine {

using counter::CommitFault;
using counter::done;
using counter::far_away;
using counter::refused;

using Answers = std::vector<Result<Added>>;

inline Deadline in_ms(int wait_ms) { return deadline_in(std::chrono::milliseconds(wait_ms)); }

class Combined : public counter::Ground {
 protected:
  Combiner open(const Combiner::Limits& limits = {}) { return Combiner::open(database_, limits).value_or_throw(); }

  /// The answers when they come; a refusal at once is the answer to each of the adds.
  static std::future<Answers> submit(Combiner& combiner, const Counter& counter, std::span<const Add> adds,
                                     Deadline deadline = far_away()) {
    auto promise = std::make_shared<std::promise<Answers>>();
    auto answers = promise->get_future();
    const auto taken = combiner.submit(counter, adds, deadline, [promise](std::span<const Result<Added>> results) {
      promise->set_value({results.begin(), results.end()});
    });
    if (!taken) promise->set_value(Answers(adds.size(), Result<Added>(fail(taken.error()))));
    return answers;
  }
  static std::future<Answers> submit_one(Combiner& combiner, const Counter& counter, const Add& add,
                                         Deadline deadline = far_away()) {
    return submit(combiner, counter, std::span(&add, 1), deadline);
  }
  static Result<Added> add(Combiner& combiner, const Counter& counter, const Add& one, Deadline deadline = far_away()) {
    return submit_one(combiner, counter, one, deadline).get().front();
  }
};

}  // namespace splitcount::combine
