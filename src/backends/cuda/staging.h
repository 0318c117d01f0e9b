// Page-locked host memory through which copies to a device go without anybody waiting for them.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

#include "cuda_runtime.h"

namespace placewire::cuda {

/// The page-locked buffers of one device, taken in turn.
///
/// A copy of at most `kLargestCopy` bytes is written into a buffer, from where the device fetches
/// it when its stream gets there; so the source is free at once. A buffer is used again when the
/// device has fetched it. Threads: every function may be called from any number of threads.
class StagingBuffers {
 public:
  static constexpr std::size_t kLargestCopy = std::size_t{1} << 20;
  static constexpr std::size_t kMostBuffers = 4;

  StagingBuffers() = default;
  StagingBuffers(const StagingBuffers&) = delete;
  StagingBuffers& operator=(const StagingBuffers&) = delete;

  /// Copies to the current device on a stream. None: there is no buffer; copy without.
  [[nodiscard]] std::optional<Status> copy(const CudaRuntime& runtime, DeviceIndex index,
                                           void* destination, const void* source,
                                           std::size_t nbytes, void* stream);

  /// Frees all buffers; nobody may copy meanwhile.
  void clear(const CudaRuntime& runtime) noexcept;

 private:
  struct StagingBuffer {
    void* host = nullptr;
    /// Recorded behind the last copy.
    void* event = nullptr;
  };

  [[nodiscard]] std::optional<StagingBuffer> take(const CudaRuntime& runtime);
  [[nodiscard]] static std::optional<StagingBuffer> make(const CudaRuntime& runtime);

  std::mutex mutex_;
  /// Those that nobody is filling, the one whose copy is oldest first.
  std::deque<StagingBuffer> free_;
  /// How many there are, `free_` or not.
  std::size_t count_ = 0;
};

}  // namespace placewire::cuda
