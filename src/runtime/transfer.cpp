// Copies bytes between any two devices.
#include "transfer.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace placewire {
namespace {

/// Bytes that are on the host at a time between devices of two kinds.
constexpr std::size_t kPieceSize = std::size_t{1} << 20;

/// The allocator of a device; null for the host.
Result<std::shared_ptr<DeviceAllocator>> allocator_of(Device device) {
  return device.is_cpu() ? std::shared_ptr<DeviceAllocator>() : find_allocator(device);
}

}  // namespace

Result<Transfer> Transfer::find(Device source, Device destination) {
  Transfer transfer(source, destination);
  Result<std::shared_ptr<DeviceAllocator>> from = allocator_of(source);
  if (!from.ok()) {
    return std::move(from).error();
  }
  Result<std::shared_ptr<DeviceAllocator>> to = allocator_of(destination);
  if (!to.ok()) {
    return std::move(to).error();
  }
  transfer.source_allocator_ = std::move(from).value();
  transfer.destination_allocator_ = std::move(to).value();
  if (!source.is_cpu() && !destination.is_cpu() && source.type != destination.type) {
    transfer.piece_.reset(new (std::nothrow) unsigned char[kPieceSize]);
    if (transfer.piece_ == nullptr) {
      return Error{ErrorCode::MEMORY_ALLOCATION_FAILED,
                   "there is no memory to copy from " + to_string(source) + " to " +
                       to_string(destination) + " through the host"};
    }
  }
  return transfer;
}

Status Transfer::copy(void* destination, const void* source, std::size_t nbytes) const {
  if (nbytes == 0) {
    return {};
  }
  if (destination_.is_cpu() && source_.is_cpu()) {
    std::memmove(destination, source, nbytes);
    return {};
  }
  if (source_.is_cpu()) {
    return destination_allocator_->copy_host_to_device(destination, source, nbytes,
                                                       destination_.index);
  }
  if (destination_.is_cpu()) {
    return source_allocator_->copy_device_to_host(destination, source, nbytes, source_.index);
  }
  if (piece_ == nullptr) {
    return destination_allocator_->copy_device_to_device(destination, destination_.index, source,
                                                         source_.index, nbytes);
  }
  return copy_through_host(static_cast<unsigned char*>(destination),
                           static_cast<const unsigned char*>(source), nbytes);
}

Status Transfer::copy_through_host(unsigned char* destination, const unsigned char* source,
                                   std::size_t nbytes) const {
  for (std::size_t done = 0; done < nbytes; done += kPieceSize) {
    const std::size_t size = std::min(kPieceSize, nbytes - done);
    if (Status status = source_allocator_->copy_device_to_host(piece_.get(), source + done, size,
                                                               source_.index);
        !status.ok()) {
      return status;
    }
    if (Status status = destination_allocator_->copy_host_to_device(
            destination + done, piece_.get(), size, destination_.index);
        !status.ok()) {
      return status;
    }
  }
  return {};
}

}  // namespace placewire
