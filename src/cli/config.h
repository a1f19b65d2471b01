// Which database: the flag --db, else SPLITCOUNT_DB, else `db` in ./splitcount.toml, else splitcount.db.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <splitcount/error.h>

namespace splitcount::cli {

/// What splitcount.toml says.
struct Config {
  std::optional<std::string> db{};
};

/// An absent file says nothing. Error: config_invalid, with the line.
[[nodiscard]] Result<Config> read_config(const std::string& path);

struct Dsn {
  std::string text;
  bool is_from_flag = false;  ///< a command to type next must name it again
};

/// Errors: config_invalid; a password in `flag` is refused, and never printed.
[[nodiscard]] Result<Dsn> find_dsn(const std::optional<std::string>& flag);

/// Nothing where the address that `option` gives holds no password, which every user of the machine could see.
[[nodiscard]] Result<void> check_no_password(std::string_view option, std::string_view dsn);

/// True for scheme://user:password@..., and for a DSN with a scheme that says password=.
[[nodiscard]] bool holds_password(std::string_view dsn);

}  // namespace splitcount::cli
