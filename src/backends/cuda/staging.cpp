// Copies to a device through page-locked host memory.
#include "staging.h"

#include <cstring>

namespace placewire::cuda {

std::optional<Status> StagingBuffers::copy(const CudaRuntime& runtime, DeviceIndex index,
                                           void* destination, const void* source,
                                           std::size_t nbytes, void* stream) {
  const std::optional<StagingBuffer> buffer = take(runtime);
  if (!buffer) {
    return std::nullopt;
  }
  std::memcpy(buffer->host, source, nbytes);
  Status status =
      runtime.status(index, "cudaMemcpyAsync",
                     runtime.copy_async(destination, buffer->host, nbytes, kHostToDevice, stream));
  if (status.ok()) {
    status = runtime.status(index, "cudaEventRecord", runtime.event_record(buffer->event, stream));
    if (!status.ok()) {
      (void)runtime.stream_synchronize(stream);  // the event does not tell when it was fetched
    }
  }
  const std::lock_guard lock(mutex_);
  free_.push_back(*buffer);
  return status;
}

std::optional<StagingBuffers::StagingBuffer> StagingBuffers::take(const CudaRuntime& runtime) {
  const std::lock_guard lock(mutex_);
  const bool none_is_ready = free_.empty() || runtime.event_query(free_.front().event) != kSuccess;
  if (none_is_ready) {
    (void)runtime.get_last_error();  // where the query left that the event is not ready
  }
  if (none_is_ready && count_ < kMostBuffers) {
    std::optional<StagingBuffer> made = make(runtime);
    if (made) {
      ++count_;
    }
    return made;
  }
  if (free_.empty()) {
    return std::nullopt;
  }
  const StagingBuffer oldest = free_.front();
  if (none_is_ready && runtime.event_synchronize(oldest.event) != kSuccess) {
    (void)runtime.get_last_error();
    return std::nullopt;
  }
  free_.pop_front();
  return oldest;
}

std::optional<StagingBuffers::StagingBuffer> StagingBuffers::make(const CudaRuntime& runtime) {
  StagingBuffer buffer;
  if (runtime.host_alloc(&buffer.host, kLargestCopy, kHostMemoryForAllDevices) != kSuccess) {
    (void)runtime.get_last_error();
    return std::nullopt;
  }
  if (runtime.event_create(&buffer.event, kEventWithoutTiming) != kSuccess) {
    (void)runtime.get_last_error();
    (void)runtime.free_host(buffer.host);
    return std::nullopt;
  }
  return buffer;
}

void StagingBuffers::clear(const CudaRuntime& runtime) noexcept {
  for (const StagingBuffer& buffer : free_) {
    (void)runtime.event_synchronize(buffer.event);
    (void)runtime.event_destroy(buffer.event);
    (void)runtime.free_host(buffer.host);
  }
  free_.clear();
  count_ = 0;
}

}  // namespace placewire::cuda
