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

/// Reads on a connection of the pool. `create`: the file may be created.
template <class Read>
auto ask(counter::Store& store, bool create, const Read& read)
    -> decltype(read(std::declval<engine::Connection&>())) {
  const Deadline deadline = copy_deadline();
  if (create) {
    if (auto lease = store.pool().acquire(deadline, create); !lease) return fail(std::move(lease.error()));
  }
  return counter::read_when_back(store.pool(), deadline, read);
}
template <class Read>
auto ask(counter::Store& store, const Read& read) -> decltype(read(std::declval<engine::Connection&>())) {
  return ask(store, false, read);
}

}  // namespace splitcount::copy
