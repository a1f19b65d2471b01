#include <engine/mariadb/address.h>

#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::engine::mariadb {
namespace {

/// %41 as A; nothing where it is no such text, or holds a zero byte.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      unsigned char byte = 0;
      const auto digits = text.substr(i + 1, 2);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
      if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
      c = static_cast<char>(byte);
      i += 2;
    }
    if (c == '\0') return std::nullopt;
    out += c;
  }
  return out;
}

/// The part before the mark is taken away from the text; all of it where there is no mark.
std::string_view take_until(std::string_view& text, char mark) {
  const auto at = text.find(mark);
  const auto part = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
  return part;
}

bool set(std::string& field, std::string_view text) {
  auto value = decoded(text);
  if (value) field = std::move(*value);
  return value.has_value();
}

bool set_host(Address& address, std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {  // IPv6
    const auto end = text.find(']');
    if (end == std::string_view::npos) return false;
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && !port.starts_with(':')) return false;
    if (!port.empty()) port.remove_prefix(1);
  } else {
    host = take_until(port = text, ':');
  }
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc{} || end != port.data() + port.size() || address.port == 0 ||
        address.port > std::numeric_limits<std::uint16_t>::max()) {
      return false;
    }
  }
  return set(address.host, host);
}

bool set_option(Address& address, std::string_view option) {
  const auto keyword = take_until(option, '=');
  if (keyword == "socket") return set(address.socket, option);
  if (keyword == "ssl") return address.ssl = option == "1", option == "0" || option == "1";
  if (keyword == "ssl_ca") return address.ssl = true, set(address.ssl_ca, option);
  if (keyword == "ssl_cert") return address.ssl = true, set(address.ssl_cert, option);
  if (keyword == "ssl_key") return address.ssl = true, set(address.ssl_key, option);
  return false;
}

std::optional<Address> parsed(std::string_view text) {
  Address address;
  if (!text.starts_with("//")) return std::nullopt;
  text.remove_prefix(2);
  std::string_view path = text;
  auto place = take_until(path, '/');
  if (const auto at = place.rfind('@'); at != std::string_view::npos) {
    std::string_view user = place.substr(0, at);
    place.remove_prefix(at + 1);
    const auto name = take_until(user, ':');
    if (!set(address.user, name) || !set(address.password, user)) return std::nullopt;
  }
  auto options = path;
  const auto database = take_until(options, '?');
  if (!set_host(address, place) || !set(address.database, database) || address.database.empty()) return std::nullopt;
  while (!options.empty()) {
    if (!set_option(address, take_until(options, '&'))) return std::nullopt;
  }
  return address;
}

}  // namespace

Result<Address> parse_address(std::string_view text) {
  auto address = parsed(text);
  if (address) return std::move(*address);
  return fail(ErrorCode::config_invalid,
              "the database's address is none that MariaDB knows; right is mariadb://USER@HOST:PORT/DATABASE or "
              "mariadb://USER@/DATABASE?socket=PATH, also with ssl=1, ssl_ca=FILE, ssl_cert=FILE and ssl_key=FILE after the ? "
              "and separated by &, and with @, /, :, ? and % in a name or password written as %40, %2F, %3A, %3F and %25");
}

std::string display_name(const Address& address) {
  std::string name = fmt::format("the MariaDB database {}", quoted(address.database));
  if (!address.host.empty()) name += fmt::format(" on {}", quoted(address.host));
  if (address.port != 0) name += fmt::format(" port {}", address.port);
  if (!address.socket.empty()) name += fmt::format(" at {}", quoted(address.socket));
  return name;
}

}  // namespace splitcount::engine::mariadb
