// The verbs, one file each.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/error.h>
#include <splitcount/rule.h>

#include <cli/app.h>

namespace splitcount::cli {

[[nodiscard]] Verb define_verb();
[[nodiscard]] Verb list_verb();
[[nodiscard]] Verb describe_verb();
[[nodiscard]] Verb add_verb();
[[nodiscard]] Verb total_verb();
[[nodiscard]] Verb slots_verb();
[[nodiscard]] Verb top_verb();
[[nodiscard]] Verb count_verb();
[[nodiscard]] Verb status_verb();
[[nodiscard]] Verb compare_verb();
[[nodiscard]] Verb advise_verb();
[[nodiscard]] Verb inspect_verb();
[[nodiscard]] Verb doctor_verb();
[[nodiscard]] Verb maintain_verb();
[[nodiscard]] Verb copy_verb();
[[nodiscard]] Verb open_verb();
[[nodiscard]] Verb sql_verb();
[[nodiscard]] Verb drop_verb();
[[nodiscard]] Verb uninstall_verb();

// --- What several verbs share

/// The options of a rule, for define and sql define.
void declare_rule(Command& command);
[[nodiscard]] Result<RuleOptions> read_rule(const Command& command);
/// The keys of define and sql define, from the argument `first` on, each checked.
[[nodiscard]] Result<std::vector<std::string>> read_keys(const Command& command, std::size_t first);
/// The counter's name at that place of the arguments, checked.
[[nodiscard]] Result<std::string> read_name(const Command& command, std::size_t at = 0);
/// The error says that the command line itself is wrong, whatever the database holds.
[[nodiscard]] bool is_about_the_rule(const Error& error) noexcept;

/// For verbs that remove: --yes, or somebody to ask at a terminal.
void declare_yes(Command& command);
/// Whether --yes was given. Error: invalid_argument, where it was not and nobody can be asked.
[[nodiscard]] Result<bool> read_yes(const Command& command, std::string_view what);
/// Asks at the terminal.
[[nodiscard]] bool is_confirmed(std::string_view question);

}  // namespace splitcount::cli
