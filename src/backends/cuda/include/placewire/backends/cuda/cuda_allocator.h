// Memory of NVIDIA GPUs, through the CUDA runtime library that is found when it is first needed.
//
// Nothing of CUDA is needed to build this: no headers, no library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "placewire/runtime/allocator.h"
#include "placewire/runtime/api.h"

namespace placewire {

/// The allocator for all CUDA devices of the machine.
///
/// Every call works on the device that it names, and leaves the thread's current device as it was.
/// Memory of the host may be reused when a copy returns. If the calling thread has a
/// CudaStreamScope for the device, copies take its stream: those to the host and to another device
/// wait for it, small ones from the host go through page-locked memory and do not wait, and those
/// inside the device do not wait either. Without one they take the default stream and have ended on
/// return.
///
/// Errors, besides those of DeviceAllocator: NOT_FOUND for an index that the machine does not have;
/// NOT_SUPPORTED for an alignment above the 256 bytes that CUDA gives; MEMORY_ALLOCATION_FAILED if
/// an allocation fails; ACCESS_FAILED if anything else does. The message has CUDA's own text and
/// number. An error that only concerns the call is taken back from CUDA's record of the last error.
/// Threads: every function may be called from any number of threads.
class CudaAllocator final : public DeviceAllocator {
 public:
  /// Loads the CUDA runtime library and asks it for devices.
  ///
  /// The library is the one that the environment variable PLACEWIRE_CUDART names; if it is not set,
  /// libcudart.so.13, libcudart.so.12 or libcudart.so, as the dynamic linker finds them. It is
  /// never unloaded. Errors: NOT_FOUND if there is no library (the message has all that were tried,
  /// and why each failed), if it lacks a function, if there is no driver, or no device.
  [[nodiscard]] PLACEWIRE_API static Result<std::shared_ptr<CudaAllocator>> create();

  PLACEWIRE_API ~CudaAllocator() override;

  [[nodiscard]] DeviceType device_type() const noexcept override { return DeviceType::CUDA; }
  /// How many devices the machine has; at least 1.
  [[nodiscard]] PLACEWIRE_API int device_count() const noexcept;
  /// The library that was loaded, as it was named to the dynamic linker.
  [[nodiscard]] PLACEWIRE_API const std::string& library() const noexcept;

 private:
  struct State;

  explicit CudaAllocator(std::unique_ptr<State> state) noexcept;

  /// The architecture, as `sm_90`, and the memory.
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

  std::unique_ptr<State> state_;
};

/// Lets the copies of this thread take a stream of the caller's, for as long as the object lives.
///
/// Scopes nest: for each device the youngest counts. The stream is not owned. When the scope ends,
/// nobody waits for the stream; wait for it before you copy the same memory without it.
class CudaStreamScope {
 public:
  /// `stream` is a cudaStream_t of device `index`; null is the default stream.
  PLACEWIRE_API CudaStreamScope(void* stream, DeviceIndex index) noexcept;
  CudaStreamScope(const CudaStreamScope&) = delete;
  CudaStreamScope& operator=(const CudaStreamScope&) = delete;
  PLACEWIRE_API ~CudaStreamScope();

  /// The youngest scope of this thread for a device; null if it has none.
  [[nodiscard]] PLACEWIRE_API static const CudaStreamScope* find(DeviceIndex index) noexcept;
  [[nodiscard]] void* stream() const noexcept { return stream_; }

 private:
  void* stream_;
  DeviceIndex index_;
  const CudaStreamScope* outer_;
};

/// Creates a CudaAllocator and registers it for CUDA.
///
/// Errors: those of `CudaAllocator::create` and `register_allocator`.
PLACEWIRE_API Status register_cuda_allocator();

}  // namespace placewire
