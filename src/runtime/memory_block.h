// A block of memory for tensors: on a device, or the host's own.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "placewire/runtime/buffers.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// Memory on a device, freed when its owner goes.
///
/// On a CPU it comes from the allocator that is registered for it, else from the C library. A block
/// of no bytes needs neither.
class MemoryBlock {
 public:
  /// Alignment of host memory in bytes, unless more is asked for: that of a cache line, which every
  /// vector instruction is content with.
  static constexpr std::size_t kHostAlignment = 64;

  /// An empty block on cpu:0.
  MemoryBlock() noexcept = default;

  /// Allocates. `alignment` 0 is the device's own. What comes from the C library is zero. Errors:
  /// those of DeviceMemoryBuffer::create.
  [[nodiscard]] static Result<MemoryBlock> create(std::size_t nbytes, Device device,
                                                  std::size_t alignment = 0);
  /// The same for memory that is written before anybody reads it: nothing sets it to zero, and its
  /// pages are not touched.
  [[nodiscard]] static Result<MemoryBlock> create_unset(std::size_t nbytes, Device device);

  [[nodiscard]] std::uint8_t* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  /// Whether it came from the C library.
  [[nodiscard]] bool is_host_memory() const noexcept { return host_ != nullptr; }

 private:
  enum class Contents { kZero, kUnset };

  [[nodiscard]] static Result<MemoryBlock> create(std::size_t nbytes, Device device,
                                                  std::size_t alignment, Contents contents);

  struct Free {
    void operator()(void* data) const noexcept { std::free(data); }
  };

  DeviceMemoryBuffer buffer_;
  std::unique_ptr<void, Free> host_;
  std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_;
};

/// Copies from the host to a block on `device`, which may be a CPU.
[[nodiscard]] Status copy_to_device(void* destination, Device device, const void* source,
                                    std::size_t nbytes);

}  // namespace placewire
