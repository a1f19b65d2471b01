// --report FILE.html: what a verb that measures says in JSON, as a page that needs nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <splitcount/error.h>

#include <cli/command.h>

namespace splitcount::cli {

void declare_report(Command& command);
/// The file of --report, if one is asked for. Error: invalid_argument, where it is no name of a page.
[[nodiscard]] Result<std::optional<std::string>> read_report(const Command& command);

/// Before minutes of work: can that file be written? Nothing is left behind. Error: io_error.
[[nodiscard]] Result<void> check_report(const std::optional<std::string>& path);
/// Writes the page that shows `json`, whole or not at all: until it is done, the file of that name is the earlier one or
/// none. Errors: io_error, disk_full.
[[nodiscard]] Result<void> write_report(const std::string& path, const std::string& json);
/// The same where one is asked for, with what came of it told on standard error. False: it could not be written.
[[nodiscard]] bool is_reported(const std::optional<std::string>& path, const std::string& json);

/// The page that shows `json`, which may hold names of others: none of them can become more than text.
/// `nonce`: letters and digits that nobody can know beforehand.
[[nodiscard]] std::string report_of_json(const std::string& json, std::string_view nonce);

}  // namespace splitcount::cli
