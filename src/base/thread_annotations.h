// Locks that clang's thread-safety analysis understands: a shared field says which mutex guards it, and reading it
// without that mutex does not compile (-Wthread-safety, an error here). GCC ignores the annotations.
// Source: clang's "Thread Safety Analysis".
#pragma once

#include <condition_variable>
#include <mutex>

#include <splitcount/add.h>

#if defined(__clang__)
#define SPLITCOUNT_ANNOTATION(x) __attribute__((x))
#else
#define SPLITCOUNT_ANNOTATION(x)
#endif

#define GUARDED_BY(mutex) SPLITCOUNT_ANNOTATION(guarded_by(mutex))
#define REQUIRES(...) SPLITCOUNT_ANNOTATION(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) SPLITCOUNT_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace splitcount {

class SPLITCOUNT_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() SPLITCOUNT_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() SPLITCOUNT_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

/// Holds a mutex for the length of a block.
class SPLITCOUNT_ANNOTATION(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) SPLITCOUNT_ANNOTATION(acquire_capability(mutex)) : mutex_(mutex) { mutex_.lock(); }
  ~Lock() SPLITCOUNT_ANNOTATION(release_capability()) { mutex_.unlock(); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Mutex& mutex_;
};

/// A condition to wait for under a mutex. Waits may end for no reason: wait in a loop that looks at the fields.
class Condition {
 public:
  void wait(Mutex& mutex) REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    condition_.wait(held);
    held.release();  // still locked, by the caller's Lock
  }
  void wait_until(Mutex& mutex, Deadline deadline) REQUIRES(mutex) {
    std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
    condition_.wait_until(held, deadline);
    held.release();
  }
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace splitcount
