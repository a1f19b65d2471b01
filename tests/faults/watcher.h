// What a relay has to know of a protocol: where its messages end, which of them makes the server run a statement, and
// when the server has done so. One implementation a protocol.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace splitcount::faults {

struct ClientMessage {
  std::string bytes;
  std::optional<std::string> statement{};  ///< the text that the server runs when it gets this
};

struct ServerMessage {
  std::string bytes;
  bool refused = false;  ///< the statement did not take effect
  bool ended = false;    ///< the answer is complete, and what the statement did is done
};

/// Watches one connection.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The whole messages that come with these bytes; the rest is kept until more comes.
  [[nodiscard]] virtual std::vector<ClientMessage> from_client(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::vector<ServerMessage> from_server(std::string_view bytes) = 0;
};

[[nodiscard]] std::unique_ptr<Watcher> watch_postgresql();
[[nodiscard]] std::unique_ptr<Watcher> watch_mariadb();

}  // namespace splitcount::faults
