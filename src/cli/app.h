// The command line: global options, verbs, exit codes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <splitcount/database.h>
#include <splitcount/error.h>

#include <cli/command.h>
#include <cli/config.h>
#include <cli/output.h>

namespace splitcount::cli {

/// What the shell sees. docs/cli.md explains each.
enum class ExitCode : int {
  done = 0,
  failed = 1,      ///< and nothing was changed
  usage = 2,       ///< what was asked cannot be right; seen without opening a database
  difference = 3,  ///< a check found one, or work is overdue
  unknown = 4,     ///< whether it was done
  partial = 5,     ///< stopped part-way: run it again
};

/// One run of one verb.
struct Session {
  Output& out;
  Dsn dsn;
  Database* database = nullptr;  ///< opened lazily: nothing is touched before the first operation; null: none is needed
  std::string command_line{};    ///< as it was typed
  bool changed = false;          ///< set when something was committed: from then on exit 1 would be untrue

  /// "splitcount" or "splitcount --db DSN", for a command to type next.
  [[nodiscard]] std::string command() const;
  /// The DSN as it may be shown.
  [[nodiscard]] std::string database_name() const;
};

/// What a verb does once its arguments are known to be right.
using Action = std::function<Result<ExitCode>(Session&)>;

struct Verb {
  std::string_view name;
  std::string_view summary;      ///< one line, for the list of verbs
  std::string_view description;  ///< for its help, above the options
  std::string_view examples;     ///< lines that can be typed
  void (*declare)(Command& command);
  /// Everything that is wrong without a database is found here.
  Result<Action> (*read)(const Command& command);
  bool needs_database = true;
};

/// Runs one command line, without the program's name. The exit code.
[[nodiscard]] int run(std::span<const std::string> words);

}  // namespace splitcount::cli
