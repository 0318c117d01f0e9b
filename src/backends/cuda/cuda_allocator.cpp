// Memory of NVIDIA GPUs.
#include "placewire/backends/cuda/cuda_allocator.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cuda_runtime.h"
#include "staging.h"

namespace placewire {
namespace {

using cuda::CudaRuntime;
using cuda::CurrentDevice;
using cuda::kSuccess;

/// The youngest scope of this thread.
thread_local const CudaStreamScope* youngest_stream_scope = nullptr;

Device cuda_device(DeviceIndex index) noexcept { return {DeviceType::CUDA, index}; }

}  // namespace

struct CudaAllocator::State {
  State(CudaRuntime found, int devices)
      : runtime(std::move(found)), staging(static_cast<std::size_t>(devices)) {}

  CudaRuntime runtime;
  /// One for each device.
  std::vector<cuda::StagingBuffers> staging;

  [[nodiscard]] Status check_index(DeviceIndex index) const {
    if (static_cast<std::size_t>(index) < staging.size()) {
      return {};
    }
    return Error{ErrorCode::NOT_FOUND, to_string(cuda_device(index)) +
                                           " is not there: this machine has " +
                                           std::to_string(staging.size()) + " CUDA device(s)"};
  }

  [[nodiscard]] Status wait(DeviceIndex index, void* stream) const {
    return runtime.status(index, "cudaStreamSynchronize", runtime.stream_synchronize(stream));
  }

  /// Copies with the host on a stream, and waits for it.
  [[nodiscard]] Status copy_and_wait(void* destination, const void* source, std::size_t nbytes,
                                     int kind, DeviceIndex index, void* stream) const {
    Status status = runtime.status(index, "cudaMemcpyAsync",
                                   runtime.copy_async(destination, source, nbytes, kind, stream));
    return status.ok() ? wait(index, stream) : status;
  }

  /// Copies with the host on the default stream, which CUDA waits for.
  [[nodiscard]] Status copy(void* destination, const void* source, std::size_t nbytes, int kind,
                            DeviceIndex index) const {
    return runtime.status(index, "cudaMemcpy", runtime.copy(destination, source, nbytes, kind));
  }
};

CudaAllocator::CudaAllocator(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

CudaAllocator::~CudaAllocator() {
  for (cuda::StagingBuffers& buffers : state_->staging) {
    buffers.clear(state_->runtime);
  }
}

Result<std::shared_ptr<CudaAllocator>> CudaAllocator::create() {
  Result<CudaRuntime> runtime = cuda::load_cuda_runtime();
  if (!runtime.ok()) {
    return std::move(runtime).error();
  }
  int devices = 0;
  const int code = runtime.value().get_device_count(&devices);
  if (code != kSuccess) {
    return runtime.value().error(ErrorCode::NOT_FOUND,
                                 runtime.value().library + " finds no CUDA device", code);
  }
  if (devices < 1) {
    return Error{ErrorCode::NOT_FOUND, runtime.value().library + " finds no CUDA device"};
  }
  return std::shared_ptr<CudaAllocator>(
      new CudaAllocator(std::make_unique<State>(std::move(runtime).value(), devices)));
}

int CudaAllocator::device_count() const noexcept {
  return static_cast<int>(state_->staging.size());
}

const std::string& CudaAllocator::library() const noexcept { return state_->runtime.library; }

Result<void*> CudaAllocator::do_allocate(std::size_t nbytes, DeviceIndex index,
                                         std::size_t alignment) {
  const CudaRuntime& runtime = state_->runtime;
  if (Status status = state_->check_index(index); !status.ok()) {
    return std::move(status).error();
  }
  if (const auto offered = schema::program::alignment(DeviceType::CUDA);
      alignment > static_cast<std::size_t>(offered)) {
    return Error{ErrorCode::NOT_SUPPORTED, to_string(cuda_device(index)) + ": alignment " +
                                               std::to_string(alignment) + " is above the " +
                                               std::to_string(offered) + " bytes that CUDA gives"};
  }
  const CurrentDevice current(runtime, index);
  if (!current.status().ok()) {
    return current.status().error();
  }
  void* pointer = nullptr;
  const int code = runtime.malloc(&pointer, nbytes);
  if (code != kSuccess) {
    return runtime.error(
        ErrorCode::MEMORY_ALLOCATION_FAILED,
        to_string(cuda_device(index)) + ": cannot allocate " + std::to_string(nbytes) + " bytes",
        code);
  }
  return pointer;
}

Result<DeviceProperties> CudaAllocator::do_properties(DeviceIndex index) {
  const CudaRuntime& runtime = state_->runtime;
  if (Status status = state_->check_index(index); !status.ok()) {
    return std::move(status).error();
  }
  const CurrentDevice current(runtime, index);
  if (!current.status().ok()) {
    return current.status().error();
  }
  std::array<int, 2> capability{};
  constexpr std::array<int, 2> kParts = {cuda::kComputeCapabilityMajor,
                                         cuda::kComputeCapabilityMinor};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    Status status = runtime.status(index, "cudaDeviceGetAttribute",
                                   runtime.get_attribute(&capability[i], kParts[i], index));
    if (!status.ok()) {
      return std::move(status).error();
    }
  }
  std::size_t free = 0;
  std::size_t all = 0;
  if (Status status = runtime.status(index, "cudaMemGetInfo", runtime.get_memory(&free, &all));
      !status.ok()) {
    return std::move(status).error();
  }
  return DeviceProperties{"", "sm_" + std::to_string(capability[0]) + std::to_string(capability[1]),
                          all};
}

Status CudaAllocator::do_deallocate(void* pointer, DeviceIndex index) {
  if (Status status = state_->check_index(index); !status.ok()) {
    return status;
  }
  const CurrentDevice current(state_->runtime, index);
  if (!current.status().ok()) {
    return current.status();
  }
  return state_->runtime.status(index, "cudaFree", state_->runtime.free(pointer));
}

Status CudaAllocator::do_copy_host_to_device(void* destination, const void* source,
                                             std::size_t nbytes, DeviceIndex index) {
  if (Status status = state_->check_index(index); !status.ok()) {
    return status;
  }
  const CurrentDevice current(state_->runtime, index);
  if (!current.status().ok()) {
    return current.status();
  }
  const CudaStreamScope* const scope = CudaStreamScope::find(index);
  if (scope == nullptr) {
    return state_->copy(destination, source, nbytes, cuda::kHostToDevice, index);
  }
  if (nbytes <= cuda::StagingBuffers::kLargestCopy) {
    std::optional<Status> status = state_->staging[static_cast<std::size_t>(index)].copy(
        state_->runtime, index, destination, source, nbytes, scope->stream());
    if (status) {
      return *std::move(status);
    }
  }
  return state_->copy_and_wait(destination, source, nbytes, cuda::kHostToDevice, index,
                               scope->stream());
}

Status CudaAllocator::do_copy_device_to_host(void* destination, const void* source,
                                             std::size_t nbytes, DeviceIndex index) {
  if (Status status = state_->check_index(index); !status.ok()) {
    return status;
  }
  const CurrentDevice current(state_->runtime, index);
  if (!current.status().ok()) {
    return current.status();
  }
  const CudaStreamScope* const scope = CudaStreamScope::find(index);
  return scope == nullptr ? state_->copy(destination, source, nbytes, cuda::kDeviceToHost, index)
                          : state_->copy_and_wait(destination, source, nbytes, cuda::kDeviceToHost,
                                                  index, scope->stream());
}

Status CudaAllocator::do_copy_device_to_device(void* destination, DeviceIndex destination_index,
                                               const void* source, DeviceIndex source_index,
                                               std::size_t nbytes) {
  const CudaRuntime& runtime = state_->runtime;
  for (const DeviceIndex index : {destination_index, source_index}) {
    if (Status status = state_->check_index(index); !status.ok()) {
      return status;
    }
  }
  const CurrentDevice current(runtime, destination_index);
  if (!current.status().ok()) {
    return current.status();
  }
  const CudaStreamScope* const scope = CudaStreamScope::find(destination_index);
  void* const stream = scope == nullptr ? nullptr : scope->stream();
  Status status;
  if (destination_index == source_index) {
    status = runtime.status(
        destination_index, "cudaMemcpyAsync",
        runtime.copy_async(destination, source, nbytes, cuda::kDeviceToDevice, stream));
  } else {
    // What still writes the source runs on a stream that this copy's stream knows nothing of.
    if (const CudaStreamScope* const writer = CudaStreamScope::find(source_index)) {
      status = state_->wait(source_index, writer->stream());
      if (!status.ok()) {
        return status;
      }
    }
    status = runtime.status(destination_index, "cudaMemcpyPeerAsync",
                            runtime.copy_peer_async(destination, destination_index, source,
                                                    source_index, nbytes, stream));
  }
  // On one device, the caller's stream keeps the order; the source's stream knows nothing of this
  // one.
  const bool is_ordered = scope != nullptr && destination_index == source_index;
  return status.ok() && !is_ordered ? state_->wait(destination_index, stream) : status;
}

CudaStreamScope::CudaStreamScope(void* stream, DeviceIndex index) noexcept
    : stream_(stream), index_(index), outer_(std::exchange(youngest_stream_scope, this)) {}

CudaStreamScope::~CudaStreamScope() { youngest_stream_scope = outer_; }

const CudaStreamScope* CudaStreamScope::find(DeviceIndex index) noexcept {
  const CudaStreamScope* scope = youngest_stream_scope;
  while (scope != nullptr && scope->index_ != index) {
    scope = scope->outer_;
  }
  return scope;
}

Status register_cuda_allocator() {
  Result<std::shared_ptr<CudaAllocator>> allocator = CudaAllocator::create();
  if (!allocator.ok()) {
    return std::move(allocator).error();
  }
  return register_allocator(std::move(allocator).value());
}

}  // namespace placewire
