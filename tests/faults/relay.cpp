#include <faults/relay.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <stdexcept>
#include <utility>

namespace splitcount::faults {
namespace {

bool is_word_sign(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// As whole words: "COMMIT" is not in "READ COMMITTED".
bool holds_words(std::string_view text, std::string_view words) {
  const auto same = [](char a, char b) {
    return std::toupper(static_cast<unsigned char>(a)) == std::toupper(static_cast<unsigned char>(b));
  };
  for (auto from = text.begin();; ++from) {
    from = std::search(from, text.end(), words.begin(), words.end(), same);
    if (from == text.end()) return words.empty();
    const auto end = from + static_cast<std::ptrdiff_t>(words.size());
    const bool begins = from == text.begin() || !is_word_sign(*(from - 1)) || !is_word_sign(words.front());
    const bool ends = end == text.end() || !is_word_sign(*end) || !is_word_sign(words.back());
    if (begins && ends) return true;
  }
}

int connect_to(const std::string& path) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  if (fd >= 0 && connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

/// One connection. Its thread alone reads, sends and closes; others may only shut both ends down, which ends it.
class Relay::Link {
 public:
  Link(Relay& relay, int client, int server)
      : relay_(relay), client_(client), server_(server), watcher_(relay.watch_()), thread_([this] { run(); }) {}
  ~Link() {
    cut();
    thread_.join();
    if (client_ >= 0) close(client_);
    close(server_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] bool has_ended() const { return ended_; }
  void cut() {
    std::lock_guard lock(closing_);
    if (client_ >= 0) shutdown(client_, SHUT_RDWR);
    shutdown(server_, SHUT_RDWR);
  }

 private:
  void run() {
    while (pass_on()) {
    }
    close_client(false);
    shutdown(server_, SHUT_RDWR);
    ended_ = true;
  }

  /// False: the connection is at its end.
  bool pass_on() {
    std::array<pollfd, 2> ends{pollfd{client_, POLLIN, 0}, pollfd{server_, POLLIN, 0}};
    if (poll(ends.data(), ends.size(), -1) < 0) return errno == EINTR;
    if (ends[0].revents != 0 && !from_client()) return false;
    return ends[1].revents == 0 || from_server();
  }

  /// What can be read now; empty: that end has closed.
  static std::string read_some(int fd) {
    std::string bytes(65'536, '\0');
    const auto got = recv(fd, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  bool from_client() {
    const auto bytes = read_some(client_);
    if (bytes.empty()) return false;
    for (const auto& message : watcher_->from_client(bytes)) {
      if (message.statement) {
        if (auto fault = relay_.take(*message.statement); fault && !meet(std::move(*fault))) return false;
      }
      if (!send_all(server_, message.bytes)) return false;
    }
    return true;
  }

  bool from_server() {
    const auto bytes = read_some(server_);
    if (bytes.empty()) return false;
    for (auto& message : watcher_->from_server(bytes)) {
      if (!awaited_) {
        if (client_ >= 0 && !send_all(client_, message.bytes)) return false;
        continue;
      }
      held_ += message.bytes;
      refused_ = refused_ || message.refused;
      if (message.ended && !after_effect()) return false;
    }
    return true;
  }

  /// A fault before the statement reaches the server. False: it does not reach it.
  bool meet(Fault fault) {
    switch (fault.action) {
      case Action::cut_before:
        relay_.count(&Relay::fired_);
        close_client(fault.reset);
        return false;
      case Action::abandon:
        relay_.count(&Relay::fired_);
        close_client(fault.reset);
        relay_.pause(fault.delay);
        return false;
      case Action::hold_before: return relay_.pause(fault.delay, true);
      case Action::deliver_late:
        relay_.count(&Relay::fired_);
        close_client(fault.reset);
        if (!relay_.pause(fault.delay)) return false;
        break;
      case Action::cut_after:
      case Action::hold_after: break;
    }
    awaited_ = std::move(fault);
    refused_ = false;
    return true;
  }

  /// The server has done what it was to do, or has refused it. False: the connection is at its end.
  bool after_effect() {
    const Fault fault = *std::exchange(awaited_, std::nullopt);
    const auto answer = std::exchange(held_, {});
    if (fault.action == Action::deliver_late) {
      if (!refused_) relay_.count(&Relay::delivered_);
      return false;
    }
    if (refused_) {
      relay_.give_back(fault);
      return send_all(client_, answer);
    }
    if (fault.action == Action::hold_after) return relay_.pause(fault.delay, true) && send_all(client_, answer);
    relay_.count(&Relay::fired_);
    close_client(fault.reset);
    return false;
  }

  void close_client(bool reset) {
    std::lock_guard lock(closing_);
    if (client_ < 0) return;
    if (reset) {
      const linger at_once{1, 0};
      setsockopt(client_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    close(client_);
    client_ = -1;
  }

  Relay& relay_;
  std::mutex closing_;
  int client_;  // -1: closed
  const int server_;
  const std::unique_ptr<Watcher> watcher_;
  std::optional<Fault> awaited_;  // its statement is with the server, and the answer is held back
  std::string held_;
  bool refused_ = false;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

Relay::Relay(std::string server_socket, std::function<std::unique_ptr<Watcher>()> watch)
    : server_socket_(std::move(server_socket)), watch_(std::move(watch)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ < 0 || bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, SOMAXCONN) != 0 || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("no port for the relay");
  }
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { accept_clients(); });
}

Relay::~Relay() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  close(listener_);
  links_.clear();
}

void Relay::accept_clients() {
  for (;;) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0 && errno == EINTR) continue;
    if (client < 0) return;
    const int at_once = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    const int server = connect_to(server_socket_);
    std::list<std::unique_ptr<Link>> ended;  // they are joined outside the lock
    std::lock_guard lock(mutex_);
    for (auto link = links_.begin(); link != links_.end();) {
      const auto next = std::next(link);
      if ((*link)->has_ended()) ended.splice(ended.end(), links_, link);
      link = next;
    }
    if (server < 0) {
      close(client);
    } else {
      ++connections_;
      links_.push_back(std::make_unique<Link>(*this, client, server));
    }
  }
}

void Relay::plan(Fault fault) {
  std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

void Relay::plan_nothing() {
  std::lock_guard lock(mutex_);
  faults_.clear();
}

void Relay::let_go() {
  {
    std::lock_guard lock(mutex_);
    ++let_go_;
  }
  changed_.notify_all();
}

void Relay::cut_all() {
  std::lock_guard lock(mutex_);
  for (const auto& link : links_) link->cut();
}

int Relay::fired() const {
  std::lock_guard lock(mutex_);
  return fired_;
}

int Relay::delivered() const {
  std::lock_guard lock(mutex_);
  return delivered_;
}

int Relay::connections() const {
  std::lock_guard lock(mutex_);
  return connections_;
}

std::optional<Fault> Relay::take(std::string_view statement) {
  std::lock_guard lock(mutex_);
  if (faults_.empty() || !holds_words(statement, faults_.front().statement)) return std::nullopt;
  Fault& next = faults_.front();
  if (next.skip > 0) {
    --next.skip;
    return std::nullopt;
  }
  Fault fault = next;
  if (--next.times == 0) faults_.pop_front();
  return fault;
}

void Relay::give_back(Fault fault) {
  std::lock_guard lock(mutex_);
  fault.times = 1;
  faults_.push_front(std::move(fault));
}

void Relay::count(int Relay::*what) {
  std::lock_guard lock(mutex_);
  ++(this->*what);
}

bool Relay::pause(std::chrono::milliseconds delay, bool fires) {
  std::unique_lock lock(mutex_);
  if (fires) ++fired_;
  changed_.wait_for(lock, delay, [this, before = let_go_] { return ending_ || let_go_ != before; });
  return !ending_;
}

}  // namespace splitcount::faults
