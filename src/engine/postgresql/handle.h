// RAII for what libpq hands out, the parameters of a statement, and one round trip with a deadline.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include <splitcount/add.h>
#include <splitcount/error.h>

namespace splitcount::engine::postgresql {

struct FinishConnection {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
using Handle = std::unique_ptr<PGconn, FinishConnection>;

/// The values of $1, $2, ...; texts and bytes are borrowed, the rest is kept.
class Parameters {
 public:
  Parameters& text(std::string_view text);  ///< and bytes: as they are, whatever they hold
  Parameters& number(std::int64_t number);
  Parameters& null();
  Parameters& array(std::string literal);  ///< "{...}", see append_element

 private:
  friend class Exchange;
  void borrow(std::string_view bytes, int format);
  std::vector<std::unique_ptr<std::string>> kept_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// What a statement answered.
class Answer {
 public:
  explicit Answer(PGresult* result) noexcept : result_(result) {}

  [[nodiscard]] int rows() const noexcept { return PQntuples(result_.get()); }
  [[nodiscard]] int columns() const noexcept { return PQnfields(result_.get()); }
  [[nodiscard]] std::string_view text(int row, int column) const noexcept;
  [[nodiscard]] std::int64_t number(int row, int column) const noexcept;
  [[nodiscard]] bool truth(int row, int column) const noexcept { return text(row, column) == "t"; }
  [[nodiscard]] bool is_null(int row, int column) const noexcept {
    return PQgetisnull(result_.get(), row, column) != 0;
  }
  /// "COMMIT", "ROLLBACK", "INSERT 0 1", ...
  [[nodiscard]] std::string_view tag() const noexcept { return PQcmdStatus(result_.get()); }
  [[nodiscard]] std::int64_t changed() const noexcept;

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

/// Connects, until the deadline. `name` is for the sentences.
[[nodiscard]] Result<Handle> connect(const std::string& conninfo, std::string_view name, Deadline deadline);

/// False: the connection is known to be broken, without asking the server. Only where no statement is on its way.
[[nodiscard]] bool is_sound(PGconn* connection) noexcept;

/// One statement with parameters, or several without (PostgreSQL's simple protocol; the last one's answer comes back).
/// Where no answer has come by the deadline the connection is of no more use.
[[nodiscard]] Result<Answer> run(PGconn* connection, const std::string& sql, Deadline deadline);
[[nodiscard]] Result<Answer> run(PGconn* connection, const std::string& sql, const Parameters& parameters,
                                 Deadline deadline);

/// Keeps a statement ready under a name, with that many parameters, each a bigint.
[[nodiscard]] Result<Answer> prepare(PGconn* connection, const std::string& name, const std::string& sql,
                                     std::size_t parameters, Deadline deadline);
[[nodiscard]] Result<Answer> run_prepared(PGconn* connection, const std::string& name, const Parameters& parameters,
                                          Deadline deadline);

}  // namespace splitcount::engine::postgresql
