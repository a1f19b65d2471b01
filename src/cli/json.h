// Every JSON text that the command line writes; docs/cli.md shows one of each. Whole numbers are exact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <splitcount/add.h>
#include <splitcount/database.h>
#include <splitcount/error.h>

#include <copy/copy.h>
#include <intake/count.h>

namespace splitcount::cli {

/// A rule with what hangs on it in the database.
struct Description {
  CounterInfo counter;
  std::vector<std::string> objects;  ///< tables and views, by name
  std::vector<std::string> use;      ///< how SQL counts and reads, a line each
  std::int64_t keys = 0;
  std::optional<Total> total{};      ///< over all keys; unset where it leaves 64 bits
};

/// What one run of count did.
struct CountSummary {
  struct File {
    std::string path;
    intake::CountReport report;
  };
  std::string counter;
  std::string field;
  std::string key_column;
  bool defined = false;  ///< the counter was missing
  std::vector<File> files;
  double seconds = 0;
  std::optional<Total> total{};  ///< these three as the database has them afterwards
  std::int64_t keys = 0;
  std::vector<Total> top;
  std::optional<Error> error{};  ///< why it stopped
  bool stopped = false;          ///< by a signal

  [[nodiscard]] std::uint64_t lines_read() const;
  [[nodiscard]] std::uint64_t lines_counted() const;
  [[nodiscard]] std::uint64_t lines_rejected() const;
  [[nodiscard]] std::int64_t lines_per_second() const;
};

[[nodiscard]] std::uint64_t rejected(const intake::CountReport& report);

[[nodiscard]] std::string error_json(const Error& error);
[[nodiscard]] std::string defined_json(std::string_view counter, const Rule& rule, const Defined& what);
[[nodiscard]] std::string list_json(std::span<const CounterInfo> counters);
[[nodiscard]] std::string description_json(const Description& description);
[[nodiscard]] std::string added_json(std::string_view counter, const std::optional<std::string>& key, std::int64_t amount,
                                     const Added& added);
[[nodiscard]] std::string total_json(std::string_view counter, const Total& total);
[[nodiscard]] std::string totals_json(std::string_view counter, std::span<const Total> totals);
[[nodiscard]] std::string slots_json(std::span<const Slot> slots);
[[nodiscard]] std::string summary_json(const CountSummary& summary);
[[nodiscard]] std::string status_json(std::string_view database, const Status& status);
[[nodiscard]] std::string maintained_json(std::span<const Maintained> counters);
[[nodiscard]] std::string script_json(std::string_view counter, std::string_view dialect, std::string_view script);
[[nodiscard]] std::string copied_json(std::string_view from, std::string_view to, std::span<const copy::Report> reports);
[[nodiscard]] std::string opened_json(std::string_view counter, bool opened);
[[nodiscard]] std::string dropped_json(std::string_view counter);
[[nodiscard]] std::string uninstalled_json();

}  // namespace splitcount::cli
