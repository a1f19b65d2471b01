#include <engine/engine.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <base/text.h>
#include <engine/mariadb/engine.h>
#include <engine/postgresql/engine.h>
#include <engine/sqlite/engine.h>

namespace splitcount::engine {
namespace {

constexpr std::string_view what_there_is = "this splitcount has sqlite, postgresql and mariadb";

/// [a-z][a-z0-9+.-]* before a colon that comes before any slash; empty where there is none. One letter is a scheme too.
std::string_view scheme_of(std::string_view dsn) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto goes_on = [letter](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '.' || c == '-';
  };
  const auto colon = dsn.find(':');
  if (colon == std::string_view::npos || colon == 0 || !letter(dsn.front())) return {};
  const auto scheme = dsn.substr(0, colon);
  return std::all_of(scheme.begin(), scheme.end(), goes_on) ? scheme : std::string_view{};
}

/// keyword=value: it may hold a password, which a sentence about a file would show.
bool is_of_libpq(std::string_view dsn) {
  constexpr std::array<std::string_view, 8> keywords{"host=",     "hostaddr=", "port=",    "dbname=",
                                                     "user=",     "password=", "service=", "sslmode="};
  return std::any_of(keywords.begin(), keywords.end(), [dsn](std::string_view keyword) { return dsn.starts_with(keyword); });
}

}  // namespace

Result<std::shared_ptr<Engine>> open(std::string_view dsn) {
  const auto scheme = scheme_of(dsn);
  if (scheme.empty()) {
    if (!is_of_libpq(dsn)) return sqlite::open(dsn);
    return fail(ErrorCode::config_invalid,
                "the database's address has the form that PostgreSQL's programs take and lacks its scheme; right is "
                "postgresql:host=HOST dbname=DATABASE (and ./NAME for a file that is named so)");
  }
  if (scheme == "sqlite") return sqlite::open(dsn.substr(scheme.size() + 1));
  if (scheme == "postgresql" || scheme == "postgres") {
    // A URI is libpq's own as a whole; what else follows the scheme is keyword=value.
    const auto rest = dsn.substr(scheme.size() + 1);
    return postgresql::open(rest.starts_with("//") ? dsn : rest);
  }
  if (scheme == "mariadb") return mariadb::open(dsn.substr(scheme.size() + 1));
  // Only the scheme is shown: what follows may hold a password.
  return fail(
      ErrorCode::config_invalid,
      fmt::format("the database's scheme {} is unknown: {}, as sqlite:PATH, a plain PATH (./{}:... for a file "
                  "that is named so), postgresql://HOST/DATABASE or mariadb://HOST/DATABASE",
                  quoted(scheme), what_there_is, scheme));
}

Result<std::unique_ptr<Connection>> borrow(sqlite3* handle) { return sqlite::borrow(handle); }
Result<std::unique_ptr<Connection>> borrow(pg_conn* handle) { return postgresql::borrow(handle); }
Result<std::unique_ptr<Connection>> borrow(st_mysql* handle) { return mariadb::borrow(handle); }

const rule::EngineTraits* traits_of(std::string_view dialect) noexcept {
  if (dialect == "sqlite") return &sqlite::traits();
  if (dialect == "postgresql") return &postgresql::traits();
  if (dialect == "mariadb") return &mariadb::traits();
  return nullptr;
}

Result<std::string> script(std::string_view dialect, std::string_view name, const Rule& rule,
                           std::span<const std::string> keys) {
  if (dialect == "sqlite") return sqlite::script(name, rule, keys);
  if (dialect == "postgresql") return postgresql::script(name, rule, keys);
  if (dialect == "mariadb") return mariadb::script(name, rule, keys);
  return fail(ErrorCode::invalid_argument,
              fmt::format("the dialect {} is unknown: {}", quoted(dialect), what_there_is));
}

}  // namespace splitcount::engine
