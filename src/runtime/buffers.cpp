// Device memory with an owner.
#include "placewire/runtime/buffers.h"

#include <utility>

namespace placewire {

Result<DeviceMemoryBuffer> DeviceMemoryBuffer::create(std::size_t nbytes, Device device,
                                                      std::size_t alignment) {
  Result<std::shared_ptr<DeviceAllocator>> allocator = find_allocator(device);
  if (!allocator.ok()) {
    return std::move(allocator).error();
  }
  Result<void*> data = allocator.value()->allocate(nbytes, device.index, alignment);
  if (!data.ok()) {
    return std::move(data).error();
  }
  DeviceMemoryBuffer buffer;
  buffer.allocator_ = std::move(allocator).value();
  buffer.data_ = data.value();
  buffer.size_ = nbytes;
  buffer.device_ = device;
  return buffer;
}

DeviceMemoryBuffer::DeviceMemoryBuffer(DeviceMemoryBuffer&& other) noexcept
    : allocator_(std::exchange(other.allocator_, nullptr)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      device_(std::exchange(other.device_, Device{})) {}

DeviceMemoryBuffer& DeviceMemoryBuffer::operator=(DeviceMemoryBuffer&& other) noexcept {
  DeviceMemoryBuffer taken(std::move(other));  // before `free`, in case the two are one
  (void)free();
  std::swap(allocator_, taken.allocator_);
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  std::swap(device_, taken.device_);
  return *this;
}

DeviceMemoryBuffer::~DeviceMemoryBuffer() { (void)free(); }

Status DeviceMemoryBuffer::free() {
  const DeviceIndex index = std::exchange(device_, Device{}).index;
  void* const data = std::exchange(data_, nullptr);
  size_ = 0;
  const std::shared_ptr<DeviceAllocator> allocator = std::exchange(allocator_, nullptr);
  return allocator == nullptr ? Status() : allocator->deallocate(data, index);
}

}  // namespace placewire
