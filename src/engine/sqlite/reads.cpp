#include <fmt/format.h>

#include <base/text.h>
#include <engine/sqlite/connection.h>

namespace splitcount::engine::sqlite {
namespace {

/// The columns of every statement that sums: the total in two halves, the rows, the clock in milliseconds.
Result<Total> read_total(const Query& row, const StoredCounter& counter, std::optional<std::string> key) {
  constexpr std::int64_t half = std::int64_t{1} << 32;
  const std::int64_t high = row.number(0);
  const std::int64_t low = row.number(1);
  if (high < -(half / 2) || high > half / 2 - 1) {
    return fail(ErrorCode::out_of_range,
                fmt::format("the total of {}{} is outside signed 64 bits; its slots can be read one by one",
                            quoted(counter.name), key ? fmt::format(" for {}", quoted(*key)) : std::string()));
  }
  Total total;
  total.key = std::move(key);
  total.total = high * half + low;
  total.slots = row.number(2);
  total.as_of = Instant(std::chrono::milliseconds(row.number(3)));
  return total;
}

/// A JSON array of texts, for json_each. Keys are UTF-8 without NUL.
std::string json_array(std::span<const std::string> texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    out += '"';
    for (const char c : text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
    }
    out += '"';
  }
  return out + "]";
}

std::string durability_of(std::string_view journal_mode) {
  if (journal_mode == "wal") return "synced WAL commit";
  if (journal_mode == "off" || journal_mode == "memory") return "not crash-proof: there is no journal on disk";
  return fmt::format("synced rollback-journal commit ({})", journal_mode);
}

}  // namespace

Result<std::optional<Total>> SqliteConnection::total(const StoredCounter& counter,
                                                     std::optional<std::string_view> key) {
  auto statement = statements_.of(counter, key ? "total_of_key" : "total");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  if (key) query.bind(1, *key);
  const auto row = query.next();
  if (!row) return fail(explained(row.error(), &counter));
  if (query.number(2) == 0) return std::optional<Total>{};
  auto total = read_total(query, counter, key ? std::optional(std::string(*key)) : std::nullopt);
  if (!total) return fail(std::move(total.error()));
  return std::optional(std::move(*total));
}

Result<std::vector<Total>> SqliteConnection::totals(const StoredCounter& counter, std::span<const std::string> keys) {
  auto statement = statements_.of(counter, "totals");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  const std::string wanted = json_array(keys);
  Query query(*statement);
  query.bind(1, std::string_view(wanted));
  std::vector<Total> totals;
  totals.reserve(keys.size());
  for (const auto& key : keys) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), &counter));
    if (!*row) return fail(ErrorCode::internal, fmt::format("no total came back for {}", quoted(key)));
    auto total = read_total(query, counter, key);
    if (!total) return fail(std::move(total.error()));
    totals.push_back(std::move(*total));
  }
  return totals;
}

Result<std::vector<Total>> SqliteConnection::top(const StoredCounter& counter, int n) {
  if (!counter.rule.key) {
    std::vector<Total> totals;
    auto only = total(counter, std::nullopt);
    if (!only) return fail(std::move(only.error()));
    if (*only && n > 0) totals.push_back(std::move(**only));
    return totals;
  }
  auto statement = statements_.of(counter, "top");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  query.bind(1, n);
  return read_totals_by_key(query, counter);
}

/// The key stands behind what every sum has.
Result<std::vector<Total>> SqliteConnection::read_totals_by_key(Query& query, const StoredCounter& counter) {
  std::vector<Total> totals;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), &counter));
    if (!*row) return totals;
    auto total = read_total(query, counter, std::string(query.text(4)));
    if (!total) return fail(std::move(total.error()));
    totals.push_back(std::move(*total));
  }
}

Result<std::vector<Total>> SqliteConnection::totals_after(const StoredCounter& counter, std::string_view after, int count) {
  auto statement = statements_.of(counter, "totals_after");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  query.bind(1, after).bind(2, count);
  return read_totals_by_key(query, counter);
}

Result<std::vector<Slot>> SqliteConnection::slots(const StoredCounter& counter, std::string_view key) {
  auto statement = statements_.of(counter, counter.rule.key ? "slots_of_key" : "slots");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  if (counter.rule.key) query.bind(1, key);
  std::vector<Slot> slots;
  for (;;) {
    const auto row = query.next();
    if (!row) return fail(explained(row.error(), &counter));
    if (!*row) return slots;
    slots.push_back({static_cast<int>(query.number(0)), query.number(1)});
  }
}

Result<std::int64_t> SqliteConnection::keys(const StoredCounter& counter) {
  if (!counter.rule.key) return 0;
  auto statement = statements_.of(counter, "keys");
  if (!statement) return fail(explained(std::move(statement.error()), &counter));
  Query query(*statement);
  const auto row = query.next();
  if (!row) return fail(explained(row.error(), &counter));
  return query.number(0);
}

Result<Status> SqliteConnection::status() {
  Status status;
  status.engine = "sqlite";
  status.engine_version = sqlite3_libversion();
  const auto version = schema_version();
  if (!version) return fail(version.error());
  status.schema_version = *version;
  const auto size = number("size_bytes");
  if (!size) return fail(size.error());
  status.size_bytes = *size;
  const auto mode = word("journal_mode");
  if (!mode) return fail(mode.error());
  status.durability = durability_of(*mode);
  if (*mode == "off" || *mode == "memory") {
    status.warnings.push_back(
        fmt::format("journal_mode is {}: a crash can damage this database; set it to wal", *mode));
  } else if (*mode != "wal") {
    status.warnings.push_back(fmt::format(
        "journal_mode is {}: readers and the writer wait for each other; setting it to wal ends that", *mode));
  }
  if (is_read_only()) {
    status.warnings.emplace_back("the database can be read but not written here");
  }
  return status;
}

}  // namespace splitcount::engine::sqlite
