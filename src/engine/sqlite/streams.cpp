#include <fmt/format.h>

#include <base/text.h>
#include <engine/sqlite/connection.h>

namespace splitcount::engine::sqlite {

Result<bool> SqliteConnection::advance(std::string_view stream, std::int64_t from, std::int64_t to,
                                       std::string_view checkpoint) {
  if (from < 0 || to <= from) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("stream {} cannot move from {} to {}: it moves forward from 0 on", quoted(stream), from, to));
  }
  auto look = statements_.shared("stream_read");
  if (!look) return fail(explained(std::move(look.error()), nullptr));
  Query found(*look);
  const auto row = found.bind(1, stream).next();
  if (!row) return fail(explained(row.error(), nullptr));
  const std::int64_t position = *row ? found.number(0) : 0;
  if (*row && position == to && found.blob(1) == checkpoint) return false;
  if (position != from) {
    return fail(
        ErrorCode::stream_conflict,
        fmt::format("stream {} stands at {}, not at {}: another sender has moved it", quoted(stream), position, from));
  }
  auto write = statements_.shared("stream_write");
  if (!write) return fail(explained(std::move(write.error()), nullptr));
  auto written = Query(*write).bind(1, stream).bind(2, to).bind_blob(3, checkpoint).run();
  if (!written) return fail(explained(std::move(written.error()), nullptr));
  return true;
}

Result<std::vector<StreamRow>> SqliteConnection::streams(std::string_view prefix) {
  auto statement = statements_.shared("streams");
  if (!statement) return fail(explained(std::move(statement.error()), nullptr));
  Query query(*statement);
  query.bind(1, prefix);
  std::vector<StreamRow> rows;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), nullptr));
    if (!*row) return rows;
    rows.push_back({std::string(query.text(0)), query.number(1), std::string(query.blob(2))});
  }
}

Result<void> SqliteConnection::forget(std::string_view stream) {
  auto statement = statements_.shared("stream_forget");
  if (!statement) return fail(explained(std::move(statement.error()), nullptr));
  auto done = Query(*statement).bind(1, stream).run();
  if (!done) return fail(explained(std::move(done.error()), nullptr));
  return {};
}

}  // namespace splitcount::engine::sqlite
