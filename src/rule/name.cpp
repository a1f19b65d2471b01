#include <rule/name.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <base/limits.h>
#include <base/text.h>

namespace splitcount::rule {
namespace {

constexpr std::array<std::string_view, 6> endings{"_slots", "_add", "_requests", "_history", "_total", "_deltas"};
constexpr std::array<std::string_view, 3> beginnings{"splitcount_", "sqlite_", "pg_"};

bool is_well_formed(std::string_view name) noexcept {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= limits::counter_name_bytes_max && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

/// `whose`: "a counter's" or "a key column's".
Result<void> check_name(std::string_view whose, std::string_view name) {
  if (!is_well_formed(name)) {
    return fail(ErrorCode::name_invalid, fmt::format("{} name is [a-z][a-z0-9_]{{0,{}}}, and {} is not", whose,
                                                     limits::counter_name_bytes_max - 1, quoted(name)));
  }
  if (is_reserved(name)) {
    return fail(ErrorCode::name_invalid,
                fmt::format("{} name cannot be {}, a reserved word of SQL or of splitcount; choose another", whose,
                            quoted(name)));
  }
  for (const std::string_view beginning : beginnings) {
    if (!name.starts_with(beginning)) continue;
    return fail(ErrorCode::name_invalid,
                fmt::format("{} name cannot begin with {}, as {} does, since the database's and splitcount's own "
                            "objects do; choose another",
                            whose, beginning, quoted(name)));
  }
  return {};
}

}  // namespace

Result<void> check_counter_name(std::string_view name) {
  if (auto checked = check_name("a counter's", name); !checked) return checked;
  for (const std::string_view ending : endings) {
    if (!name.ends_with(ending)) continue;
    return fail(ErrorCode::name_invalid,
                fmt::format("a counter's name cannot end in {}, as {} does, since another counter's objects do; "
                            "choose another",
                            ending, quoted(name)));
  }
  return {};
}

Result<void> check_key_name(std::string_view name) { return check_name("a key column's", name); }

}  // namespace splitcount::rule
