#include <engine/postgresql/quote.h>

#include <algorithm>
#include <array>

namespace splitcount::engine::postgresql {
namespace {

bool is_plain(std::string_view name) {
  const auto begins = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto goes_on = [begins](char c) { return begins(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && begins(name.front()) && std::all_of(name.begin(), name.end(), goes_on);
}

/// Words that may name a column but not a function's parameter (pg_get_keywords(), the categories C and T). Words that are
/// reserved altogether are refused before they come here.
bool is_special(std::string_view name) {
  constexpr auto words = std::to_array<std::string_view>(
      {"authorization", "between",    "bigint",       "binary",    "bit",         "boolean",       "char",      "character",
       "coalesce",      "collation",  "concurrently", "cross",     "current_schema", "dec",        "decimal",   "exists",
       "extract",       "float",      "freeze",       "full",      "greatest",    "grouping",      "ilike",     "inner",
       "inout",         "int",        "integer",      "interval",  "is",          "isnull",        "join",      "json",
       "json_array",    "json_arrayagg", "json_exists", "json_object", "json_objectagg", "json_query", "json_scalar", "json_serialize",
       "json_table",    "json_value", "least",        "left",      "like",        "merge_action",  "national",  "natural",
       "nchar",         "none",       "normalize",    "notnull",   "nullif",      "numeric",       "out",       "outer",
       "overlaps",      "overlay",    "position",     "precision", "real",        "right",         "row",       "setof",
       "similar",       "smallint",   "substring",    "tablesample", "time",      "timestamp",     "treat",     "trim",
       "values",        "varchar",    "verbose",      "xmlattributes", "xmlconcat", "xmlelement",  "xmlexists", "xmlforest",
       "xmlnamespaces", "xmlparse",   "xmlpi",        "xmlroot",   "xmlserialize", "xmltable"});
  return std::find(words.begin(), words.end(), name) != words.end();
}

std::string doubled(std::string_view text, std::string_view marks) {
  std::string out;
  for (const char c : text) {
    if (marks.find(c) != std::string_view::npos) out += c;
    out += c;
  }
  return out;
}

}  // namespace

std::string quote_name(std::string_view name) {
  return is_plain(name) && !is_special(name) ? std::string(name) : '"' + doubled(name, "\"") + '"';
}

std::string quote_text(std::string_view text) {
  const bool escapes = text.find('\\') != std::string_view::npos;
  return escapes ? "E'" + doubled(text, "'\\") + '\'' : '\'' + doubled(text, "'") + '\'';
}

void append_element(std::string& array, std::string_view text) {
  if (array.size() > 1) array += ',';
  array += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') array += '\\';
    array += c;
  }
  array += '"';
}

std::string array_of(std::span<const std::string> texts) {
  std::string array = "{";
  for (const auto& text : texts) append_element(array, text);
  return array + "}";
}

}  // namespace splitcount::engine::postgresql
