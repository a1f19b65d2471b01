// A server of the tests' own: in a temporary folder, on a socket there, started once a test program and stopped when the
// program ends, however it ends. No other server is touched.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace splitcount::contract {

class TestServer {
 public:
  /// Kills the server and every process of it at once (SIGKILL), and waits until they are gone.
  void kill();
  /// Starts it again on the same data, and returns when it takes connections.
  void start();
  /// Stops every process of it where it is (SIGSTOP), until go_on.
  void freeze();
  void go_on();
  /// The process id that it has now; another one after each start.
  [[nodiscard]] pid_t process() const { return processes().front(); }

  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

 protected:
  /// `script`: run by sh as the server's user with FOLDER, PROGRAMS and SYNCS (on, off); it makes the database, runs the
  /// server, runs it again for each line of its input, and stops it at the end of that, which comes when the test program
  /// has ended, in whatever way. The folder goes with it. `users`: the first of these that there is runs it, where root
  /// runs the tests.
  TestServer(std::string name, const char* script, const std::string& programs, bool syncs,
             const std::vector<const char*>& users);
  ~TestServer();

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Whether it takes connections.
  [[nodiscard]] virtual bool is_ready() const = 0;
  /// Within the folder, holding the server's process id in its first line.
  [[nodiscard]] virtual std::string pid_file() const = 0;
  /// To be called once by whoever is derived from this.
  void wait_until_ready() const;

 private:
  /// The server, and what it has forked, which it leads no process group with.
  [[nodiscard]] std::vector<pid_t> processes() const;

  std::string name_;
  std::string folder_;
  pid_t keeper_ = -1;    ///< a child that ends the server as soon as its end of the pipe is closed
  int keep_alive_ = -1;  ///< our end of it
};

}  // namespace splitcount::contract
