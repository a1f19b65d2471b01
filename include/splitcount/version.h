// The version of headers and library.
#pragma once

#include <string_view>

#include <splitcount/export.h>

#define SPLITCOUNT_VERSION "0.1.0"

namespace splitcount {

/// The version of the library that is linked, which may be newer than SPLITCOUNT_VERSION of the headers.
[[nodiscard]] SPLITCOUNT_EXPORT std::string_view version() noexcept;

}  // namespace splitcount
