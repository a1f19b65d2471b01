// The one place where names and values become MariaDB SQL.
#pragma once

#include <string>
#include <string_view>

namespace splitcount::engine::mariadb {

/// `name`, whatever it holds.
[[nodiscard]] std::string quote_name(std::string_view name);
/// 'text': for names and words, which hold no backslash, since what one means depends on the session's sql_mode.
[[nodiscard]] std::string quote_text(std::string_view text);
/// x'0a1b': any bytes, in every sql_mode and character set.
[[nodiscard]] std::string quote_bytes(std::string_view bytes);

}  // namespace splitcount::engine::mariadb
