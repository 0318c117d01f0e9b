// Memory on any device, the host included.
#include "memory_block.h"

#include <new>
#include <string>
#include <utility>

namespace placewire {

void MemoryBlock::HostDelete::operator()(void* pointer) const noexcept {
  ::operator delete(pointer, std::align_val_t{kHostAlignment});
}

Result<MemoryBlock> MemoryBlock::allocate(std::size_t nbytes, Device device) {
  MemoryBlock block;
  block.size_ = nbytes;
  block.device_ = device;
  if (!device.is_cpu() || find_allocator(device).ok()) {
    Result<DeviceMemoryBuffer> buffer = DeviceMemoryBuffer::create(nbytes, device);
    if (!buffer.ok()) {
      return std::move(buffer).error();
    }
    block.buffer_ = std::move(buffer).value();
    block.data_ = block.buffer_.data();
    return block;
  }
  if (nbytes != 0) {
    block.host_.reset(::operator new(nbytes, std::align_val_t{kHostAlignment}, std::nothrow));
    if (block.host_ == nullptr) {
      return Error{
          ErrorCode::MEMORY_ALLOCATION_FAILED,
          to_string(device) + ": there is no memory for " + std::to_string(nbytes) + " bytes"};
    }
    block.data_ = block.host_.get();
  }
  return block;
}

}  // namespace placewire
