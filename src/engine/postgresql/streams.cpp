#include <fmt/format.h>

#include <base/text.h>
#include <engine/postgresql/connection.h>

namespace splitcount::engine::postgresql {
namespace {

/// "00ff" as two bytes.
std::string bytes_of(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  }
  return bytes;
}

}  // namespace

/// It is written first and looked at only where nothing was: whoever holds the stream is waited for, and then it stands
/// elsewhere.
Result<bool> PostgresqlConnection::advance(std::string_view stream, std::int64_t from, std::int64_t to,
                                           std::string_view checkpoint) {
  if (from < 0 || to <= from) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("stream {} cannot move from {} to {}: it moves forward from 0 on", quoted(stream), from, to));
  }
  Parameters values;
  values.text(stream).number(to).text(checkpoint);
  if (from > 0) values.number(from);
  const auto written = run_shared(from > 0 ? "stream_move" : "stream_create", values);
  if (!written) return fail(written.error());
  if (written->changed() == 1) return true;
  const auto found = run_shared("stream_read", Parameters().text(stream).text(checkpoint));
  if (!found) return fail(found.error());
  const std::int64_t position = found->rows() == 0 ? 0 : found->number(0, 0);
  if (position == to && found->truth(0, 1)) return false;
  return fail(
      ErrorCode::stream_conflict,
      fmt::format("stream {} stands at {}, not at {}: another sender has moved it", quoted(stream), position, from));
}

Result<std::vector<StreamRow>> PostgresqlConnection::streams(std::string_view prefix) {
  const auto answer = run_shared("streams", Parameters().text(prefix));
  if (!answer) return fail(answer.error());
  std::vector<StreamRow> rows;
  for (int row = 0; row < answer->rows(); ++row) {
    rows.push_back({std::string(answer->text(row, 0)), answer->number(row, 1), bytes_of(answer->text(row, 2))});
  }
  return rows;
}

Result<void> PostgresqlConnection::forget(std::string_view stream) {
  auto done = run_shared("stream_forget", Parameters().text(stream));
  if (!done) return fail(std::move(done.error()));
  return {};
}

}  // namespace splitcount::engine::postgresql
