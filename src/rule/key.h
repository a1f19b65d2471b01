// Keys and request ids: byte strings in UTF-8.
#pragma once

#include <string_view>

#include <splitcount/error.h>

namespace splitcount::rule {

/// 1 to 768 bytes, UTF-8, no NUL. Error: key_invalid.
[[nodiscard]] Result<void> check_key(std::string_view key);

/// True where check_key succeeds; for intake, which counts lines and not sentences.
[[nodiscard]] bool is_valid_key(std::string_view key) noexcept;

/// 1 to 128 bytes, UTF-8, no NUL. Error: request_id_invalid.
[[nodiscard]] Result<void> check_request_id(std::string_view request_id);

}  // namespace splitcount::rule
