// An allocator of host memory that records what it is asked, and answers as a test wants.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>

#include "placewire/runtime/allocator.h"

namespace cases {

class RecordingAllocator final : public placewire::DeviceAllocator {
 public:
  explicit RecordingAllocator(placewire::DeviceType type) : type_(type) {}

  [[nodiscard]] placewire::DeviceType device_type() const noexcept override { return type_; }

  int allocated = 0;
  int freed = 0;
  int copies = 0;
  std::size_t last_nbytes = 0;
  std::size_t last_alignment = 0;
  int last_index = -1;
  /// Bytes by which the next addresses miss their alignment.
  std::size_t offset = 0;
  bool gives_null = false;
  bool fails = false;
  placewire::DeviceProperties known;

 private:
  placewire::Result<placewire::DeviceProperties> do_properties(placewire::DeviceIndex) override {
    return fails ? placewire::Result<placewire::DeviceProperties>(refusal()) : known;
  }

  placewire::Error refusal() const {
    return {placewire::ErrorCode::MEMORY_ALLOCATION_FAILED, "refused by the test"};
  }

  placewire::Result<void*> do_allocate(std::size_t nbytes, placewire::DeviceIndex index,
                                       std::size_t alignment) override {
    last_nbytes = nbytes;
    last_alignment = alignment;
    last_index = index;
    if (fails) {
      return refusal();
    }
    if (gives_null) {
      return static_cast<void*>(nullptr);
    }
    ++allocated;
    // A multiple of the alignment, with room for the offset.
    const std::size_t size = (nbytes / alignment + 2) * alignment;
    return static_cast<void*>(static_cast<char*>(std::aligned_alloc(alignment, size)) + offset);
  }

  placewire::Status do_deallocate(void* pointer, placewire::DeviceIndex index) override {
    ++freed;
    last_index = index;
    std::free(static_cast<char*>(pointer) - offset);
    return fails ? placewire::Status(refusal()) : placewire::Status();
  }

  placewire::Status copy(void* destination, const void* source, std::size_t nbytes,
                         placewire::DeviceIndex index) {
    ++copies;
    last_nbytes = nbytes;
    last_index = index;
    std::memcpy(destination, source, nbytes);
    return {};
  }

  placewire::Status do_copy_host_to_device(void* destination, const void* source,
                                           std::size_t nbytes,
                                           placewire::DeviceIndex index) override {
    return copy(destination, source, nbytes, index);
  }
  placewire::Status do_copy_device_to_host(void* destination, const void* source,
                                           std::size_t nbytes,
                                           placewire::DeviceIndex index) override {
    return copy(destination, source, nbytes, index);
  }
  placewire::Status do_copy_device_to_device(void* destination, placewire::DeviceIndex index,
                                             const void* source, placewire::DeviceIndex,
                                             std::size_t nbytes) override {
    return copy(destination, source, nbytes, index);
  }

  const placewire::DeviceType type_;
};

}  // namespace cases
