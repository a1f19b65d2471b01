// One counter on its way from one database to another.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <copy/copy.h>
#include <copy/state.h>
#include <counter/store.h>
#include <engine/engine.h>

namespace splitcount::copy {

/// Keys in byte order with their totals; a counter without a key has the empty one.
struct Page {
  std::vector<std::string> keys;
  std::vector<std::int64_t> totals;
  bool is_last = true;
};

class Mover {
 public:
  /// `state`: as the target has it. `target_rule`: of the counter there, where it is to be created.
  Mover(counter::Store& from, counter::Store& to, engine::StoredCounter source, State state, Rule target_rule,
        const Options& options, std::function<bool()> go_on, Report& report);

  /// Copies, closes where that is asked for, and compares. False: it was stopped.
  [[nodiscard]] Result<bool> move();

 private:
  using Body = std::function<Result<void>(engine::Connection&, const engine::StoredCounter&)>;

  [[nodiscard]] Result<bool> copy_all();
  /// Totals behind state_.after, then request ids, then files.
  [[nodiscard]] Result<bool> pass();
  [[nodiscard]] Result<bool> pass_totals();
  [[nodiscard]] Result<bool> pass_requests();
  [[nodiscard]] Result<void> pass_files();
  [[nodiscard]] Result<bool> close_source();
  [[nodiscard]] Result<bool> compare();
  [[nodiscard]] Result<void> compare_page(const Page& page);
  [[nodiscard]] Result<bool> look_for_keys_of_its_own(std::int64_t source_keys);
  [[nodiscard]] Result<bool> compare_requests();
  [[nodiscard]] Result<void> compare_files();
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] Result<Page> read_page(counter::Store& store, const engine::StoredCounter& counter, std::string_view after);
  [[nodiscard]] Result<std::vector<engine::StreamRow>> files_of(counter::Store& store);
  /// True where the target holds what the page says.
  [[nodiscard]] Result<bool> holds(const Page& page);
  /// How many keys it had to write.
  [[nodiscard]] Result<std::int64_t> write_page(engine::Connection& connection, const engine::StoredCounter& target,
                                                const Page& page);
  /// One transaction at the target: it moves the stream to `next`, creates the counter where it is the first, and does
  /// `body`.
  [[nodiscard]] Result<void> write(State next, const Body& body = {});
  [[nodiscard]] Result<void> prepare(engine::Connection& connection);
  [[nodiscard]] Result<engine::StoredCounter> find_target(engine::Connection& connection);
  void note(std::string_view key, std::optional<std::int64_t> here, std::optional<std::int64_t> there);
  void tell(std::string_view doing, std::int64_t keys) const;

  counter::Store& from_;
  counter::Store& to_;
  engine::StoredCounter source_;
  State state_;
  Rule target_rule_;
  const Options& options_;
  std::function<bool()> go_on_;
  Report& report_;
  std::uint64_t run_;
};

}  // namespace splitcount::copy
