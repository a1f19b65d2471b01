#include <counter/transaction.h>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/limits.h>
#include <counter/random.h>

namespace splitcount::counter {

bool is_worth_another_try(const Error& error) noexcept {
  if (error.outcome_unknown) return false;
  switch (error.code) {
    case ErrorCode::database_busy:
    case ErrorCode::serialization_failure:
    case ErrorCode::deadlock:
    case ErrorCode::connection_lost: return true;
    default: return false;
  }
}

bool is_away(const Error& error) noexcept { return error.code == ErrorCode::database_unavailable && error.retryable; }

void pause_before_try(int tries_so_far, const Error& error, Deadline deadline) {
  constexpr std::int64_t first_us_max = 500;
  const std::int64_t us_max = first_us_max << std::min(tries_so_far - 1, is_away(error) ? 9 : 7);
  const auto pause = std::chrono::microseconds(static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(us_max)));
  std::this_thread::sleep_until(std::min(deadline, std::chrono::steady_clock::now() + pause));
}

Error as_unknown(Error error) {
  if (error.code != ErrorCode::outcome_unknown) {
    error.message = fmt::format("nobody can say yet whether it was committed: {}", error.message);
    error.code = ErrorCode::outcome_unknown;
  }
  error.outcome_unknown = true;
  error.retryable = false;
  return error;
}

namespace {

/// What is left for one more try has to be worth it: a try that ends at the deadline could not say why it failed.
constexpr std::chrono::milliseconds try_ms_min{500};
constexpr int try_share_min = 10;  // of the whole time, where that is short

/// `begun` tells whether there was a transaction.
Result<void> try_once(Pool& pool, const TransactionOptions& options, const Body& body, bool& in_doubt, bool& begun) {
  auto lease = pool.acquire(options.deadline, options.create);
  if (!lease) return fail(std::move(lease.error()));
  engine::Connection& connection = **lease;
  if (auto opened = connection.begin(options.deadline); !opened) return opened;
  begun = true;
  Attempt attempt{connection, in_doubt};
  if (auto written = body(attempt); !written) {
    connection.rollback();
    return written;
  }
  return connection.commit();
}

}  // namespace

Result<Lease> acquire_when_back(Pool& pool, Deadline deadline) {
  for (int pauses = 1;; ++pauses) {
    auto lease = pool.acquire(deadline);
    if (lease || !is_away(lease.error()) || !pool.was_connected() || time_left(deadline) <= try_ms_min) return lease;
    pause_before_try(pauses, lease.error(), deadline);
  }
}

Result<void> run_transaction(Pool& pool, const TransactionOptions& options, const Body& body) {
  const auto left_min = std::min(try_ms_min, time_left(options.deadline) / try_share_min);
  bool in_doubt = false;
  int tries = 0;  // where the database was there
  for (int pauses = 1;; ++pauses) {
    bool begun = false;
    auto done = try_once(pool, options, body, in_doubt, begun);
    if (done) return done;
    Error error = std::move(done.error());
    in_doubt = in_doubt || error.outcome_unknown;
    // In doubt, a database that cannot be had is worth waiting for, whatever it says; and it may be the try in doubt that
    // holds an id.
    const bool settles = in_doubt && options.send_again &&
                         (error.outcome_unknown || !begun || error.code == ErrorCode::request_in_flight);
    const bool comes_back = is_away(error) && pool.was_connected();
    const bool again = settles || comes_back || is_worth_another_try(error);
    if (!comes_back) ++tries;
    if (!again || tries >= limits::call_tries_max || time_left(options.deadline) <= left_min) {
      return fail(in_doubt ? as_unknown(std::move(error)) : std::move(error));
    }
    pause_before_try(pauses, error, options.deadline);
  }
}

}  // namespace splitcount::counter
