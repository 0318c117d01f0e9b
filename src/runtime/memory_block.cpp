// A block of memory for tensors: on a device, or the host's own.
#include "memory_block.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace placewire {
namespace {

Error no_host_memory(std::size_t nbytes) {
  return {ErrorCode::MEMORY_ALLOCATION_FAILED,
          "the host has no " + std::to_string(nbytes) + " bytes of memory"};
}

/// The first address from `data` on that is a multiple of `alignment`, a power of two.
std::uint8_t* aligned(void* data, std::size_t alignment) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  return static_cast<std::uint8_t*>(data) + (-address & (alignment - 1));
}

}  // namespace

Result<MemoryBlock> MemoryBlock::create(std::size_t nbytes, Device device, std::size_t alignment) {
  return create(nbytes, device, alignment, Contents::kZero);
}

Result<MemoryBlock> MemoryBlock::create_unset(std::size_t nbytes, Device device) {
  return create(nbytes, device, 0, Contents::kUnset);
}

Result<MemoryBlock> MemoryBlock::create(std::size_t nbytes, Device device, std::size_t alignment,
                                        Contents contents) {
  MemoryBlock block;
  block.device_ = device;
  block.size_ = nbytes;
  if (nbytes == 0) {
    return block;
  }
  if (!device.is_cpu() || find_allocator(device).ok()) {
    Result<DeviceMemoryBuffer> buffer = DeviceMemoryBuffer::create(nbytes, device, alignment);
    if (!buffer.ok()) {
      return std::move(buffer).error();
    }
    block.buffer_ = std::move(buffer).value();
    block.data_ = static_cast<std::uint8_t*>(block.buffer_.data());
    return block;
  }
  alignment = std::max(alignment, kHostAlignment);
  if ((alignment & (alignment - 1)) != 0) {
    return Error{
        ErrorCode::INVALID_ARGUMENT,
        to_string(device) + ": alignment " + std::to_string(alignment) + " is not a power of two"};
  }
  if (nbytes > std::numeric_limits<std::size_t>::max() - alignment) {
    return no_host_memory(nbytes);
  }
  const std::size_t room = nbytes + alignment - 1;
  block.host_.reset(contents == Contents::kZero ? std::calloc(1, room) : std::malloc(room));
  if (block.host_ == nullptr) {
    return no_host_memory(nbytes);
  }
  block.data_ = aligned(block.host_.get(), alignment);
  return block;
}

Status copy_to_device(void* destination, Device device, const void* source, std::size_t nbytes) {
  if (nbytes == 0) {
    return {};
  }
  if (device.is_cpu()) {
    std::memcpy(destination, source, nbytes);
    return {};
  }
  Result<std::shared_ptr<DeviceAllocator>> allocator = find_allocator(device);
  return allocator.ok()
             ? allocator.value()->copy_host_to_device(destination, source, nbytes, device.index)
             : std::move(allocator).error();
}

}  // namespace placewire
