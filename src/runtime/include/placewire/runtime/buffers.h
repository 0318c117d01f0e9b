// Device memory with an owner.
#pragma once

#include <cstddef>
#include <memory>

#include "placewire/runtime/allocator.h"
#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// A block of memory on a device, freed exactly once: by `free`, or when its owner goes.
///
/// Moving hands the block over; a moved-from buffer is empty, as a default-constructed one is. It
/// keeps its allocator alive, even if that is unregistered meanwhile.
/// Threads: as any value; calls on one buffer need a lock, different buffers do not.
class DeviceMemoryBuffer {
 public:
  /// An empty buffer on cpu:0.
  DeviceMemoryBuffer() noexcept = default;

  /// Allocates from the allocator that the registry has for the device.
  ///
  /// `alignment` is passed on to the allocator; 0 means the device's own. A buffer of 0 bytes needs
  /// an allocator like any other, but allocates nothing: its `data` is null.
  /// Errors: those of `find_allocator`, then those of `DeviceAllocator::allocate`.
  [[nodiscard]] PLACEWIRE_API static Result<DeviceMemoryBuffer> create(std::size_t nbytes,
                                                                       Device device,
                                                                       std::size_t alignment = 0);

  DeviceMemoryBuffer(const DeviceMemoryBuffer&) = delete;
  DeviceMemoryBuffer& operator=(const DeviceMemoryBuffer&) = delete;
  PLACEWIRE_API DeviceMemoryBuffer(DeviceMemoryBuffer&& other) noexcept;
  /// Frees what this buffer held.
  PLACEWIRE_API DeviceMemoryBuffer& operator=(DeviceMemoryBuffer&& other) noexcept;
  /// Frees; if the allocator reports an error then, it is lost. Call `free` to see it.
  PLACEWIRE_API ~DeviceMemoryBuffer();

  /// Frees the block now and leaves the buffer empty, whatever the allocator answers.
  PLACEWIRE_API Status free();

  /// First byte, on the device; null if the buffer is empty. The host must not follow it.
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] Device device() const noexcept { return device_; }
  /// Who copies to and from it; null for a buffer that was never created, moved from, or freed.
  [[nodiscard]] const std::shared_ptr<DeviceAllocator>& allocator() const noexcept {
    return allocator_;
  }

 private:
  std::shared_ptr<DeviceAllocator> allocator_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_;
};

}  // namespace placewire
