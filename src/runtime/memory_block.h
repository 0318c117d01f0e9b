// Memory on any device, the host included.
#pragma once

#include <cstddef>
#include <memory>

#include "placewire/runtime/buffers.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// A block of memory with an owner. On the CPU it is the host's own, unless an allocator for the
/// CPU is registered; on every other device it is the registered allocator's.
class MemoryBlock {
 public:
  /// Alignment of the host's own memory in bytes: a cache line, and the widest vector register.
  static constexpr std::size_t kHostAlignment = 64;

  /// An empty block on cpu:0.
  MemoryBlock() noexcept = default;

  /// Allocates; the content is undefined. A block of 0 bytes has no address, but its device must be
  /// there. Errors: those of DeviceMemoryBuffer::create; MEMORY_ALLOCATION_FAILED.
  [[nodiscard]] static Result<MemoryBlock> allocate(std::size_t nbytes, Device device);

  /// First byte, on the device; null if the block is empty.
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Device device() const noexcept { return device_; }

 private:
  struct HostDelete {
    void operator()(void* pointer) const noexcept;
  };

  DeviceMemoryBuffer buffer_;
  std::unique_ptr<void, HostDelete> host_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_;
};

}  // namespace placewire
