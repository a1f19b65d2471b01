// What to do about a row that a statement counts in.
#pragma once

#include <string>
#include <string_view>

#include <measure/doctor.h>
#include <measure/increment.h>

namespace splitcount::measure {

/// `table`: quoted for SQL, with its schema. `is_one_row`: the table's only one.
[[nodiscard]] Remedy remedy_for(std::string_view dialect, std::string_view table_name, const std::string& table,
                                const Increment& increment, bool is_one_row);

}  // namespace splitcount::measure
