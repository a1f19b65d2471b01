#include <contract/stand.h>

namespace splitcount::contract {

const std::vector<EngineUnderTest>& engines_under_test() {
  static const std::vector<EngineUnderTest> engines = {
      {"sqlite_defined", Edition::defined, [] { return make_sqlite_stand(); }},
      {"sqlite_by_hand", Edition::by_hand, [] { return make_sqlite_stand(); }},
      {"postgresql_defined", Edition::defined, make_postgresql_stand},
      {"postgresql_by_hand", Edition::by_hand, make_postgresql_stand},
      {"postgresql_journal", Edition::defined, make_postgresql_stand, Layout::journal},
      {"mariadb_defined", Edition::defined, make_mariadb_stand},
      {"mariadb_by_hand", Edition::by_hand, make_mariadb_stand_of_found_rows},
      {"mariadb_journal", Edition::defined, make_mariadb_stand, Layout::journal},
  };
  return engines;
}

Result<Counter> make_counter(Edition edition, Stand& stand, Database& database, std::string_view name,
                             const RuleOptions& options, const std::vector<std::string>& keys) {
  if (edition == Edition::defined) return database.define(name, options, keys);
  auto script = Database::script(stand.traits().dialect, name, options, keys);
  if (!script) return fail(script.error());
  const auto session = stand.session();
  auto ran = session->begin();
  if (ran) ran = session->run(*script);
  if (ran) ran = session->commit();
  if (!ran) return fail(ErrorCode::internal, "the script failed: " + ran.error().message + "\n" + *script);
  return database.counter(name);
}

}  // namespace splitcount::contract
