// Allocators of device memory, and the process-wide registry in which the runtime finds them.
//
// An allocator serves all devices of one kind. Who brings memory of a new kind derives from
// DeviceAllocator and registers an object of it; docs/device-memory.md shows a whole one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// What is known of a device. Empty texts and 0 stand for what is not known.
struct DeviceProperties {
  /// Model, such as `NVIDIA H200`.
  std::string name;
  /// Architecture, such as `sm_90`.
  std::string architecture;
  /// Bytes of memory in all.
  std::uint64_t memory = 0;
};

/// Allocates memory on the devices of one kind, and copies to, from and between them.
///
/// The public functions check what is the same for every kind of device and then call the `do_`
/// function of the same name, which a derived class implements:
///
/// * An index below 0 is INVALID_ARGUMENT.
/// * No bytes need no work: nothing is allocated, freed or copied, null pointers are allowed, and
///   no `do_` function is called.
/// * Otherwise a null pointer is INVALID_ARGUMENT.
///
/// Memory: a pointer that `allocate` gave belongs to the caller until it is passed to `deallocate`,
/// together with the index of its device. It may point at memory that the host cannot reach, so the
/// host may do arithmetic with it and nothing else. Every pointer into an allocation may be copied
/// to and from.
/// Copies: when a copy returns, the host's side of it may be read, reused or freed. Later copies of
/// the same thread to the same device see what it wrote.
/// Threads: implementations must allow calls from any number of threads.
/// Errors: implementations must neither throw nor abort.
class DeviceAllocator {
 public:
  DeviceAllocator() = default;
  DeviceAllocator(const DeviceAllocator&) = delete;
  DeviceAllocator& operator=(const DeviceAllocator&) = delete;
  virtual ~DeviceAllocator() = default;

  /// The kind of device that it serves; always the same.
  [[nodiscard]] virtual DeviceType device_type() const noexcept = 0;

  /// Allocates `nbytes` bytes whose content is undefined; for 0 bytes the result is null.
  ///
  /// `alignment` is that of the address in bytes, a power of two; 0 means what the schema says for
  /// this kind of device. Errors: INVALID_ARGUMENT for another alignment, MEMORY_ALLOCATION_FAILED
  /// if there is no memory or the allocator gave an address that is not aligned, NOT_FOUND if there
  /// is no such device, NOT_SUPPORTED if the alignment is more than the device offers.
  [[nodiscard]] PLACEWIRE_API Result<void*> allocate(std::size_t nbytes, DeviceIndex index,
                                                     std::size_t alignment = 0);

  /// Frees what `allocate` gave for the same index. Null is allowed.
  PLACEWIRE_API Status deallocate(void* pointer, DeviceIndex index);

  /// Copies from the host to device `index`.
  PLACEWIRE_API Status copy_host_to_device(void* destination, const void* source,
                                           std::size_t nbytes, DeviceIndex index);

  /// Copies from device `index` to the host.
  PLACEWIRE_API Status copy_device_to_host(void* destination, const void* source,
                                           std::size_t nbytes, DeviceIndex index);

  /// Copies between two devices of this kind, which may be the same.
  ///
  /// On one device, ranges that overlap are INVALID_ARGUMENT.
  PLACEWIRE_API Status copy_device_to_device(void* destination, DeviceIndex destination_index,
                                             const void* source, DeviceIndex source_index,
                                             std::size_t nbytes);

  /// What is known of device `index`, which programs may ask something of. Errors: NOT_FOUND if
  /// there is no such device, ACCESS_FAILED if it does not answer.
  [[nodiscard]] PLACEWIRE_API Result<DeviceProperties> properties(DeviceIndex index);

 private:
  /// Unless a derived class says more, nothing is known.
  [[nodiscard]] virtual Result<DeviceProperties> do_properties(DeviceIndex) {
    return DeviceProperties{};
  }
  /// `nbytes` is not 0, `alignment` is a power of two.
  [[nodiscard]] virtual Result<void*> do_allocate(std::size_t nbytes, DeviceIndex index,
                                                  std::size_t alignment) = 0;
  virtual Status do_deallocate(void* pointer, DeviceIndex index) = 0;
  virtual Status do_copy_host_to_device(void* destination, const void* source, std::size_t nbytes,
                                        DeviceIndex index) = 0;
  virtual Status do_copy_device_to_host(void* destination, const void* source, std::size_t nbytes,
                                        DeviceIndex index) = 0;
  virtual Status do_copy_device_to_device(void* destination, DeviceIndex destination_index,
                                          const void* source, DeviceIndex source_index,
                                          std::size_t nbytes) = 0;
};

// The registry. It has a place for every kind of device of the schema, the CPU included; all of the
// process use the same one. It shares ownership of what is registered, and so does everybody who
// holds memory: an allocator lives until it is unregistered and its last buffer is freed.
// Threads: all functions may be called from any number of threads.

/// Registers an allocator for all devices of its kind.
///
/// Errors: INVALID_ARGUMENT for null and for a kind that the schema does not know;
/// REGISTRATION_ALREADY_REGISTERED if the kind has one, which then stays.
PLACEWIRE_API Status register_allocator(std::shared_ptr<DeviceAllocator> allocator);

/// Takes the allocator of a kind out of the registry, and gives it back.
///
/// Errors: NOT_FOUND if none is registered. Scoped allocators are not touched.
PLACEWIRE_API Result<std::shared_ptr<DeviceAllocator>> unregister_allocator(DeviceType type);

/// The allocator for a device: that of the youngest scope that covers it, else the registered one.
///
/// Errors: NOT_FOUND if there is none; the message names the device. INVALID_ARGUMENT for a kind
/// that the schema does not know, and for an index below 0.
[[nodiscard]] PLACEWIRE_API Result<std::shared_ptr<DeviceAllocator>> find_allocator(Device device);

/// Puts an allocator before the registered one, for as long as the object lives.
///
/// Scopes may end in any order. Moving hands the scope over; a moved-from object has none.
class ScopedAllocator {
 public:
  /// Covers all devices of the allocator's kind, or only the one with `index`.
  ///
  /// Errors: INVALID_ARGUMENT for null, a kind that the schema does not know, an index below 0.
  [[nodiscard]] PLACEWIRE_API static Result<ScopedAllocator> install(
      std::shared_ptr<DeviceAllocator> allocator, std::optional<DeviceIndex> index = {});

  ScopedAllocator(const ScopedAllocator&) = delete;
  ScopedAllocator& operator=(const ScopedAllocator&) = delete;
  PLACEWIRE_API ScopedAllocator(ScopedAllocator&& other) noexcept;
  PLACEWIRE_API ScopedAllocator& operator=(ScopedAllocator&& other) noexcept;
  PLACEWIRE_API ~ScopedAllocator();

 private:
  ScopedAllocator(DeviceType type, std::uint64_t scope) noexcept : type_(type), scope_(scope) {}

  DeviceType type_;
  /// Number of the scope in the registry; 0 is none.
  std::uint64_t scope_;
};

}  // namespace placewire
