#include <measure/pages.h>

#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <base/clock.h>
#include <base/text.h>
#include <engine/engine.h>
#include <engine/statements.h>
#include <measure/cells.h>

namespace splitcount::measure {
namespace {

constexpr std::chrono::seconds connect_max{10};
constexpr std::chrono::minutes answer_max{10};  // a table of millions of keys is read as a whole

std::string question(std::string_view dialect, const engine::StoredCounter& counter, bool has_key) {
  const auto& column = counter.rule.key;
  const std::array<engine::Placeholder, 1> name{engine::Placeholder{"key", column.value_or("")}};
  const std::array<engine::Placeholder, 4> values{
      engine::Placeholder{"schema", counter.schema}, engine::Placeholder{"counter", counter.name},
      engine::Placeholder{"key_list", column ? *column + ", " : std::string()},
      engine::Placeholder{"of_key",
                          has_key ? engine::fill(engine::statement(dialect, "inspect_of_key"), name) : std::string()}};
  return engine::fill(engine::statement(dialect, "inspect_pages"), values);
}

}  // namespace

Result<SlotPages> look_at_pages(const Target& target, const std::string& counter, const std::string& key) {
  auto& engine = target.engine();
  auto connection = engine.connect(false, deadline_in(connect_max));
  if (!connection) return fail(std::move(connection.error()));
  auto stored = (*connection)->find(counter);
  if (!stored) return fail(std::move(stored.error()));
  if (!*stored) return fail(ErrorCode::unknown_counter, fmt::format("there is no counter {}", quoted(counter)));
  auto console = engine.console(deadline_in(connect_max));
  if (!console) return fail(std::move(console.error()));
  (*console)->set_deadline(deadline_in(answer_max));
  std::vector<std::string> values;
  if (!key.empty()) values.push_back(key);
  auto rows = (*console)->ask(question(engine.dialect(), **stored, !key.empty()), values);
  if (!rows) return fail(std::move(rows.error()));
  const auto& row = rows->front();
  SlotPages pages;
  pages.counter = counter;
  if (!key.empty()) pages.key = key;
  pages.layout = (*stored)->rule.layout;
  pages.slots = number_of(row[0]);
  if (pages.slots == 0) return pages;
  pages.pages = number_of(row[1]);
  pages.page_bytes = number_of(row[2]);
  pages.table_bytes = number_of(row[3]);
  pages.index_bytes = number_of(row[4]);
  pages.slot_bytes_compact = number_of(row[5]);
  pages.slot_bytes = pages.layout == Layout::padded ? pages.pages * pages.page_bytes / pages.slots : pages.slot_bytes_compact;
  return pages;
}

}  // namespace splitcount::measure
