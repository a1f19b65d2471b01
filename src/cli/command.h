// One verb's arguments and options: CLI11 keeps the options and writes the help; what stands on the line is taken
// apart here first, because CLI11 2.1 changes values on their way: "[a,b]" becomes two, "{}" none, "--by=" takes the
// next word, and a key that is named like a verb starts one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/error.h>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace splitcount::cli {

class Command {
 public:
  /// `name` as it is typed, e.g. "splitcount add".
  Command(std::string name, std::string_view description);
  Command(Command&&) noexcept;
  Command& operator=(Command&&) noexcept;
  ~Command();

  // --- What it takes
  /// A word by its place. `most`: how many of them; only the last argument may take more than one.
  void argument(std::string_view name, std::string_view text, std::size_t least = 1, std::size_t most = 1);
  /// `names` as CLI11 writes them: "--by" or "-n,--number".
  void option(std::string_view names, std::string_view value_name, std::string_view text);
  void flag(std::string_view names, std::string_view text);
  /// Further options stand under this heading in the help.
  void heading(std::string_view text);
  /// Shown at the end of the help.
  void footer(std::string_view text);

  // --- What stood on the line
  /// Every value is taken as it stands. Error: invalid_argument.
  [[nodiscard]] Result<void> parse(std::span<const std::string> words);
  /// The same up to the first word that is no option; how many words that were.
  [[nodiscard]] Result<std::size_t> parse_leading_options(std::span<const std::string> words);
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }
  /// The last of the arguments, those after `first`.
  [[nodiscard]] std::span<const std::string> arguments_from(std::size_t first) const;

  [[nodiscard]] std::string help() const;

 private:
  struct Argument {
    std::string name;
    std::size_t least;
    std::size_t most;
  };

  [[nodiscard]] Result<std::size_t> take_option(std::span<const std::string> words, std::vector<std::string>& taken,
                                                std::set<std::string>& seen) const;
  [[nodiscard]] Result<void> hand_over(std::vector<std::string> taken);
  [[nodiscard]] Result<void> check_arguments() const;
  [[nodiscard]] Error unknown_option(std::string_view word) const;
  [[nodiscard]] std::string usage() const;

  std::string name_;
  std::string heading_ = "Options";
  std::unique_ptr<CLI::App> app_;
  std::vector<Argument> expected_;
  std::vector<std::string> arguments_;
};

}  // namespace splitcount::cli
