// A PostgreSQL server of the tests' own: in a temporary folder, on a free port, started once a test program and stopped
// when the program ends, however it ends. No other server is touched.
#pragma once

#include <string>

#include <sys/types.h>

namespace splitcount::contract {

class PostgresqlServer {
 public:
  /// The server of this program; started when it is first asked for.
  static const PostgresqlServer& instance();

  [[nodiscard]] std::string conninfo(const std::string& database) const;  ///< as keyword=value
  [[nodiscard]] std::string socket() const { return folder_ + "/.s.PGSQL.5432"; }  ///< where it listens

  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

 private:
  PostgresqlServer();
  ~PostgresqlServer();
  void wait_until_ready() const;

  std::string folder_;
  pid_t keeper_ = -1;    ///< a child that ends the server as soon as its end of the pipe is closed
  int keep_alive_ = -1;  ///< our end of it
};

}  // namespace splitcount::contract
