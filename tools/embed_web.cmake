# Turns web/report.html into a C++ source.
cmake_minimum_required(VERSION 3.25)

file(READ ${PAGE} whole)
file(WRITE ${OUTPUT}.new "// Made by tools/embed_web.cmake from web/; do not edit.
#include <cli/report_page.h>
namespace splitcount::cli {
const std::string_view report_page = R\"webtext(${whole})webtext\";
}  // namespace splitcount::cli
")
file(RENAME ${OUTPUT}.new ${OUTPUT})
