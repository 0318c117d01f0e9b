// What is checked for allocators of every kind.
#include "placewire/runtime/allocator.h"

#include <cstdint>
#include <string>

namespace placewire {
namespace {

using schema::program::alignment;

Error negative_index(DeviceIndex index) {
  return {ErrorCode::INVALID_ARGUMENT,
          "device index " + std::to_string(index) + " is negative; valid is 0 to 127"};
}

Error null_pointer(Device device, const char* what) {
  return {ErrorCode::INVALID_ARGUMENT, to_string(device) + ": the " + what + " is null"};
}

constexpr bool is_power_of_two(std::size_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

bool is_aligned(const void* pointer, std::size_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

bool overlap(const void* left, const void* right, std::size_t nbytes) noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(left);
  const auto second = reinterpret_cast<std::uintptr_t>(right);
  return first < second ? second - first < nbytes : first - second < nbytes;
}

/// The Error of a copy that need not be tried; success if it must be.
Status check_copy(Device device, const void* destination, const void* source) {
  if (destination == nullptr) {
    return null_pointer(device, "destination of a copy");
  }
  if (source == nullptr) {
    return null_pointer(device, "source of a copy");
  }
  return {};
}

}  // namespace

Result<void*> DeviceAllocator::allocate(std::size_t nbytes, DeviceIndex index,
                                        std::size_t alignment) {
  const Device device{device_type(), index};
  if (index < 0) {
    return negative_index(index);
  }
  if (alignment == 0) {
    alignment = static_cast<std::size_t>(placewire::alignment(device.type));
  }
  if (!is_power_of_two(alignment)) {
    return Error{
        ErrorCode::INVALID_ARGUMENT,
        to_string(device) + ": alignment " + std::to_string(alignment) + " is not a power of two"};
  }
  if (nbytes == 0) {
    return static_cast<void*>(nullptr);
  }
  Result<void*> pointer = do_allocate(nbytes, index, alignment);
  if (!pointer.ok() || (pointer.value() != nullptr && is_aligned(pointer.value(), alignment))) {
    return pointer;
  }
  if (pointer.value() != nullptr) {
    (void)do_deallocate(pointer.value(), index);  // the first error is the one to report
  }
  return Error{ErrorCode::MEMORY_ALLOCATION_FAILED,
               to_string(device) +
                   ": the allocator gave an address that is null or not aligned to " +
                   std::to_string(alignment) + " bytes"};
}

Status DeviceAllocator::deallocate(void* pointer, DeviceIndex index) {
  if (index < 0) {
    return negative_index(index);
  }
  return pointer == nullptr ? Status() : do_deallocate(pointer, index);
}

Status DeviceAllocator::copy_host_to_device(void* destination, const void* source,
                                            std::size_t nbytes, DeviceIndex index) {
  if (index < 0) {
    return negative_index(index);
  }
  if (nbytes == 0) {
    return {};
  }
  Status status = check_copy({device_type(), index}, destination, source);
  return status.ok() ? do_copy_host_to_device(destination, source, nbytes, index) : status;
}

Status DeviceAllocator::copy_device_to_host(void* destination, const void* source,
                                            std::size_t nbytes, DeviceIndex index) {
  if (index < 0) {
    return negative_index(index);
  }
  if (nbytes == 0) {
    return {};
  }
  Status status = check_copy({device_type(), index}, destination, source);
  return status.ok() ? do_copy_device_to_host(destination, source, nbytes, index) : status;
}

Status DeviceAllocator::copy_device_to_device(void* destination, DeviceIndex destination_index,
                                              const void* source, DeviceIndex source_index,
                                              std::size_t nbytes) {
  if (destination_index < 0 || source_index < 0) {
    return negative_index(destination_index < 0 ? destination_index : source_index);
  }
  if (nbytes == 0) {
    return {};
  }
  const Device device{device_type(), destination_index};
  if (Status status = check_copy(device, destination, source); !status.ok()) {
    return status;
  }
  if (destination_index == source_index && overlap(destination, source, nbytes)) {
    return Error{ErrorCode::INVALID_ARGUMENT, to_string(device) +
                                                  ": source and destination of a copy of " +
                                                  std::to_string(nbytes) + " bytes overlap"};
  }
  return do_copy_device_to_device(destination, destination_index, source, source_index, nbytes);
}

Result<DeviceProperties> DeviceAllocator::properties(DeviceIndex index) {
  if (index < 0) {
    return negative_index(index);
  }
  return do_properties(index);
}

}  // namespace placewire
