// A MariaDB server of the tests' own.
#pragma once

#include <string>

#include <contract/test_server.h>

namespace splitcount::contract {

class MariadbServer final : public TestServer {
 public:
  /// The server of this program; started when it is first asked for. It syncs nothing, which is faster.
  static const MariadbServer& instance();

  /// Another one. `syncs`: what is committed is on the disk, as servers have it by default.
  explicit MariadbServer(bool syncs);

  [[nodiscard]] std::string socket() const { return folder() + "/socket"; }
  /// For the library and the command line: the user that may do everything.
  [[nodiscard]] std::string dsn(const std::string& database) const;

 private:
  [[nodiscard]] bool is_ready() const override;
  [[nodiscard]] std::string pid_file() const override { return "server.pid"; }
};

}  // namespace splitcount::contract
