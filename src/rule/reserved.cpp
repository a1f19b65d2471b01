// The reserved words: our own columns, and every word that a database refuses as the bare name of a table or a column.
//
// Composed from pg_get_keywords() of PostgreSQL 15 (reserved ones) with what 16 to 18 added, MySQL 8.0 and 8.4, MariaDB
// 10.6 and later, SQLite 3.40 (each keyword tried there), Transact-SQL, Oracle SQL and PL/SQL, and the words of ODBC.
// Left out: words that only ODBC or PL/SQL lists and that people do name columns after (day, hour, month, language,
// domain, section, views, type, ...), since every engine takes them.
#include <algorithm>
#include <array>
#include <string_view>

#include <rule/name.h>

namespace splitcount::rule {
namespace {

// clang-format off
constexpr auto reserved_words = std::to_array<std::string_view>({
    "absolute", "access", "accessible", "add", "all", "allocate", "alter", "amount", "analyse", "analyze", "and",
    "any", "are", "array", "as", "as_of", "asc", "asensitive", "assertion", "asymmetric", "at", "audit",
    "authorization", "autoincrement", "avg", "backup", "before", "begin", "between", "bigint", "binary", "bit",
    "bit_length", "blob", "both", "break", "browse", "bulk", "by", "call", "cascade", "cascaded", "case", "cast",
    "change", "char", "char_length", "character", "character_length", "check", "checkpoint", "close", "cluster",
    "clustered", "clusters", "cmax", "cmin", "coalesce", "colauth", "collate", "collation", "column", "comment",
    "commit", "compress", "compute", "concurrently", "condition", "connect", "constraint", "constraints", "contains",
    "containstable", "continue", "convert", "corresponding", "count", "counted", "counted_at", "crash", "create",
    "cross", "ctid", "cube", "cume_dist", "current", "current_catalog", "current_date", "current_role",
    "current_schema", "current_time", "current_timestamp", "current_user", "cursor", "database", "databases", "date",
    "day_hour", "day_microsecond", "day_minute", "day_second", "dbcc", "deallocate", "dec", "decimal", "declare",
    "default", "deferrable", "deferred", "delayed", "delete", "delete_domain_id", "deleted", "delta", "dense_rank",
    "deny", "desc", "describe", "descriptor", "deterministic", "diagnostics", "disconnect", "disk", "distinct",
    "distinctrow", "distributed", "div", "do", "do_domain_ids", "double", "drop", "dual", "dump", "each", "else",
    "elseif", "empty", "enclosed", "end", "errlvl", "escape", "escaped", "except", "exception", "excluded",
    "exclusive", "exec", "execute", "exists", "exit", "explain", "external", "extract", "false", "fetch", "file",
    "fillfactor", "first_value", "float", "float4", "float8", "for", "force", "foreign", "freetext", "freetexttable",
    "freeze", "from", "full", "fulltext", "function", "general", "generated", "get", "go", "goto", "grant", "group",
    "grouping", "groups", "having", "high_priority", "holdlock", "hour_microsecond", "hour_minute", "hour_second",
    "identified", "identity", "identity_insert", "identitycol", "if", "ignore", "ignore_domain_ids",
    "ignore_server_ids", "ilike", "immediate", "in", "include", "increment", "index", "indexes", "indicator",
    "infile", "initial", "initially", "inner", "inout", "insensitive", "insert", "inserted", "int", "int1", "int2",
    "int3", "int4", "int8", "integer", "intersect", "interval", "into", "io_after_gtids", "io_before_gtids", "is",
    "isnull", "isolation", "iterate", "join", "json_table", "key", "keys", "kill", "lag", "last_value", "lateral",
    "lead", "leading", "leave", "left", "level", "like", "limit", "linear", "lineno", "lines", "load", "localtime",
    "localtimestamp", "lock", "long", "longblob", "longtext", "loop", "low_priority", "lower", "manual",
    "master_bind", "master_heartbeat_period", "master_ssl_verify_server_cert", "match", "max", "maxextents",
    "maxvalue", "mediumblob", "mediumint", "mediumtext", "merge", "middleint", "min", "minus", "minute_microsecond",
    "minute_second", "mlslabel", "mod", "mode", "modifies", "modify", "n", "national", "natural", "nchar", "new",
    "no", "no_write_to_binlog", "noaudit", "nocheck", "nocompress", "nonclustered", "none", "not", "nothing",
    "notnull", "nowait", "nth_value", "ntile", "null", "nullif", "number", "numeric", "octet_length", "of", "off",
    "offline", "offset", "offsets", "oid", "old", "on", "online", "only", "open", "opendatasource", "openquery",
    "openrowset", "openxml", "optimize", "optimizer_costs", "option", "optionally", "or", "order", "out", "outer",
    "outfile", "over", "overlaps", "pad", "page_checksum", "parallel", "parse_vcol_expr", "partial", "partition",
    "pctfree", "percent", "percent_rank", "pivot", "placing", "plan", "precision", "prepare", "preserve", "primary",
    "print", "prior", "privileges", "proc", "procedure", "public", "purge", "qualify", "raise", "raiserror", "range",
    "rank", "raw", "read", "read_write", "reads", "readtext", "real", "reconfigure", "recursive", "ref_system_id",
    "references", "regexp", "relative", "release", "rename", "repeat", "replace", "replay", "replication",
    "request_id", "require", "resignal", "resource", "restore", "restrict", "return", "returning", "revert", "revoke",
    "right", "rlike", "rollback", "row", "row_number", "rowcount", "rowguidcol", "rowid", "rowlabel", "rownum",
    "rows", "rule", "save", "schema", "schemas", "scroll", "second_microsecond", "securityaudit", "select",
    "semantickeyphrasetable", "semanticsimilaritydetailstable", "semanticsimilaritytable", "sensitive", "separator",
    "session", "session_user", "set", "setuser", "share", "show", "shutdown", "signal", "similar", "size", "slot",
    "slow", "smallint", "some", "spatial", "specific", "splitcount", "sql", "sql_big_result", "sql_calc_found_rows",
    "sql_small_result", "sqlca", "sqlcode", "sqlerror", "sqlexception", "sqlstate", "sqlwarning", "ssl", "start",
    "starting", "statistics", "stats_auto_recalc", "stats_persistent", "stats_sample_pages", "stored",
    "straight_join", "substring", "subtype", "successful", "sum", "symmetric", "synonym", "sysdate", "system",
    "system_user", "tabauth", "table", "tableoid", "tablesample", "temporary", "terminated", "textsize", "then",
    "time", "timestamp", "timezone_hour", "timezone_minute", "tinyblob", "tinyint", "tinytext", "to", "top", "total",
    "trailing", "tran", "transaction", "translate", "translation", "trigger", "trim", "true", "truncate",
    "try_convert", "tsequal", "uid", "undo", "union", "unique", "unlock", "unpivot", "unsigned", "update",
    "updatetext", "upper", "usage", "use", "user", "using", "utc_date", "utc_time", "utc_timestamp", "validate",
    "value", "values", "varbinary", "varchar", "varchar2", "varcharacter", "variadic", "varying", "verbose", "view",
    "virtual", "waitfor", "when", "whenever", "where", "while", "window", "with", "within", "write", "writetext",
    "xmax", "xmin", "xor", "year_month", "zerofill"
});
// clang-format on
static_assert(std::is_sorted(reserved_words.begin(), reserved_words.end()), "it is searched by halves");

}  // namespace

bool is_reserved(std::string_view name) noexcept {
  return std::binary_search(reserved_words.begin(), reserved_words.end(), name);
}

}  // namespace splitcount::rule
