// Ctrl-C and kill: the work on its way is brought to a good end, then the verb ends. A second signal ends it at once.
#pragma once

#include <atomic>

namespace splitcount::cli {

/// From now on SIGINT and SIGTERM set what this gives; it is false until then.
[[nodiscard]] const std::atomic<bool>& stop_on_signals();

}  // namespace splitcount::cli
