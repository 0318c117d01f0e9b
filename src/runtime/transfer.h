// Copies bytes between any two devices.
#pragma once

#include <cstddef>
#include <memory>

#include "placewire/runtime/allocator.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// A way from one device to another: who copies is looked up once, and kept alive.
///
/// On the host bytes are copied by the host. Between the host and a device, and between devices of
/// one kind, an allocator copies directly; between devices of two kinds through the host, piece by
/// piece.
/// Threads: as any value.
class Transfer {
 public:
  /// Errors: NOT_FOUND if a device has no allocator; MEMORY_ALLOCATION_FAILED.
  [[nodiscard]] static Result<Transfer> find(Device source, Device destination);

  [[nodiscard]] Device source() const noexcept { return source_; }
  [[nodiscard]] Device destination() const noexcept { return destination_; }

  /// Copies `nbytes` bytes; on the host they may overlap. Errors: those of the allocators.
  Status copy(void* destination, const void* source, std::size_t nbytes) const;

 private:
  Transfer(Device source, Device destination) noexcept
      : source_(source), destination_(destination) {}

  Status copy_through_host(unsigned char* destination, const unsigned char* source,
                           std::size_t nbytes) const;

  Device source_;
  Device destination_;
  /// Null for the host.
  std::shared_ptr<DeviceAllocator> source_allocator_;
  std::shared_ptr<DeviceAllocator> destination_allocator_;
  /// Where pieces stay on the host; only between devices of two kinds.
  std::unique_ptr<unsigned char[]> piece_;
};

}  // namespace placewire
