// Closing a counter that has moved to another database, and taking adds again.
#pragma once

#include <string>
#include <string_view>

#include <splitcount/error.h>

#include <counter/store.h>

namespace splitcount::counter {

/// In short tries, since other adds wait behind one that waits for a transaction which has counted. One that is closed stays
/// as it is. Error: database_busy at the deadline.
[[nodiscard]] Result<void> close(Store& store, std::string_view name, std::string_view place, Deadline deadline);

}  // namespace splitcount::counter
