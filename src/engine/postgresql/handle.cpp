#include <engine/postgresql/handle.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <limits>

#include <poll.h>

#include <base/clock.h>
#include <engine/postgresql/errors.h>

namespace splitcount::engine::postgresql {
namespace {

/// False: the deadline has passed.
bool wait_for(PGconn* connection, int events, Deadline deadline) {
  for (;;) {
    int wait_ms = -1;
    if (deadline != Deadline::max()) {
      const auto left = time_left(deadline).count();
      if (left == 0) return false;
      wait_ms = static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max()));
    }
    pollfd socket{PQsocket(connection), static_cast<short>(events), 0};
    const int ready = ::poll(&socket, 1, wait_ms);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // what is broken shows when it is read
  }
}

extern "C" void splitcount_postgresql_notice(void*, const PGresult*) {}

}  // namespace

void Parameters::borrow(std::string_view bytes, int format) {
  values_.push_back(bytes.data() == nullptr ? "" : bytes.data());
  lengths_.push_back(static_cast<int>(bytes.size()));
  formats_.push_back(format);
}

Parameters& Parameters::text(std::string_view text) {
  borrow(text, 1);
  return *this;
}

Parameters& Parameters::number(std::int64_t number) { return array(std::to_string(number)); }

Parameters& Parameters::null() {
  values_.push_back(nullptr);
  lengths_.push_back(0);
  formats_.push_back(0);
  return *this;
}

Parameters& Parameters::array(std::string literal) {
  kept_.push_back(std::make_unique<std::string>(std::move(literal)));
  borrow(*kept_.back(), 0);
  return *this;
}

std::string_view Answer::text(int row, int column) const noexcept {
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

std::int64_t Answer::number(int row, int column) const noexcept {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::int64_t Answer::changed() const noexcept {
  const std::string_view digits = PQcmdTuples(result_.get());
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

/// A statement on its way.
class Exchange {
 public:
  Exchange(PGconn* connection, Deadline deadline) noexcept : connection_(connection), deadline_(deadline) {}

  [[nodiscard]] bool send(const std::string& sql) noexcept { return PQsendQuery(connection_, sql.c_str()) == 1; }
  [[nodiscard]] bool send(const std::string& sql, const Parameters& parameters) noexcept {
    return PQsendQueryParams(connection_, sql.c_str(), static_cast<int>(parameters.values_.size()), nullptr,
                             parameters.values_.data(), parameters.lengths_.data(), parameters.formats_.data(),
                             0) == 1;
  }

  [[nodiscard]] bool send_prepare(const std::string& name, const std::string& sql, std::size_t parameters) {
    constexpr Oid bigint = 20;  // pg_type.dat; it never changes
    const std::vector<Oid> types(parameters, bigint);
    return PQsendPrepare(connection_, name.c_str(), sql.c_str(), static_cast<int>(parameters), types.data()) == 1;
  }
  [[nodiscard]] bool send_prepared(const std::string& name, const Parameters& parameters) noexcept {
    return PQsendQueryPrepared(connection_, name.c_str(), static_cast<int>(parameters.values_.size()),
                               parameters.values_.data(), parameters.lengths_.data(), parameters.formats_.data(), 0) == 1;
  }

  /// The last answer, or the first error.
  [[nodiscard]] Result<Answer> receive() {
    if (auto sent = flush(); !sent) return fail(std::move(sent.error()));
    Answer last(nullptr);
    std::optional<Error> error;
    for (;;) {
      auto result = next();
      if (!result) return fail(std::move(result.error()));
      if (*result == nullptr) break;
      Answer answer(*result);
      const auto status = PQresultStatus(*result);
      if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
        return fail(lost_connection(connection_, "the server began a copy that nobody asked for"));
      }
      const bool failed = status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE;
      if (failed && !error) error = error_from(*result);
      last = std::move(answer);
    }
    if (error) {
      error->transaction_dead = PQtransactionStatus(connection_) == PQTRANS_INERROR;
      if (PQstatus(connection_) == CONNECTION_BAD) mark_dead(*error);
      return fail(std::move(*error));
    }
    return last;
  }

 private:
  /// What the sockets do not take at once. The server may speak before it has heard all.
  Result<void> flush() {
    for (int left = PQflush(connection_); left != 0; left = PQflush(connection_)) {
      if (left < 0) return fail(lost_connection(connection_, {}));
      if (!wait_for(connection_, POLLIN | POLLOUT, deadline_)) {
        return fail(lost_connection(connection_, "the server did not take the statement in time"));
      }
      if (PQconsumeInput(connection_) == 0) return fail(lost_connection(connection_, {}));
    }
    return {};
  }

  Result<PGresult*> next() {
    while (PQisBusy(connection_) == 1) {
      if (!wait_for(connection_, POLLIN, deadline_)) {
        return fail(lost_connection(connection_, "the server did not answer in time"));
      }
      if (PQconsumeInput(connection_) == 0) return fail(lost_connection(connection_, {}));
    }
    return PQgetResult(connection_);
  }

  PGconn* connection_;
  Deadline deadline_;
};

bool is_sound(PGconn* connection) noexcept {
  // What can be read is a notice, or the end.
  pollfd socket{PQsocket(connection), POLLIN, 0};
  while (PQstatus(connection) == CONNECTION_OK && ::poll(&socket, 1, 0) > 0) {
    if (PQconsumeInput(connection) == 0) return false;
  }
  return PQstatus(connection) == CONNECTION_OK;
}

Result<Answer> run(PGconn* connection, const std::string& sql, Deadline deadline) {
  Exchange exchange(connection, deadline);
  if (!exchange.send(sql)) return fail(lost_connection(connection, {}));
  return exchange.receive();
}

Result<Answer> run(PGconn* connection, const std::string& sql, const Parameters& parameters, Deadline deadline) {
  Exchange exchange(connection, deadline);
  if (!exchange.send(sql, parameters)) return fail(lost_connection(connection, {}));
  return exchange.receive();
}

Result<Answer> prepare(PGconn* connection, const std::string& name, const std::string& sql, std::size_t parameters,
                       Deadline deadline) {
  Exchange exchange(connection, deadline);
  if (!exchange.send_prepare(name, sql, parameters)) return fail(lost_connection(connection, {}));
  return exchange.receive();
}

Result<Answer> run_prepared(PGconn* connection, const std::string& name, const Parameters& parameters, Deadline deadline) {
  Exchange exchange(connection, deadline);
  if (!exchange.send_prepared(name, parameters)) return fail(lost_connection(connection, {}));
  return exchange.receive();
}

Result<Handle> connect(const std::string& conninfo, std::string_view name, Deadline deadline) {
  const std::array<const char*, 4> keywords{"dbname", "client_encoding", "fallback_application_name", nullptr};
  const std::array<const char*, 4> values{conninfo.c_str(), "UTF8", "splitcount", nullptr};
  Handle handle(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (!handle) return fail(ErrorCode::internal, "there is no memory for a connection");
  PQsetErrorVerbosity(handle.get(), PQERRORS_VERBOSE);  // brings the SQLSTATE, which is what errors are told apart by
  auto next = PGRES_POLLING_WRITING;
  while (PQstatus(handle.get()) != CONNECTION_BAD && next != PGRES_POLLING_OK && next != PGRES_POLLING_FAILED) {
    if (!wait_for(handle.get(), next == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline)) {
      return fail(not_connected(name, {}));
    }
    next = PQconnectPoll(handle.get());
  }
  if (PQconnectionNeedsPassword(handle.get()) == 1) return fail(password_missing(name));
  if (PQstatus(handle.get()) != CONNECTION_OK) return fail(not_connected(name, PQerrorMessage(handle.get())));
  PQsetErrorVerbosity(handle.get(), PQERRORS_DEFAULT);
  PQsetnonblocking(handle.get(), 1);  // else a long statement would wait beyond every deadline for a server that stands
  PQsetNoticeReceiver(handle.get(), splitcount_postgresql_notice, nullptr);
  return handle;
}

}  // namespace splitcount::engine::postgresql
