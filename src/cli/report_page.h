// The page of a report, embedded from web/report.html.
#pragma once

#include <string_view>

namespace splitcount::cli {

/// {{nonce}} stands where the page allows its own style and script, {{raw}} where the numbers go.
extern const std::string_view report_page;

}  // namespace splitcount::cli
