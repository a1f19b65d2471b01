// A PostgreSQL server of the tests' own.
#pragma once

#include <string>

#include <contract/test_server.h>

namespace splitcount::contract {

class PostgresqlServer final : public TestServer {
 public:
  /// The server of this program; started when it is first asked for. It syncs nothing, which is faster.
  static const PostgresqlServer& instance();

  /// Another one. `syncs`: what is committed is on the disk, as servers have it by default.
  explicit PostgresqlServer(bool syncs);

  [[nodiscard]] std::string conninfo(const std::string& database) const;  ///< as keyword=value
  [[nodiscard]] std::string socket() const { return folder() + "/.s.PGSQL.5432"; }  ///< where it listens

 private:
  [[nodiscard]] bool is_ready() const override;
  [[nodiscard]] std::string pid_file() const override { return "data/postmaster.pid"; }
};

}  // namespace splitcount::contract
