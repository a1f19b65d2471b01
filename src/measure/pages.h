// On how many pages of the database the slots of a key lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <splitcount/error.h>
#include <splitcount/rule.h>

#include <measure/target.h>

namespace splitcount::measure {

struct SlotPages {
  std::string counter;
  std::optional<std::string> key;
  Layout layout = Layout::compact;
  std::int64_t slots = 0;          ///< rows; 0: none yet, and what follows is 0, too
  std::int64_t pages = 0;          ///< that hold one of them
  std::int64_t page_bytes = 0;
  std::int64_t table_bytes = 0;    ///< of all keys, without indexes
  std::int64_t index_bytes = 0;    ///< 0 where the rows lie in the index
  std::int64_t slot_bytes = 0;     ///< that a slot takes: padded its page, else its row with its part of the free space
  std::int64_t slot_bytes_compact = 0;  ///< that it takes or would take in the layout compact
};

/// One statement, which reads the whole table of slots. `key`: empty for a counter without one. Errors:
/// unknown_counter, permission_denied, ...
[[nodiscard]] Result<SlotPages> look_at_pages(const Target& target, const std::string& counter, const std::string& key);

}  // namespace splitcount::measure
