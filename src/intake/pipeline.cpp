#include <intake/pipeline.h>

#include <utility>

#include <intake/tally.h>

namespace splitcount::intake {

Pipeline::Pipeline(Source& source, Sha256 state, std::string head, Field field, int parsers, const Bounds& bounds)
    : field_(field),
      bounds_(bounds),
      reader_(source, std::move(state), std::move(head), bounds, cancel_),
      ring_(bounds.chunks_max) {
  start(parsers);
}

Pipeline::~Pipeline() { join(); }

void Pipeline::start(int parsers) {
  try {
    threads_.emplace_back([this] { read(); });
    for (int i = 0; i < parsers; ++i) threads_.emplace_back([this] { parse(); });
  } catch (...) {  // no more threads to be had: those that run are ended before the caller hears of it
    join();
    throw;
  }
}

void Pipeline::join() noexcept {
  {
    const std::lock_guard lock(mutex_);
    cancel_ = true;
  }
  changed_free_.notify_all();
  changed_filled_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Pipeline::read() {
  for (std::uint64_t number = 0;; ++number) {
    auto& mine = place(number);
    {
      std::unique_lock lock(mutex_);
      changed_free_.wait(lock, [&] { return mine.state == State::free || cancel_; });
      if (cancel_) return;
    }
    if (!mine.chunk.buffer) {
      mine.chunk.buffer = std::make_unique_for_overwrite<char[]>(ChunkReader::buffer_bytes(bounds_));
    }
    auto more = reader_.next(mine.chunk);
    const std::lock_guard lock(mutex_);
    if (more && *more) {
      mine.state = State::filled;
      ++filled_;
      changed_filled_.notify_one();
      continue;
    }
    if (!more) error_ = std::move(more.error());
    read_all_ = true;
    changed_filled_.notify_all();
    changed_parsed_.notify_one();
    return;
  }
}

void Pipeline::parse() {
  Tally tally(field_, bounds_);
  for (;;) {
    Place* mine = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_filled_.wait(lock, [&] { return taken_ < filled_ || read_all_ || cancel_; });
      if (cancel_ || taken_ == filled_) return;
      mine = &place(taken_++);
    }
    tally.run(mine->chunk);
    const std::lock_guard lock(mutex_);
    mine->state = State::parsed;
    changed_parsed_.notify_one();
  }
}

const Chunk* Pipeline::next(std::chrono::milliseconds wait) {
  auto& mine = place(released_);
  std::unique_lock lock(mutex_);
  const auto at_end = [&] { return read_all_ && released_ == filled_; };
  changed_parsed_.wait_for(lock, wait, [&] { return mine.state == State::parsed || at_end(); });
  if (mine.state == State::parsed) return &mine.chunk;
  ended_ = at_end();
  return nullptr;
}

void Pipeline::release() {
  {
    const std::lock_guard lock(mutex_);
    place(released_++).state = State::free;
  }
  changed_free_.notify_one();
}

}  // namespace splitcount::intake
