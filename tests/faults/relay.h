// A relay between a client and a database server that breaks a connection at exactly one place: before a statement
// reaches the server, or after it took effect and before the client hears of it.
//
//   client ──> Link: a thread for each connection ──> server
//                │ bytes
//                v
//              Watcher: cuts them into messages, and knows the protocol
//
// Every fault is counted when it happens, so that a test can prove that it did.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <faults/watcher.h>

namespace splitcount::faults {

enum class Action {
  cut_before,    ///< the statement does not reach the server; both ends are closed
  cut_after,     ///< it takes effect, and both ends are closed before the client hears of it
  deliver_late,  ///< the client's end is closed at once; the server gets the statement after the delay
  abandon,       ///< the client's end is closed; the server waits for the statement, as if the network had gone
  hold_before,   ///< the server gets it after the delay
  hold_after,    ///< it takes effect at once, and the client hears of it after the delay
};

struct Fault {
  Action action = Action::cut_before;
  std::string statement = "COMMIT";  ///< those that hold these words, whole and in upper or lower case; empty: all
  int skip = 0;                      ///< how many of those pass first
  int times = 1;                     ///< how many are met by it then
  bool reset = false;                ///< the client's end is reset (RST) where it is closed
  std::chrono::milliseconds delay{0};
};

/// Listens on a loopback port and connects to a Unix socket for each who comes.
class Relay {
 public:
  Relay(std::string server_socket, std::function<std::unique_ptr<Watcher>()> watch);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  [[nodiscard]] int port() const { return port_; }
  /// The next fault, after those that were planned before.
  void plan(Fault fault);
  /// Forgets the faults that did not happen yet.
  void plan_nothing();
  /// Ends the delays that have begun.
  void let_go();
  /// Closes both ends of every connection there is; new ones may come.
  void cut_all();

  [[nodiscard]] int fired() const;        ///< faults that happened
  [[nodiscard]] int delivered() const;    ///< statements of deliver_late that have taken effect
  [[nodiscard]] int connections() const;  ///< that were made so far

 private:
  class Link;
  void accept_clients();
  /// The fault that meets this statement.
  [[nodiscard]] std::optional<Fault> take(std::string_view statement);
  /// It did not come to it: the server refused the statement.
  void give_back(Fault fault);
  void count(int Relay::*what);
  /// Until the delay is over or let go. False: the relay ends. `fires`: the pause is the fault, and counted with it.
  bool pause(std::chrono::milliseconds delay, bool fires = false);

  const std::string server_socket_;
  const std::function<std::unique_ptr<Watcher>()> watch_;
  int listener_ = -1;
  int port_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Fault> faults_;
  std::list<std::unique_ptr<Link>> links_;
  int fired_ = 0;
  int delivered_ = 0;
  int connections_ = 0;
  int let_go_ = 0;
  bool ending_ = false;

  std::thread accepting_;
};

}  // namespace splitcount::faults
