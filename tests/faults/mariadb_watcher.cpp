// MariaDB's protocol (its Knowledge Base, "Client/Server Protocol"), as far as the library and plain programs speak it: a
// packet is three bytes of length, its number within one exchange, and the rest. A statement is a packet that begins an
// exchange and its text follows the byte 3; the answer is one result for each statement of the text. Prepared statements
// pass unseen.
#include <faults/watcher.h>

#include <cstdint>
#include <stdexcept>

namespace splitcount::faults {
namespace {

constexpr std::size_t head_bytes = 4;
constexpr char query = 3;
constexpr unsigned char ok = 0x00;
constexpr unsigned char end_of_rows = 0xfe;
constexpr unsigned char refusal = 0xff;
constexpr std::size_t end_bytes = 5;  // of the packet after columns and after rows
constexpr std::uint64_t more_results = 8;
constexpr std::uint64_t ends_without_packet = 1U << 24U;  // CLIENT_DEPRECATE_EOF

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t number = 0;
  for (std::size_t i = length; i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return number;
}

/// Where the number ends that begins here: its length is in its first byte, where it is above 250.
std::size_t after_number(std::string_view bytes, std::size_t at) {
  switch (static_cast<unsigned char>(bytes.at(at))) {
    case 0xfc: return at + 3;
    case 0xfd: return at + 4;
    case 0xfe: return at + 9;
    default: return at + 1;
  }
}

/// Takes the next packet off the front; empty: it is not complete.
std::string take_packet(std::string& bytes) {
  if (bytes.size() < head_bytes) return {};
  const std::size_t size = head_bytes + number_at(bytes, 0, 3);
  if (bytes.size() < size) return {};
  std::string packet = bytes.substr(0, size);
  bytes.erase(0, size);
  return packet;
}

class MariadbWatcher final : public Watcher {
 public:
  std::vector<ClientMessage> from_client(std::string_view bytes) override {
    client_ += bytes;
    std::vector<ClientMessage> messages;
    for (std::string packet = take_packet(client_); !packet.empty(); packet = take_packet(client_)) {
      const std::string_view rest = std::string_view(packet).substr(head_bytes);
      std::optional<std::string> statement;
      if (!greeted_) {
        greeted_ = true;
        if ((number_at(rest, 0, 4) & ends_without_packet) != 0) {
          throw std::logic_error("this form of answers is not known here");
        }
      } else if (packet[3] == 0) {
        within_ = Within::nothing;
        if (rest.starts_with(query)) {
          statement = std::string(rest.substr(1));
          within_ = Within::result;
        }
      }
      messages.push_back({std::move(packet), std::move(statement)});
    }
    return messages;
  }

  std::vector<ServerMessage> from_server(std::string_view bytes) override {
    server_ += bytes;
    std::vector<ServerMessage> messages;
    for (std::string packet = take_packet(server_); !packet.empty(); packet = take_packet(server_)) {
      ServerMessage message = read(std::string_view(packet).substr(head_bytes));
      message.bytes = std::move(packet);
      messages.push_back(std::move(message));
    }
    return messages;
  }

 private:
  enum class Within { nothing, result, columns, rows };

  ServerMessage read(std::string_view packet) {
    if (within_ == Within::nothing || packet.empty()) return {};
    const auto type = static_cast<unsigned char>(packet[0]);
    if (type == refusal) {
      within_ = Within::nothing;
      return {.bytes = {}, .refused = true, .ended = true};
    }
    if (within_ == Within::result) {
      if (type == ok) return end_of_result(packet, after_number(packet, after_number(packet, 1)));
      within_ = Within::columns;
    } else if (type == end_of_rows && packet.size() == end_bytes) {
      if (within_ == Within::rows) return end_of_result(packet, 3);
      within_ = Within::rows;
    }
    return {};
  }
  /// The answer is complete where no other result follows.
  ServerMessage end_of_result(std::string_view packet, std::size_t status_at) {
    const bool goes_on = (number_at(packet, status_at, 2) & more_results) != 0;
    within_ = goes_on ? Within::result : Within::nothing;
    return {.bytes = {}, .refused = false, .ended = !goes_on};
  }

  std::string client_;  // bytes that are no whole packet yet
  std::string server_;
  bool greeted_ = false;
  Within within_ = Within::nothing;
};

}  // namespace

std::unique_ptr<Watcher> watch_mariadb() { return std::make_unique<MariadbWatcher>(); }

}  // namespace splitcount::faults
