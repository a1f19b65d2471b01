// Reader and parsers as threads: chunks go round in a ring and come out parsed, in the order of the file.
//
//   reader thread      parser threads        the calling thread
//   free -> filled     filled -> parsed      parsed -> (merged by the caller) -> free
//
// The ring has Bounds::chunks_max places, so memory is bounded however slow the database is.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <splitcount/error.h>
#include <intake/chunk.h>
#include <intake/chunk_reader.h>
#include <intake/count.h>

namespace splitcount::intake {

class Pipeline {
 public:
  /// Reads from the source's position on, `state` and `head` as for ChunkReader. The source is the pipeline's alone
  /// until it is destroyed.
  Pipeline(Source& source, Sha256 state, std::string head, Field field, int parsers, const Bounds& bounds);
  /// Ends the threads, in mid-file where that has to be.
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// The next parsed chunk, or null where there is none within the wait, or none any more: then ended() is true. It
  /// is the caller's until release().
  [[nodiscard]] const Chunk* next(std::chrono::milliseconds wait);
  void release();
  [[nodiscard]] bool ended() const noexcept { return ended_; }
  /// Once ended: why it ended early, and the bytes behind the last whole line.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  [[nodiscard]] std::uint64_t unfinished() const noexcept { return reader_.unfinished(); }

 private:
  enum class State : std::uint8_t { free, filled, parsed };
  struct Place {
    Chunk chunk;
    State state = State::free;
  };
  void start(int parsers);
  void join() noexcept;
  void read();
  void parse();
  [[nodiscard]] Place& place(std::uint64_t number) { return ring_[number % ring_.size()]; }

  Field field_;
  Bounds bounds_;
  std::atomic<bool> cancel_{false};
  ChunkReader reader_;  ///< the reader thread's until it has ended

  // Guarded by mutex_, but for a chunk's own fields, which belong to whoever its state says
  std::mutex mutex_;
  std::condition_variable changed_free_, changed_filled_, changed_parsed_;
  std::vector<Place> ring_;
  std::uint64_t filled_ = 0;   ///< chunks filled so far
  std::uint64_t taken_ = 0;    ///< chunks that a parser took
  bool read_all_ = false;
  std::optional<Error> error_; ///< set before read_all_

  std::uint64_t released_ = 0;  // the calling thread's own
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace splitcount::intake
