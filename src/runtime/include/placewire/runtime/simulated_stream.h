// A queue of work that completes late, as the streams of a device do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "placewire/runtime/result.h"

namespace placewire {

/// Takes work and does it as late as a device may: when somebody waits for it.
///
/// So code that reads a copy's result without waiting, or reuses its source too early, gets wrong
/// bytes every time, where on a real device it would get them rarely. Work that is never waited for
/// is never done.
/// Threads: every function may be called from any number of threads; work runs in order, one at a
/// time, and must not wait for its own stream.
class SimulatedStream {
 public:
  /// Takes work, and gives the number under which it can be waited for: 1, 2, ...
  std::uint64_t submit(std::function<Status()> work) {
    const std::lock_guard lock(mutex_);
    pending_.push_back(std::move(work));
    return completed_ + pending_.size();
  }

  /// Number of the work that was taken last; 0 if none ever was.
  [[nodiscard]] std::uint64_t submitted() const {
    const std::lock_guard lock(mutex_);
    return completed_ + pending_.size();
  }

  /// Number of the work that was done last.
  [[nodiscard]] std::uint64_t completed() const {
    const std::lock_guard lock(mutex_);
    return completed_;
  }

  /// Does everything up to work number `position`, and gives the first error that it meets.
  Status complete(std::uint64_t position) {
    const std::lock_guard lock(mutex_);
    Status first;
    while (completed_ < position && !pending_.empty()) {
      const std::function<Status()> work = std::move(pending_.front());
      pending_.pop_front();
      ++completed_;
      Status status = work();
      if (first.ok() && !status.ok()) {
        first = std::move(status);
      }
    }
    return first;
  }

  /// Does everything that was taken so far.
  Status synchronize() { return complete(submitted()); }

 private:
  mutable std::mutex mutex_;
  std::deque<std::function<Status()>> pending_;
  std::uint64_t completed_ = 0;
};

}  // namespace placewire
