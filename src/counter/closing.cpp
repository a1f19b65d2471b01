#include <counter/closing.h>

#include <thread>

#include <fmt/format.h>

#include <splitcount/database.h>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/access.h>
#include <counter/transaction.h>

namespace splitcount {

using counter::Access;
using counter::Attempt;

namespace counter {
namespace {

bool is_held(ErrorCode code) noexcept {
  return code == ErrorCode::database_busy || code == ErrorCode::deadlock || code == ErrorCode::deadline_exceeded ||
         code == ErrorCode::connection_lost;  // a server that has too much to do to say so in time
}

Result<void> try_to_close(Store& store, std::string_view name, std::string_view place) {
  const TransactionOptions how{.deadline = deadline_in(std::chrono::milliseconds(limits::close_try_ms_max)), .send_again = true};
  return run_transaction(store.pool(), how, [&](Attempt& attempt) -> Result<void> {
    auto stored = look_up(attempt.connection, name);
    if (!stored) return fail(std::move(stored.error()));
    if ((*stored)->moved_to) return {};
    return attempt.connection.set_moved_to(**stored, place);
  });
}

}  // namespace

Result<void> close(Store& store, std::string_view name, std::string_view place, Deadline deadline) {
  constexpr std::chrono::milliseconds pause{200};  // for those who have waited behind a try
  for (;;) {
    auto closed = try_to_close(store, name, place);
    if (closed) return closed;
    if (!is_held(closed.error().code)) return closed;
    if (time_left(deadline) <= pause) {
      closed.error().code = ErrorCode::database_busy;
      closed.error().message =
          fmt::format("{} could not be closed, since a transaction that has counted in it stays open; end that, and try again", name);
      return closed;
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace counter

Result<void> Database::close(std::string_view name, std::string_view place) {
  if (place.empty() || place.size() > limits::place_bytes_max || place.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, fmt::format("the place where a counter goes on is named by 1 to {} bytes without NUL",
                                                         limits::place_bytes_max));
  }
  return counter::close(*impl_->store, name, place, deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max)));
}

Result<bool> Database::reopen(std::string_view name) {
  bool was_closed = false;
  const counter::TransactionOptions how{.deadline = deadline_in(std::chrono::milliseconds(limits::call_wait_ms_max)),
                                        .send_again = true};
  auto done = counter::run_transaction(impl_->store->pool(), how, [&](Attempt& attempt) -> Result<void> {
    auto stored = counter::look_up(attempt.connection, name);
    if (!stored) return fail(std::move(stored.error()));
    // Open after a try in doubt: that try did it.
    if (!attempt.in_doubt) was_closed = (*stored)->moved_to.has_value();
    if (!(*stored)->moved_to) return {};
    return attempt.connection.set_moved_to(**stored, std::nullopt);
  });
  if (!done) return fail(std::move(done.error()));
  return was_closed;
}

}  // namespace splitcount
