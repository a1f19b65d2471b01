#include <cli/config.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include <fmt/format.h>
#include <toml++/toml.h>

#include <base/text.h>

namespace splitcount::cli {
namespace {

constexpr const char* config_path = "splitcount.toml";
constexpr const char* default_dsn = "splitcount.db";
constexpr off_t config_bytes_max = 65'536;

Result<Config> config_from(const toml::table& table, const std::string& path) {
  Config config;
  for (auto&& [key, node] : table) {
    const auto line = node.source().begin.line;
    if (key.str() != "db")
      return fail(ErrorCode::config_invalid,
                  fmt::format("{} line {}: there is no setting {}; the one there is is db", path, line,
                              splitcount::quoted(key.str())));
    config.db = node.value_exact<std::string>();
    if (!config.db || config.db->empty())
      return fail(ErrorCode::config_invalid,
                  fmt::format("{} line {}: db is a text that names a database, e.g. db = \"splitcount.db\"", path, line));
  }
  return config;
}

}  // namespace

Result<Config> read_config(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Config{};
    return fail(ErrorCode::config_invalid, fmt::format("{} cannot be read ({})", path, std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::config_invalid, fmt::format("{} is no file", path));
  if (info.st_size > config_bytes_max)
    return fail(ErrorCode::config_invalid, fmt::format("{} has more than {} bytes", path, grouped(config_bytes_max)));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || !text) return fail(ErrorCode::config_invalid, fmt::format("{} cannot be read", path));
  try {
    return config_from(toml::parse(text.str(), path), path);
  } catch (const toml::parse_error& error) {
    // Its description may repeat what stands in the file, which may be a password.
    return fail(ErrorCode::config_invalid, fmt::format("{} line {}: this is not TOML; right is e.g. db = \"splitcount.db\"",
                                                       path, error.source().begin.line));
  }
}

bool holds_password(std::string_view dsn) {
  const auto scheme_end = dsn.find(':');
  if (scheme_end == dsn.npos || dsn.starts_with("sqlite:")) return false;
  if (dsn.find("password=") != dsn.npos || dsn.find("pwd=") != dsn.npos || dsn.find("PWD=") != dsn.npos) return true;
  if (!dsn.substr(scheme_end).starts_with("://")) return false;
  const auto rest = dsn.substr(scheme_end + 3);
  // A password may hold a slash that nobody escaped, so the last @ before the query ends the user's part.
  const auto at = rest.substr(0, rest.find('?')).rfind('@');
  return at != rest.npos && rest.substr(0, at).find(':') != rest.npos;
}

Result<void> check_no_password(std::string_view option, std::string_view dsn) {
  if (!holds_password(dsn)) return {};
  return fail(ErrorCode::config_invalid,
              fmt::format("{} holds a password, which every user of this machine could see; leave it out there and give the "
                          "address in SPLITCOUNT_DB or as db in splitcount.toml",
                          option));
}

Result<Dsn> find_dsn(const std::optional<std::string>& flag) {
  if (flag) {
    if (flag->empty())
      return fail(ErrorCode::config_invalid, "--db is empty; it names a database, e.g. --db splitcount.db");
    if (auto checked = check_no_password("--db", *flag); !checked) return fail(std::move(checked).error());
    return Dsn{*flag, true};
  }
  if (const char* variable = std::getenv("SPLITCOUNT_DB"); variable != nullptr && *variable != '\0')
    return Dsn{variable, false};
  auto config = read_config(config_path);
  if (!config) return fail(std::move(config).error());
  return Dsn{config->db.value_or(default_dsn), false};
}

}  // namespace splitcount::cli
