// The shared library's own translation unit: the version it was built as.
#include <splitcount/version.h>

namespace splitcount {

std::string_view version() noexcept { return SPLITCOUNT_VERSION; }

}  // namespace splitcount
