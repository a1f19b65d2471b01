#include <intake/count.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <base/text.h>
#include <intake/group.h>
#include <intake/known_file.h>
#include <intake/pass.h>
#include <intake/pipeline.h>
#include <intake/rejects_file.h>
#include <intake/run.h>
#include <intake/source.h>

namespace splitcount::intake {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds look_every_ms{100};  // at stop, while no chunk comes
constexpr std::chrono::milliseconds group_age_ms{1'000}; // what was parsed is committed after this at the latest
constexpr int parsers_max = 64;
constexpr int looks_max = 20;  // at a file that other runs begin to count meanwhile

/// What can be seen before anything is read.
Result<void> check_countable(const Counter& counter, const CountOptions& options) {
  const auto rule = counter.rule();
  const auto field = to_text(options.field);
  if (!rule.key) {
    return fail(ErrorCode::key_invalid,
                fmt::format("the counter {} has no key for the {} of each line; splitcount define NAME --key {} makes one that has",
                            counter.name(), field, field));
  }
  if (rule.pick == Pick::value) {
    return fail(ErrorCode::value_invalid,
                fmt::format("the counter {} picks its slots by a value, and a line has none; splitcount define NAME --key {} "
                            "--pick spread makes one that needs no value",
                            counter.name(), field));
  }
  if (options.format == Format::lines && options.field != Field::line) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("the format lines has no {}; its only key field is line", field));
  }
  if (options.format == Format::common && (options.field == Field::referer || options.field == Field::agent)) {
    return fail(ErrorCode::invalid_argument, fmt::format("the format common has no {}; combined has", field));
  }
  return {};
}

Reason reason_of(const Error& error) noexcept {
  if (error.code == ErrorCode::key_missing) return Reason::key_not_defined;
  if (error.code == ErrorCode::out_of_range) return Reason::count_out_of_range;
  return Reason::refused;
}

class Run {
 public:
  Run(Combiner& combiner, const Counter& counter, std::string_view path, const CountOptions& options, const Bounds& bounds)
      : combiner_(combiner), counter_(counter), path_(path), options_(options), bounds_(bounds) {}

  CountReport go();

 private:
  Result<Moved> attempt();
  Result<Moved> count_rest(Source& source, PassStream& stream, Sha256 state, std::string head);
  Result<Moved> take(const Chunk& chunk, PassStream& stream, bool reopens);
  Result<Moved> commit(PassStream& stream, bool reopens);
  Result<void> settle(const std::vector<Add>& adds, const Applied& applied);
  [[nodiscard]] bool stop_asked() const { return options_.stop != nullptr && *options_.stop; }
  void show(std::uint64_t bytes_done, bool now);
  [[nodiscard]] int parsers() const;

  Combiner& combiner_;
  const Counter& counter_;
  std::string_view path_;
  const CountOptions& options_;
  const Bounds& bounds_;
  CountReport report_;

  Group group_;
  std::string head_;
  std::optional<RejectsFile> rejects_;
  std::uint64_t lines_parsed_ = 0;  ///< of the file, up to the last chunk that was taken
  Clock::time_point committed_at_ = Clock::now();
  Clock::time_point shown_at_{};
  Progress progress_;
};

CountReport Run::go() {
  auto right = check_countable(counter_, options_);
  if (!right) report_.error = std::move(right.error());
  for (int looks = 1; right && looks <= looks_max; ++looks) {
    const auto moved = attempt();
    if (!moved) report_.error = moved.error();
    if (!moved || *moved == Moved::committed) return std::move(report_);
  }
  if (!report_.error) {
    report_.error = Error{ErrorCode::stream_conflict,
                          fmt::format("other runs keep beginning to count {}; run it again later", quoted(path_, 200))};
  }
  return std::move(report_);
}

/// Looks the file up and counts what is not known of it.
Result<Moved> Run::attempt() {
  auto source = Source::open(path_);
  if (!source) return fail(std::move(source.error()));
  progress_.bytes_total = source->raw_size();
  if (!options_.rejects_path.empty()) {
    auto opened = RejectsFile::open(options_.rejects_path, source->raw());
    if (!opened) return fail(std::move(opened.error()));
    rejects_.emplace(std::move(*opened));
  }
  auto known = list_known(combiner_, counter_.name(), options_.field);
  if (!known) return fail(std::move(known.error()));
  auto found = recognise(*source, *known, [&] {
    show(source->raw_position(), false);
    return !stop_asked();
  });
  if (!found) return fail(std::move(found.error()));
  report_.stopped = found->stopped;
  if (found->stopped) return Moved::committed;

  auto& match = options_.again ? found->again : found->plain;
  const auto file_of = [](const std::optional<Match>& from) { return from ? std::optional(from->file) : std::nullopt; };
  const auto plain = file_of(found->plain);
  report_.known = plain.has_value() || (options_.again && match.has_value());
  if (report_.known) report_.known_as = plain ? plain->checkpoint.name : match->file.checkpoint.name;
  report_.again_unfinished = !options_.again && found->again.has_value();
  PassStream stream(combiner_, counter_, options_.field, options_.again ? Pass::again : Pass::plain, std::move(*known),
                    file_of(match), path_ == "-" ? "standard input" : std::string(path_));
  report_.bytes_before = static_cast<std::uint64_t>(stream.position());
  report_.lines_before = stream.lines_read();
  auto sought = source->seek(report_.bytes_before);
  if (!sought) return fail(std::move(sought.error()));
  const bool resumed = match.has_value();
  auto moved = count_rest(*source, stream, match ? std::move(match->state) : Sha256(),
                          found->head.substr(0, std::min<std::size_t>(found->head.size(), report_.bytes_before)));
  if (!moved || *moved != Moved::committed || !options_.again || report_.stopped || stream.position() == 0) return moved;
  auto finished = stream.finish_again(plain);
  if (!finished) return fail(std::move(finished.error()));
  report_.resumed_again = resumed;
  return Moved::committed;
}

Result<Moved> Run::count_rest(Source& source, PassStream& stream, Sha256 state, std::string head) {
  group_.clear();
  head_ = head;
  lines_parsed_ = stream.lines_read();
  progress_.lines_read = 0;
  committed_at_ = Clock::now();
  const bool reopens = source.reopens();
  Pipeline pipeline(source, std::move(state), std::move(head), options_.field, parsers(), bounds_);
  while (!pipeline.ended() && !report_.stopped) {
    const auto* const chunk = pipeline.next(look_every_ms);
    if (chunk != nullptr) {
      auto taken = take(*chunk, stream, reopens);
      progress_.bytes_done = chunk->raw_position;
      pipeline.release();
      if (!taken || *taken != Moved::committed) return taken;
    }
    show(progress_.bytes_done, false);
    report_.stopped = !pipeline.ended() && stop_asked();
    const bool due = group_.to() - stream.position() >= bounds_.group_bytes || Clock::now() - committed_at_ >= group_age_ms;
    if (group_.empty() || !due) continue;
    auto moved = commit(stream, reopens);
    if (!moved || *moved != Moved::committed) return moved;
  }
  if (!group_.empty()) {
    auto moved = commit(stream, reopens);
    if (!moved || *moved != Moved::committed) return moved;
  }
  show(progress_.bytes_done, true);
  if (!pipeline.ended()) return Moved::committed;
  report_.bytes_unfinished = pipeline.unfinished();
  if (pipeline.error()) return fail(*pipeline.error());
  return Moved::committed;
}

/// Merges a chunk into the group, committing what is there already where the group would become too large.
Result<Moved> Run::take(const Chunk& chunk, PassStream& stream, bool reopens) {
  if (!chunk.head.empty()) head_ = chunk.head;
  std::uint64_t lines = 0;
  bool rejected = false;
  for (const auto& piece : chunk.pieces) {
    lines += piece.lines;
    rejected |= std::any_of(piece.rejects.begin(), piece.rejects.end(), [](auto count) { return count > 0; });
  }
  if (rejects_ && rejected) {
    auto written = rejects_->write(chunk, options_.field, bounds_, lines_parsed_);
    if (!written) return fail(std::move(written.error()));
  }
  lines_parsed_ += lines;
  progress_.lines_read += lines;
  for (const auto& piece : chunk.pieces) {
    if (!group_.has_room(piece, bounds_)) {
      auto moved = commit(stream, reopens);
      if (!moved || *moved != Moved::committed) return moved;
    }
    group_.merge(piece);
  }
  return Moved::committed;
}

Result<Moved> Run::commit(PassStream& stream, bool reopens) {
  if (rejects_) {
    auto flushed = rejects_->flush();
    if (!flushed) return fail(std::move(flushed.error()));
  }
  const auto before = stream.position();
  const auto adds = group_.adds();
  Applied applied;
  auto moved = stream.move(adds, group_.to(), group_.lines(), group_.digest(), head_, reopens, applied);
  if (!moved || *moved != Moved::committed) return moved;
  report_.bytes_read += static_cast<std::uint64_t>(group_.to() - before);
  auto settled = settle(adds, applied);
  if (!settled) return fail(std::move(settled.error()));
  group_.clear();
  committed_at_ = Clock::now();
  return Moved::committed;
}

/// Tallies what was committed: lines that no parser rejected count, but for those whose add was refused.
Result<void> Run::settle(const std::vector<Add>& adds, const Applied& applied) {
  auto rejects = group_.rejects();
  for (const auto& refused : applied.refused) {
    const auto& add = adds[refused.index];
    const auto lines = static_cast<std::uint64_t>(add.amount);
    const auto reason = reason_of(refused.error);
    rejects[index_of(reason)] += lines;
    if (!rejects_) continue;
    auto written = rejects_->write(reason, add.key, lines);
    if (!written) return fail(std::move(written.error()));
  }
  std::uint64_t rejected = 0;
  for (std::size_t i = 0; i < reasons_count; ++i) {
    if (rejects[i] == 0) continue;
    report_.rejects[std::string(to_text(static_cast<Reason>(i)))] += rejects[i];
    rejected += rejects[i];
  }
  report_.lines_read += group_.lines();
  report_.lines_counted += group_.lines() - rejected;
  return rejects_ && !applied.refused.empty() ? rejects_->flush() : Result<void>();
}

void Run::show(std::uint64_t bytes_done, bool now) {
  progress_.bytes_done = bytes_done;
  if (!options_.progress || (!now && Clock::now() - shown_at_ < bounds_.progress_every_ms)) return;
  shown_at_ = Clock::now();
  options_.progress(progress_);
}

int Run::parsers() const {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(options_.parsers > 0 ? options_.parsers : cores, 1, parsers_max);
}

}  // namespace

CountReport run_count(Combiner& combiner, const Counter& counter, std::string_view path, const CountOptions& options,
                      const Bounds& bounds) {
  try {
    return Run(combiner, counter, path, options, bounds).go();
  } catch (const std::system_error& refused) {  // no thread to be had
    CountReport report;
    report.error = Error{ErrorCode::internal, fmt::format("cannot start threads to count {}: {}", quoted(path, 200), refused.what())};
    return report;
  }
}

CountReport count_file(Combiner& combiner, const Counter& counter, std::string_view path, const CountOptions& options) {
  return run_count(combiner, counter, path, options, Bounds{});
}

}  // namespace splitcount::intake
