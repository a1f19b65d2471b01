#include <contract/postgresql_server.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include <libpq-fe.h>

namespace splitcount::contract {
namespace {

/// Where initdb and postgres are: SPLITCOUNT_POSTGRESQL_BIN, or Debian's. Without links, since the server's user may be
/// unable to enter the folder that they start from.
std::string programs() {
  const char* given = std::getenv("SPLITCOUNT_POSTGRESQL_BIN");
  const std::filesystem::path folder = given == nullptr ? "/usr/lib/postgresql/15/bin" : given;
  if (!exists(folder / "postgres")) {
    throw std::runtime_error("there is no PostgreSQL in " + folder.string() + "; ./test fetches it");
  }
  return canonical(folder).string();
}

constexpr const char* script = R"(
folder=$1 programs=$2 syncs=$3
trap '' INT HUP TERM
cd "$folder" || exit 1
"$programs/initdb" -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >init.log 2>&1 || exit 1
cat >>data/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '$folder'
max_connections = 200
max_prepared_transactions = 10
fsync = $syncs
full_page_writes = $syncs
shared_buffers = 32MB
recovery_init_sync_method = syncfs
END
start() {
  "$programs/postgres" -D data >>server.log 2>&1 </dev/null &
  server=$!
}
start
while read -r line; do
  wait $server
  start
done
kill -CONT $server $(cat /proc/$server/task/$server/children) 2>/dev/null
kill -INT $server
wait $server
cd / && rm -rf "$folder"
)";

}  // namespace

const PostgresqlServer& PostgresqlServer::instance() {
  static PostgresqlServer server(false);
  return server;
}

PostgresqlServer::PostgresqlServer(bool syncs) : TestServer("PostgreSQL", script, programs(), syncs, {"postgres", "nobody"}) {
  wait_until_ready();
}

bool PostgresqlServer::is_ready() const { return PQping(conninfo("postgres").c_str()) == PQPING_OK; }

// Only a socket in the folder of its own: no port of the machine is taken, and nobody else can meet it.
std::string PostgresqlServer::conninfo(const std::string& database) const {
  return "host=" + folder() + " user=postgres dbname=" + database;
}

}  // namespace splitcount::contract
