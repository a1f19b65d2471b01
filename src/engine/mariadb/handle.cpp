#include <engine/mariadb/handle.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <mutex>

#include <poll.h>
#include <sys/socket.h>

#include <base/clock.h>
#include <engine/mariadb/errors.h>
#include <engine/mariadb/quote.h>

namespace splitcount::engine::mariadb {
namespace {

constexpr unsigned long multi_flags = CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS;

/// Which of the wanted events came; 0: the deadline has passed.
int wait_for(MYSQL* handle, int wanted, Deadline deadline) {
  int wait_ms = -1;
  for (;;) {
    if (deadline != Deadline::max()) {
      const auto left = time_left(deadline).count();
      if (left == 0) return 0;
      wait_ms = static_cast<int>(std::min<std::int64_t>(left, std::numeric_limits<int>::max()));
    }
    short events = 0;
    if ((wanted & MYSQL_WAIT_READ) != 0) events |= POLLIN;
    if ((wanted & MYSQL_WAIT_WRITE) != 0) events |= POLLOUT;
    if ((wanted & MYSQL_WAIT_EXCEPT) != 0) events |= POLLPRI;
    if ((wanted & MYSQL_WAIT_TIMEOUT) != 0) {  // one of the library's own
      const auto own_ms = static_cast<int>(mysql_get_timeout_value_ms(handle));
      if (wait_ms < 0 || own_ms < wait_ms) wait_ms = own_ms;
    }
    pollfd socket{mysql_get_socket(handle), events, 0};
    const int ready = ::poll(&socket, 1, wait_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if ((wanted & MYSQL_WAIT_TIMEOUT) != 0) return MYSQL_WAIT_TIMEOUT;
      continue;
    }
    // What is broken shows when it is read or written.
    return wanted & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE | MYSQL_WAIT_EXCEPT);
  }
}

}  // namespace

Values& Values::text(std::string_view text) {
  literals_.push_back(quote_bytes(text));
  return *this;
}

Values& Values::number(std::int64_t number) {
  literals_.push_back(std::to_string(number));
  return *this;
}

Values& Values::null() {
  literals_.emplace_back("NULL");
  return *this;
}

std::string Values::into(std::string_view sql) const {
  std::string out;
  auto next = literals_.begin();
  for (const char c : sql) {
    if (c == '?' && next != literals_.end()) {
      out += *next++;
    } else {
      out += c;
    }
  }
  return out;
}

Answer::Answer(MYSQL_RES* result) : columns_(static_cast<int>(mysql_num_fields(result))) {
  while (MYSQL_ROW row = mysql_fetch_row(result)) {
    const unsigned long* lengths = mysql_fetch_lengths(result);
    auto& cells = rows_.emplace_back();
    for (int column = 0; column < columns_; ++column) {
      if (row[column] == nullptr) {
        cells.emplace_back();
      } else {
        cells.emplace_back(std::string(row[column], lengths[column]));
      }
    }
  }
}

std::string_view Answer::text(int row, int column) const noexcept {
  const auto& cell = rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  return cell ? std::string_view(*cell) : std::string_view{};
}

std::int64_t Answer::number(int row, int column) const noexcept {
  const std::string_view digits = text(row, column);
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

bool Answer::is_null(int row, int column) const noexcept {
  return !rows_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

/// Statements on their way.
class Exchange {
 public:
  Exchange(MYSQL* handle, Deadline deadline, Whose whose) noexcept
      : handle_(handle), deadline_(deadline), is_ours_(whose == Whose::ours) {}

  /// Until the deadline; false: it did not come about.
  [[nodiscard]] bool connect(const Address& address) {
    const auto or_none = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
    MYSQL* connected = nullptr;
    drive([&] {
            return mysql_real_connect_start(&connected, handle_, or_none(address.host), or_none(address.user),
                                            or_none(address.password), or_none(address.database), address.port,
                                            or_none(address.socket), multi_flags);
          },
          [&](int events) { return mysql_real_connect_cont(&connected, handle_, events); }, [] {});
    return connected != nullptr;
  }
  [[nodiscard]] bool is_late() const noexcept { return is_late_; }

  [[nodiscard]] Answers run(std::string_view sql) {
    Answers out;
    int failed = 0;
    drive([&] { return mysql_real_query_start(&failed, handle_, sql.data(), sql.size()); },
          [&](int events) { return mysql_real_query_cont(&failed, handle_, events); },
          [&] { failed = mysql_real_query(handle_, sql.data(), sql.size()); });
    while (failed == 0) {
      if (!take(out)) break;
      if (mysql_more_results(handle_) == 0) break;
      drive([&] { return mysql_next_result_start(&failed, handle_); },
            [&](int events) { return mysql_next_result_cont(&failed, handle_, events); },
            [&] { failed = mysql_next_result(handle_); });
    }
    if (is_late_) {
      out.error = lost_connection("the server did not answer in time");
    } else if (mysql_errno(handle_) != 0) {
      out.error = error_from(handle_);
    }
    return out;
  }

 private:
  struct Free {
    void operator()(MYSQL_RES* result) const noexcept { mysql_free_result(result); }
  };

  bool take(Answers& out) {
    MYSQL_RES* stored = nullptr;
    drive([&] { return mysql_store_result_start(&stored, handle_); },
          [&](int events) { return mysql_store_result_cont(&stored, handle_, events); },
          [&] { stored = mysql_store_result(handle_); });
    const std::unique_ptr<MYSQL_RES, Free> result(stored);
    if (result != nullptr) {
      out.answers.emplace_back(result.get());
    } else if (mysql_errno(handle_) == 0) {
      out.changed = static_cast<std::int64_t>(mysql_affected_rows(handle_));
    }
    return mysql_errno(handle_) == 0;
  }

  /// Where the deadline passes the socket is shut, so that what is suspended ends by itself.
  template <class Start, class Go, class Block>
  void drive(const Start& start, const Go& go, const Block& block) {
    if (!is_ours_) return block();
    for (int waits = start(); waits != 0;) {
      int events = is_late_ ? waits : wait_for(handle_, waits, deadline_);
      if (events == 0) {
        is_late_ = true;
        ::shutdown(mysql_get_socket(handle_), SHUT_RDWR);
        events = waits;
      }
      waits = go(events);
    }
  }

  MYSQL* handle_;
  Deadline deadline_;
  bool is_ours_;
  bool is_late_ = false;
};

bool is_sound(MYSQL* handle) noexcept {
  // The server says nothing of itself, so what can be read is the end.
  pollfd socket{mysql_get_socket(handle), POLLIN, 0};
  return socket.fd >= 0 && ::poll(&socket, 1, 0) == 0;
}

Answers run(MYSQL* handle, std::string_view sql, Deadline deadline, Whose whose) {
  return Exchange(handle, deadline, whose).run(sql);
}

Result<Handle> connect(const Address& address, std::string_view name, Deadline deadline) {
  static std::once_flag is_begun;  // the library's own first call is not made for many threads
  std::call_once(is_begun, [] { mysql_library_init(0, nullptr, nullptr); });
  Handle handle(mysql_init(nullptr));
  if (!handle) return fail(ErrorCode::internal, "there is no memory for a connection");
  MYSQL* mysql = handle.get();
  mysql_options(mysql, MYSQL_OPT_NONBLOCK, nullptr);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "splitcount");  // and [client], where a password may be
  mysql_optionsv(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "splitcount");
  if (address.port != 0) {  // else "localhost" means the socket
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    mysql_options(mysql, MYSQL_OPT_PROTOCOL, &tcp);
  }
  if (address.ssl) {
    const my_bool on = 1;
    mysql_optionsv(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
    if (!address.ssl_ca.empty()) mysql_optionsv(mysql, MYSQL_OPT_SSL_CA, address.ssl_ca.c_str());
    if (!address.ssl_cert.empty()) mysql_optionsv(mysql, MYSQL_OPT_SSL_CERT, address.ssl_cert.c_str());
    if (!address.ssl_key.empty()) mysql_optionsv(mysql, MYSQL_OPT_SSL_KEY, address.ssl_key.c_str());
    if (!address.ssl_ca.empty()) mysql_optionsv(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on);
  }
  Exchange exchange(mysql, deadline, Whose::ours);
  if (exchange.connect(address)) return handle;
  return fail(exchange.is_late() ? not_answered(name) : not_connected(name, mysql));
}

}  // namespace splitcount::engine::mariadb
