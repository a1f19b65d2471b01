#include <rule/key.h>

#include <optional>
#include <string>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>

namespace splitcount::rule {
namespace {

/// What is wrong with a byte string that stands for `what`, in a sentence; nothing where all is well.
std::optional<std::string> find_fault(std::string_view what, std::string_view bytes, std::size_t bytes_max) {
  const std::string right = fmt::format("a {} is 1 to {} bytes of UTF-8 without NUL", what, bytes_max);
  if (bytes.empty()) return fmt::format("the {} is empty; {}", what, right);
  if (bytes.size() > bytes_max) {
    return fmt::format("{} {} has {} bytes; {}", what, quoted(bytes), grouped(static_cast<std::int64_t>(bytes.size())),
                       right);
  }
  if (bytes.find('\0') != std::string_view::npos) return fmt::format("{} {} holds NUL; {}", what, quoted(bytes), right);
  if (!is_utf8(bytes)) return fmt::format("{} {} is not UTF-8; {}", what, quoted(bytes), right);
  return std::nullopt;
}

}  // namespace

Result<void> check_key(std::string_view key) {
  if (is_valid_key(key)) return {};
  return fail(ErrorCode::key_invalid, find_fault("key", key, limits::key_bytes_max).value_or("the key is invalid"));
}

bool is_valid_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= limits::key_bytes_max && key.find('\0') == std::string_view::npos &&
         is_utf8(key);
}

Result<void> check_request_id(std::string_view request_id) {
  if (auto fault = find_fault("request id", request_id, limits::request_id_bytes_max)) {
    return fail(ErrorCode::request_id_invalid, std::move(*fault));
  }
  return {};
}

}  // namespace splitcount::rule
