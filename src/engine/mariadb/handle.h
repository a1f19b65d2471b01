// RAII for what libmariadb hands out, values within a statement, and one exchange with a deadline.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <mysql.h>

#include <splitcount/add.h>
#include <splitcount/error.h>

namespace splitcount::engine::mariadb {

struct CloseConnection {
  void operator()(MYSQL* handle) const noexcept { mysql_close(handle); }
};
using Handle = std::unique_ptr<MYSQL, CloseConnection>;

/// What stands for the ? of a statement, in order, as literals.
class Values {
 public:
  Values& text(std::string_view text);  ///< and bytes: as they are, whatever they hold
  Values& number(std::int64_t number);
  Values& null();
  [[nodiscard]] std::string into(std::string_view sql) const;

 private:
  std::vector<std::string> literals_;
};

/// Rows that a statement answered, in their text form.
class Answer {
 public:
  Answer() = default;
  explicit Answer(MYSQL_RES* result);

  [[nodiscard]] int rows() const noexcept { return static_cast<int>(rows_.size()); }
  [[nodiscard]] int columns() const noexcept { return columns_; }
  [[nodiscard]] std::string_view text(int row, int column) const noexcept;
  [[nodiscard]] std::int64_t number(int row, int column) const noexcept;
  [[nodiscard]] bool truth(int row, int column) const noexcept { return number(row, column) != 0; }
  [[nodiscard]] bool is_null(int row, int column) const noexcept;

 private:
  std::vector<std::vector<std::optional<std::string>>> rows_;
  int columns_ = 0;
};

/// What several statements answered: the rows of each that has rows, up to the first error.
struct Answers {
  std::vector<Answer> answers;
  std::int64_t changed = 0;  ///< by the last one that has no rows
  std::optional<Error> error;
};

/// Where a database is, as its address says it.
struct Address {
  std::string host;
  std::string user;
  std::string password;
  std::string database;
  std::string socket;
  std::string ssl_ca;
  std::string ssl_cert;
  std::string ssl_key;
  unsigned port = 0;
  bool ssl = false;
};

/// Connects, until the deadline. `name` is for the sentences.
[[nodiscard]] Result<Handle> connect(const Address& address, std::string_view name, Deadline deadline);

/// False: the connection is known to be broken, without asking the server. Only where no statement is on its way.
[[nodiscard]] bool is_sound(MYSQL* handle) noexcept;

/// Ours takes several statements in one text, and gives up at the deadline, after which it is of no more use. A caller's
/// takes one, and waits as long as the caller's own statements do.
enum class Whose : std::uint8_t { ours, callers };
[[nodiscard]] Answers run(MYSQL* handle, std::string_view sql, Deadline deadline, Whose whose);

}  // namespace splitcount::engine::mariadb
