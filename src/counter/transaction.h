// Whole transactions, and when one is run again.
#pragma once

#include <functional>

#include <splitcount/error.h>

#include <counter/pool.h>

namespace splitcount::counter {

/// One try of a transaction, as its body sees it.
struct Attempt {
  engine::Connection& connection;
  bool& in_doubt;  ///< an earlier try may have been committed; the body clears it where it sees that none was
};

struct TransactionOptions {
  Deadline deadline{};
  bool create = false;      ///< the database file may be created
  bool send_again = false;  ///< the body finds out by itself whether an earlier try was committed
};

/// Writes inside the transaction that is open. It is called once a try, with its input intact, and must start afresh.
using Body = std::function<Result<void>(Attempt&)>;

/// begin, body, commit. A try that the database gave up (is_worth_another_try) is rolled back and run again as a
/// whole, at most limits::call_tries_max times and until the deadline. A database that was there before and cannot be
/// reached now is waited for until the deadline. After a commit whose outcome is unknown the body runs again only where
/// `send_again` says that this is safe; else, and where that does not settle it in time, the error is outcome_unknown.
/// After every other error nothing was changed.
[[nodiscard]] Result<void> run_transaction(Pool& pool, const TransactionOptions& options, const Body& body);

/// A connection for reads. A database that was there before and cannot be reached now is waited for until the deadline.
[[nodiscard]] Result<Lease> acquire_when_back(Pool& pool, Deadline deadline);

/// Runs a read on a connection of the pool; once more where that one broke, as it does when the server goes away.
template <class Read>
auto read_when_back(Pool& pool, Deadline deadline, const Read& read) -> decltype(read(std::declval<engine::Connection&>())) {
  for (bool again = false;; again = true) {
    auto lease = acquire_when_back(pool, deadline);
    if (!lease) return fail(std::move(lease.error()));
    (*lease)->set_wait(deadline);
    auto result = read(**lease);
    if (result || again || result.error().code != ErrorCode::connection_lost) return result;
  }
}

/// The transaction failed for a reason that lies in other sessions or in the connection, and not in its input.
[[nodiscard]] bool is_worth_another_try(const Error& error) noexcept;

/// The database could not be reached, which may pass.
[[nodiscard]] bool is_away(const Error& error) noexcept;

/// A pause that grows with the tries and is drawn at random, so that those who met do not meet again: at most 0.5 ms
/// after the first try, and later 64 ms, or 256 ms where the database is away, since each knock costs it something.
/// Never past the deadline.
void pause_before_try(int tries_so_far, const Error& error, Deadline deadline);

/// The same error as an unknown outcome.
[[nodiscard]] Error as_unknown(Error error);

}  // namespace splitcount::counter
