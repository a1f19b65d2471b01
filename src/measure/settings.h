// What of the database's settings belongs to a measurement.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <splitcount/error.h>

#include <measure/target.h>

namespace splitcount::engine {
class Console;
}

namespace splitcount::measure {

/// Name and value, in the order of their names.
using Settings = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] Result<Settings> settings_of(engine::Console& console, std::string_view dialect);
/// By a connection of its own. Error: database_unavailable, also where a file is not there yet.
[[nodiscard]] Result<Settings> settings_of(const Target& target);

}  // namespace splitcount::measure
