// A batch of a stream, on the calling thread.
#pragma once

#include <splitcount/combiner.h>

#include <counter/store.h>

namespace splitcount::combine {

/// What can be seen of a batch without a database. Error: invalid_argument.
[[nodiscard]] Result<void> check_batch(const Batch& batch);

/// Moves the stream and writes the adds in one transaction. An unknown commit is settled by sending the same batch
/// again; where that does not settle it by the deadline, the error is outcome_unknown.
[[nodiscard]] Result<Applied> apply_batch(counter::Handle& handle, const Batch& batch, Deadline deadline);

}  // namespace splitcount::combine
