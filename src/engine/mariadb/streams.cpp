#include <fmt/format.h>

#include <base/text.h>
#include <engine/mariadb/connection.h>
#include <engine/mariadb/counter_sql.h>

namespace splitcount::engine::mariadb {

/// It is written first and looked at only where nothing was: whoever holds the stream is waited for, and then it stands
/// elsewhere.
Result<bool> MariadbConnection::advance(std::string_view stream, std::int64_t from, std::int64_t to,
                                        std::string_view checkpoint) {
  if (from < 0 || to <= from) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("stream {} cannot move from {} to {}: it moves forward from 0 on", quoted(stream), from, to));
  }
  const auto written = from > 0 ? change(shared_sql("stream_move"),
                                         Values().number(to).text(checkpoint).text(stream).number(from))
                                : change(shared_sql("stream_create"), Values().text(stream).number(to).text(checkpoint));
  if (!written) return fail(written.error());
  if (*written == 1) return true;
  const auto found = run_shared("stream_read", Values().text(checkpoint).text(stream));
  if (!found) return fail(found.error());
  const std::int64_t position = found->rows() == 0 ? 0 : found->number(0, 0);
  if (position == to && found->truth(0, 1)) return false;
  return fail(
      ErrorCode::stream_conflict,
      fmt::format("stream {} stands at {}, not at {}: another sender has moved it", quoted(stream), position, from));
}

Result<std::vector<StreamRow>> MariadbConnection::streams(std::string_view prefix) {
  const auto answer = run_shared("streams", Values().text(prefix).text(prefix));
  if (!answer) return fail(answer.error());
  std::vector<StreamRow> rows;
  for (int row = 0; row < answer->rows(); ++row) {
    rows.push_back({std::string(answer->text(row, 0)), answer->number(row, 1), std::string(answer->text(row, 2))});
  }
  return rows;
}

Result<void> MariadbConnection::forget(std::string_view stream) {
  auto done = run_shared("stream_forget", Values().text(stream));
  if (!done) return fail(std::move(done.error()));
  return {};
}

}  // namespace splitcount::engine::mariadb
