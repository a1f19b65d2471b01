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

void pause_before_try(int tries_so_far, Deadline deadline) {
  constexpr std::int64_t first_us_max = 500;
  const std::int64_t us_max = first_us_max << std::min(tries_so_far - 1, 7);
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

Result<void> try_once(Pool& pool, const TransactionOptions& options, const Body& body, bool& in_doubt) {
  auto lease = pool.acquire(options.deadline, options.create);
  if (!lease) return fail(std::move(lease.error()));
  engine::Connection& connection = **lease;
  if (auto begun = connection.begin(options.deadline); !begun) return begun;
  Attempt attempt{connection, in_doubt};
  if (auto written = body(attempt); !written) {
    connection.rollback();
    return written;
  }
  return connection.commit();
}

}  // namespace

Result<void> run_transaction(Pool& pool, const TransactionOptions& options, const Body& body) {
  bool in_doubt = false;
  for (int tries = 1;; ++tries) {
    auto done = try_once(pool, options, body, in_doubt);
    if (done) return done;
    Error error = std::move(done.error());
    in_doubt = in_doubt || error.outcome_unknown;
    const bool again = error.outcome_unknown ? options.send_again : is_worth_another_try(error);
    if (!again || tries >= limits::call_tries_max || time_left(options.deadline).count() == 0) {
      return fail(in_doubt ? as_unknown(std::move(error)) : std::move(error));
    }
    pause_before_try(tries, options.deadline);
  }
}

}  // namespace splitcount::counter
