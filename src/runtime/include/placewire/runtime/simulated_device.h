// A device made of host memory that behaves like one of its own, for tests on machines that have
// none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "placewire/runtime/allocator.h"
#include "placewire/runtime/api.h"

namespace placewire {

/// What a device can be asked to do with memory.
enum class DeviceOperation : std::uint8_t {
  kAllocate,
  kDeallocate,
  kCopyHostToDevice,
  kCopyDeviceToHost,
  kCopyDeviceToDevice,
};

/// Names of the operations in their order: those of the functions of DeviceAllocator.
inline constexpr std::array<std::string_view, 5> kDeviceOperationNames = {
    "allocate", "deallocate", "copy_host_to_device", "copy_device_to_host",
    "copy_device_to_device"};

/// What was asked of a simulated device so far.
struct OperationCount {
  /// Calls, those that failed included. Calls for no bytes do not arrive.
  std::uint64_t calls = 0;
  /// Calls that failed.
  std::uint64_t failures = 0;
  /// Bytes of the calls that succeeded.
  std::uint64_t bytes = 0;
};

/// An allocator for one device, of any kind and index, that no hardware stands behind.
///
/// * Its memory is separate: the addresses that it gives lie in pages that nobody can read or
///   write, so a host access ends the process with SIGSEGV. The bytes are elsewhere, at `backing`.
/// * New memory is filled with 0xFF, which is NaN or -1 in most types, so that reading what was
///   never written shows.
/// * A copy must stay inside one live allocation of this device, and its host side must not be
///   memory of a simulated device; else it is INVALID_ARGUMENT, as is freeing what is not
///   allocated.
/// * Copies between two simulated devices of a kind are direct, and count on the destination.
/// * It counts calls and bytes, can be small, and fails on demand.
///
/// Install it with `ScopedAllocator::install(device, index)`, so that devices of the same kind can
/// be simulated one by one. What is still allocated when it is destroyed is freed.
/// Threads: every function may be called from any number of threads.
class SimulatedDevice final : public DeviceAllocator {
 public:
  /// `memory` is its size, at most half of what the process may use, which is the host's memory or
  /// less if a control group limits it: allocating more bytes than that at a time is
  /// MEMORY_ALLOCATION_FAILED.
  PLACEWIRE_API explicit SimulatedDevice(
      Device device, std::size_t memory = std::numeric_limits<std::size_t>::max());
  PLACEWIRE_API ~SimulatedDevice() override;

  [[nodiscard]] Device device() const noexcept { return device_; }
  [[nodiscard]] DeviceType device_type() const noexcept override { return device_.type; }

  [[nodiscard]] PLACEWIRE_API OperationCount count(DeviceOperation operation) const;
  /// Blocks that are allocated now.
  [[nodiscard]] PLACEWIRE_API std::size_t live_allocations() const;
  /// Bytes that are allocated now.
  [[nodiscard]] PLACEWIRE_API std::size_t live_bytes() const;
  /// Most bytes that were ever allocated at a time.
  [[nodiscard]] PLACEWIRE_API std::size_t peak_bytes() const;

  /// Lets the `nth` call of an operation from now on fail, once; 0 takes that back.
  ///
  /// An allocation then fails with MEMORY_ALLOCATION_FAILED, everything else with ACCESS_FAILED,
  /// and nothing else happens: what could not be freed stays allocated.
  PLACEWIRE_API void fail(DeviceOperation operation, std::uint64_t nth = 1);

  /// Where the bytes behind a device pointer are, for code that plays the part of the device.
  ///
  /// Valid until the allocation is freed. Errors: INVALID_ARGUMENT if not all of the `nbytes` bytes
  /// lie in one live allocation of this device.
  [[nodiscard]] PLACEWIRE_API Result<void*> backing(const void* pointer, std::size_t nbytes) const;

  /// The same for whichever simulated device stands, or stood, for `device`.
  [[nodiscard]] PLACEWIRE_API static Result<void*> backing_on(Device device, const void* pointer,
                                                              std::size_t nbytes);

  /// Whether a pointer points into a live allocation of any simulated device.
  [[nodiscard]] PLACEWIRE_API static bool owns(const void* pointer);

 private:
  class Pages;
  struct Allocation;
  /// A part of an allocation, and what keeps it in memory while it is copied.
  struct Range {
    std::shared_ptr<Pages> pages;
    unsigned char* begin;
  };

  /// The memory, if there is a limit to it. It stands for any model.
  Result<DeviceProperties> do_properties(DeviceIndex index) override;
  Result<void*> do_allocate(std::size_t nbytes, DeviceIndex index, std::size_t alignment) override;
  Status do_deallocate(void* pointer, DeviceIndex index) override;
  Status do_copy_host_to_device(void* destination, const void* source, std::size_t nbytes,
                                DeviceIndex index) override;
  Status do_copy_device_to_host(void* destination, const void* source, std::size_t nbytes,
                                DeviceIndex index) override;
  Status do_copy_device_to_device(void* destination, DeviceIndex destination_index,
                                  const void* source, DeviceIndex source_index,
                                  std::size_t nbytes) override;

  /// Counts a call. Error: if it is to fail, or is not for this device.
  Status begin(DeviceOperation operation, DeviceIndex index);
  /// Counts how the call ended.
  Status end(DeviceOperation operation, std::size_t nbytes, Status status);
  [[nodiscard]] Status try_deallocate(void* pointer, std::size_t& nbytes);
  [[nodiscard]] Result<void*> try_allocate(std::size_t nbytes, std::size_t alignment);
  [[nodiscard]] Result<Range> find(const void* pointer, std::size_t nbytes) const;
  [[nodiscard]] bool contains(const void* pointer) const;
  [[nodiscard]] static Result<Range> find_on(Device device, const void* pointer,
                                             std::size_t nbytes);

  const Device device_;
  /// The memory that it was given, and what of it the host lets it have.
  const std::size_t given_;
  const std::size_t memory_;
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::size_t live_bytes_ = 0;
  std::size_t peak_bytes_ = 0;
  std::array<OperationCount, kDeviceOperationNames.size()> counts_{};
  /// Calls until the one that fails; 0 is none.
  std::array<std::uint64_t, kDeviceOperationNames.size()> until_failure_{};
};

}  // namespace placewire
