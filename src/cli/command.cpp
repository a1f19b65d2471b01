#include <cli/command.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <base/text.h>

namespace splitcount::cli {
namespace {

/// "-" alone is standard input, and no option.
bool looks_like_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

/// CLI11's help with our own usage line, and without blank lines in a row.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {
    column_width(30);
    label("Positionals", "Arguments");
  }
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "\nUsage: " + usage_ + "\n";
  }

 private:
  std::string usage_;
};

}  // namespace

Command::Command(std::string name, std::string_view description)
    : name_(std::move(name)), app_(std::make_unique<CLI::App>(std::string(description), name_)) {
  app_->set_help_flag();
}
Command::Command(Command&&) noexcept = default;
Command& Command::operator=(Command&&) noexcept = default;
Command::~Command() = default;

void Command::argument(std::string_view name, std::string_view text, std::size_t least, std::size_t most) {
  assert(expected_.empty() || expected_.back().most == 1);
  expected_.push_back({std::string(name), least, most});
  app_->add_option(std::string(name), CLI::callback_t{}, std::string(text))->option_text(" ");
}

void Command::option(std::string_view names, std::string_view value_name, std::string_view text) {
  app_->add_option(std::string(names), CLI::callback_t{}, std::string(text))
      ->type_name(std::string(value_name))
      ->group(heading_);
}

void Command::flag(std::string_view names, std::string_view text) {
  app_->add_flag(std::string(names), [](std::int64_t /*count*/) {}, std::string(text))->group(heading_);
}

void Command::heading(std::string_view text) { heading_ = text; }

void Command::footer(std::string_view text) { app_->footer(std::string(text)); }

Result<void> Command::parse(std::span<const std::string> words) {
  std::vector<std::string> taken;
  std::set<std::string> seen;
  bool options_ended = false;
  for (std::size_t at = 0; at < words.size();) {
    if (options_ended || !looks_like_option(words[at])) {
      arguments_.push_back(words[at++]);
    } else if (words[at] == "--") {
      options_ended = true;
      ++at;
    } else {
      auto used = take_option(words.subspan(at), taken, seen);
      if (!used) return fail(std::move(used).error());
      at += *used;
    }
  }
  if (auto handed = hand_over(std::move(taken)); !handed) return handed;
  return has("--help") ? Result<void>{} : check_arguments();
}

Result<std::size_t> Command::parse_leading_options(std::span<const std::string> words) {
  std::vector<std::string> taken;
  std::set<std::string> seen;
  std::size_t at = 0;
  while (at < words.size() && looks_like_option(words[at]) && words[at] != "--") {
    auto used = take_option(words.subspan(at), taken, seen);
    if (!used) return used;
    at += *used;
  }
  if (auto handed = hand_over(std::move(taken)); !handed) return fail(std::move(handed).error());
  return at;
}

/// The option at the front of `words` as CLI11 takes it: its name, then its value as a word of its own. How many words.
Result<std::size_t> Command::take_option(std::span<const std::string> words, std::vector<std::string>& taken,
                                         std::set<std::string>& seen) const {
  const std::string_view word = words.front();
  const bool is_long = word.starts_with("--");
  const auto name_end = is_long ? word.find('=') : (word.size() > 2 ? 2 : std::string_view::npos);
  const std::string name(word.substr(0, name_end));
  const CLI::Option* option = app_->get_option_no_throw(name);
  if (option == nullptr || option->get_positional()) return fail(unknown_option(name));
  const bool has_value = name_end != std::string_view::npos;
  if (option->get_expected_max() == 0) {
    if (has_value) return fail(ErrorCode::invalid_argument, fmt::format("{} takes no value", name));
    if (seen.insert(option->get_name()).second) taken.push_back(name);
    return std::size_t{1};
  }
  if (!seen.insert(option->get_name()).second)
    return fail(ErrorCode::invalid_argument, fmt::format("{} is given twice; give it once", name));
  if (!has_value && words.size() == 1)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} needs a value: {} {}", name, name, option->get_type_name()));
  taken.push_back(name);
  taken.emplace_back(has_value ? std::string(word.substr(name_end + (is_long ? 1 : 0))) : words[1]);
  return std::size_t{has_value ? 1U : 2U};
}

Result<void> Command::hand_over(std::vector<std::string> taken) {
  std::reverse(taken.begin(), taken.end());
  try {
    app_->parse(std::move(taken));
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::invalid_argument, fmt::format("the command line is not understood ({})", error.what()));
  }
  return {};
}

Result<void> Command::check_arguments() const {
  std::size_t most = 0;
  for (const auto& argument : expected_) {
    if (argument.least > 0 && arguments_.size() < most + argument.least)
      return fail(ErrorCode::invalid_argument, fmt::format("{} is missing: {}", argument.name, usage()));
    most = argument.most > SIZE_MAX - most ? SIZE_MAX : most + argument.most;
  }
  if (arguments_.size() > most)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is one word too many: {}", splitcount::quoted(arguments_[most]), usage()));
  return {};
}

Error Command::unknown_option(std::string_view word) const {
  std::vector<std::string> names;
  for (const CLI::Option* option : std::as_const(*app_).get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  Error error;
  error.code = ErrorCode::invalid_argument;
  // Unqualified, the call would find std::quoted, which CLI11 brings in.
  error.message = fmt::format("{} has no option {}", name_, splitcount::quoted(word));
  const bool is_number = word.size() > 1 && word[1] >= '0' && word[1] <= '9';
  if (const auto near = nearest(word, names); !near.empty()) {
    error.message += fmt::format("; did you mean {}?", near);
  } else if (is_number && app_->get_option_no_throw("--by") != nullptr) {
    error.message += "; an amount stands after --by, and a key that begins with a dash after --";
  } else if (expected_.size() > 1 || (!expected_.empty() && expected_.back().most > 1)) {
    error.message += "; a word that begins with a dash and is no option stands after --";
  } else {
    error.message += fmt::format("; {} --help shows what there is", name_);
  }
  return error;
}

bool Command::has(std::string_view name) const { return app_->get_option(std::string(name))->count() > 0; }

std::optional<std::string> Command::value(std::string_view name) const {
  const CLI::Option* option = app_->get_option(std::string(name));
  if (option->count() == 0) return std::nullopt;
  return option->results().front();
}

std::span<const std::string> Command::arguments_from(std::size_t first) const {
  return std::span(arguments_).subspan(std::min(first, arguments_.size()));
}

std::string Command::usage() const {
  std::string line = name_;
  for (const auto& argument : expected_) {
    const auto name = argument.name + (argument.most > 1 ? "..." : "");
    line += argument.least > 0 ? " " + name : " [" + name + "]";
  }
  return line + " [options]";
}

std::string Command::help() const {
  app_->formatter(std::make_shared<HelpFormatter>(usage()));
  std::string text = app_->help();
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at)) text.erase(at, 1);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace splitcount::cli
