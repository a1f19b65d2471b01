// Inserts a row of its own and counts it, in one transaction: both are there afterwards, or neither.
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <sqlite3.h>

#include <splitcount/splitcount.h>

void execute(sqlite3* handle, const char* sql) {
  if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle));
}

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : "prizes.db";
  auto database = splitcount::Database::open(path).value_or_throw();
  auto prizes_won = database.define("prizes_won", {.slots = 11, .pick = splitcount::Pick::value}).value_or_throw();

  sqlite3* handle = nullptr;
  const int opened = sqlite3_open(path.c_str(), &handle);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> closes(handle, sqlite3_close);
  if (opened != SQLITE_OK) throw std::runtime_error(sqlite3_errmsg(handle));
  execute(handle, "CREATE TABLE IF NOT EXISTS prizes(id INTEGER PRIMARY KEY, winner TEXT NOT NULL)");

  execute(handle, "BEGIN IMMEDIATE");
  execute(handle, "INSERT INTO prizes(winner) VALUES ('Ada')");
  prizes_won.add(splitcount::Caller(handle), {.value = sqlite3_last_insert_rowid(handle)}).value_or_throw();
  execute(handle, "COMMIT");

  std::cout << "prizes won: " << prizes_won.total().value_or_throw().total << '\n';
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
