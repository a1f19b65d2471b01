// A PostgreSQL server of the tests' own: in a temporary folder, on a free port, started once a test program and stopped
// when the program ends, however it ends. No other server is touched.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace splitcount::contract {

class PostgresqlServer {
 public:
  /// The server of this program; started when it is first asked for. It syncs nothing, which is faster.
  static const PostgresqlServer& instance();

  /// Another one. `syncs`: what is committed is on the disk, as servers have it by default.
  explicit PostgresqlServer(bool syncs);
  ~PostgresqlServer();

  [[nodiscard]] std::string conninfo(const std::string& database) const;  ///< as keyword=value
  [[nodiscard]] std::string socket() const { return folder_ + "/.s.PGSQL.5432"; }  ///< where it listens

  /// Kills the server and every process of it at once (SIGKILL), and waits until they are gone.
  void kill();
  /// Starts it again on the same data, and returns when it takes connections.
  void start();
  /// Stops every process of it where it is (SIGSTOP), until go_on.
  void freeze();
  void go_on();

  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

 private:
  void wait_until_ready() const;
  /// The server, and what it has forked, which it leads no process group with.
  [[nodiscard]] std::vector<pid_t> processes() const;

  std::string folder_;
  pid_t keeper_ = -1;    ///< a child that ends the server as soon as its end of the pipe is closed
  int keep_alive_ = -1;  ///< our end of it
};

}  // namespace splitcount::contract
