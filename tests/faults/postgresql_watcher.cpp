// PostgreSQL's protocol, version 3 (protocol.html of its documentation, "Message Formats"): a type, four bytes of
// length that count themselves, and the rest. What a client sends first has no type, and what answers a request for
// encryption is one byte.
#include <faults/watcher.h>

#include <cstdint>
#include <map>

namespace splitcount::faults {
namespace {

constexpr std::uint32_t startup = 196'608;  // version 3.0
constexpr std::uint32_t ssl_request = 80'877'103;
constexpr std::uint32_t gss_request = 80'877'104;
constexpr std::size_t length_bytes = 4;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

/// A text that ends at a zero byte; takes it from the front.
std::string take_text(std::string_view& rest) {
  const auto end = rest.find('\0');
  std::string text(rest.substr(0, end));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return text;
}

/// Takes the next message of `type_bytes` + length off the front; empty: it is not complete.
std::string take_message(std::string& bytes, std::size_t type_bytes) {
  if (bytes.size() < type_bytes + length_bytes) return {};
  const std::size_t size = type_bytes + number_at(bytes, type_bytes);
  if (bytes.size() < size) return {};
  std::string message = bytes.substr(0, size);
  bytes.erase(0, size);
  return message;
}

class PostgresqlWatcher final : public Watcher {
 public:
  std::vector<ClientMessage> from_client(std::string_view bytes) override {
    client_ += bytes;
    std::vector<ClientMessage> messages;
    for (;;) {
      std::string message = take_message(client_, typed_ ? 1 : 0);
      if (message.empty()) return messages;
      if (typed_) {
        auto statement = statement_of(message);
        messages.push_back({std::move(message), std::move(statement)});
      } else {
        const auto code = number_at(message, length_bytes);
        typed_ = code == startup;
        asked_for_encryption_ = code == ssl_request || code == gss_request;
        messages.push_back({std::move(message)});
      }
    }
  }

  std::vector<ServerMessage> from_server(std::string_view bytes) override {
    server_ += bytes;
    std::vector<ServerMessage> messages;
    if (asked_for_encryption_ && !server_.empty()) {
      messages.push_back({server_.substr(0, 1)});
      server_.erase(0, 1);
      asked_for_encryption_ = false;
    }
    for (;;) {
      std::string message = take_message(server_, 1);
      if (message.empty()) return messages;
      const char type = message[0];
      // A COMMIT of a transaction that had failed is answered as what it is.
      const bool rolled_back =
          type == 'C' && std::string_view(message).substr(1 + length_bytes).starts_with("ROLLBACK");
      messages.push_back({std::move(message), type == 'E' || rolled_back, type == 'Z'});
    }
  }

 private:
  /// Query runs its text. Parse gives a text a name, Bind makes a portal of it, Execute runs that.
  std::optional<std::string> statement_of(std::string_view message) {
    std::string_view rest = message.substr(1 + length_bytes);
    switch (message[0]) {
      case 'Q': return take_text(rest);
      case 'P': {
        auto name = take_text(rest);
        texts_[std::move(name)] = take_text(rest);
        return std::nullopt;
      }
      case 'B': {
        auto portal = take_text(rest);
        portals_[std::move(portal)] = texts_[take_text(rest)];
        return std::nullopt;
      }
      case 'E': return portals_[take_text(rest)];
      default: return std::nullopt;
    }
  }

  std::string client_;  // bytes that are no whole message yet
  std::string server_;
  bool typed_ = false;  // the client has named the protocol's version
  bool asked_for_encryption_ = false;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> portals_;
};

}  // namespace

std::unique_ptr<Watcher> watch_postgresql() { return std::make_unique<PostgresqlWatcher>(); }

}  // namespace splitcount::faults
