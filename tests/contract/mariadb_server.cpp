#include <contract/mariadb_server.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

#include <mysql.h>

namespace splitcount::contract {
namespace {

std::string programs() {
  if (!std::filesystem::exists("/usr/sbin/mariadbd")) {
    throw std::runtime_error("there is no MariaDB in /usr/sbin; ./test installs it");
  }
  return "/usr/sbin";
}

/// A binary log, as servers with replicas have it: without the right SUPER it forbids functions, so what works with it works
/// without. The server begins in another sql_mode and another character set than ours. performance_schema as by default: off.
constexpr const char* script = R"(
folder=$1 programs=$2 syncs=$3
trap '' INT HUP TERM
cd "$folder" || exit 1
[ "$syncs" = on ] && flush=1 || flush=0
cat >settings <<END
[mysqld]
datadir = $folder/data
socket = $folder/socket
pid-file = $folder/server.pid
skip-networking
skip-name-resolve
innodb-buffer-pool-size = 64M
innodb-log-file-size = 32M
innodb-flush-log-at-trx-commit = $flush
max-connections = 300
log-bin = $folder/data/binlog
server-id = 1
sync-binlog = 0
binlog-format = MIXED
sql-mode = NO_ENGINE_SUBSTITUTION
character-set-server = latin1
END
/usr/bin/mariadb-install-db --defaults-file=settings --auth-root-authentication-method=normal --skip-test-db >init.log 2>&1 || exit 1
start() {
  (cd data && exec "$programs/mariadbd" --defaults-file="$folder/settings") >>server.log 2>&1 </dev/null &
  server=$!
}
start
while read -r line; do
  wait $server
  start
done
kill -CONT $server 2>/dev/null
kill -KILL $server
wait $server
cd / && rm -rf "$folder"
)";

struct Close {
  void operator()(MYSQL* handle) const { mysql_close(handle); }
};

}  // namespace

const MariadbServer& MariadbServer::instance() {
  static MariadbServer server(false);
  return server;
}

MariadbServer::MariadbServer(bool syncs) : TestServer("MariaDB", script, programs(), syncs, {"mysql", "nobody"}) {
  wait_until_ready();
}

bool MariadbServer::is_ready() const {
  const std::unique_ptr<MYSQL, Close> handle(mysql_init(nullptr));
  return mysql_real_connect(handle.get(), nullptr, "root", nullptr, nullptr, 0, socket().c_str(), 0) != nullptr;
}

std::string MariadbServer::dsn(const std::string& database) const {
  return "mariadb://root@/" + database + "?socket=" + socket();
}

}  // namespace splitcount::contract
