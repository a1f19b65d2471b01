// What count says when it is done.
#pragma once

#include <string>

#include <cli/app.h>
#include <cli/json.h>

namespace splitcount::cli {

/// For people; summary_json is for programs.
[[nodiscard]] std::string count_report(const CountSummary& summary, const Session& session);

}  // namespace splitcount::cli
