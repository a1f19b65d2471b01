// One of the two databases, and how it is asked.
#pragma once

#include <utility>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/store.h>
#include <counter/transaction.h>

namespace splitcount::copy {

[[nodiscard]] inline Deadline copy_deadline() {
  return deadline_in(std::chrono::milliseconds(limits::copy_wait_ms_max));
}

/// Reads on a connection of the pool; once more where one broke while it lay idle. `create`: the file may be created.
template <class Read>
auto ask(counter::Store& store, bool create, const Read& read)
    -> decltype(read(std::declval<engine::Connection&>())) {
  for (bool again = false;; again = true) {
    const Deadline deadline = copy_deadline();
    auto lease = store.pool().acquire(deadline, create);
    if (!lease) return fail(std::move(lease.error()));
    (*lease)->set_wait(deadline);
    auto answer = read(**lease);
    if (answer || again || answer.error().code != ErrorCode::connection_lost) return answer;
  }
}
template <class Read>
auto ask(counter::Store& store, const Read& read) -> decltype(read(std::declval<engine::Connection&>())) {
  return ask(store, false, read);
}

}  // namespace splitcount::copy
