// The functions of the CUDA runtime library that we call, found when the program runs.
#pragma once

#include <cstddef>
#include <string>

#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"

namespace placewire::cuda {

// Numbers of CUDA's interface.
inline constexpr int kSuccess = 0;
inline constexpr int kHostToDevice = 1;
inline constexpr int kDeviceToHost = 2;
inline constexpr int kDeviceToDevice = 3;
inline constexpr unsigned kEventWithoutTiming = 2;
inline constexpr unsigned kHostMemoryForAllDevices = 1;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;

/// A loaded library. Every function returns a cudaError_t, unless it says otherwise; streams and
/// events are pointers.
struct CudaRuntime {
  std::string library;

  int (*get_device_count)(int* count) = nullptr;
  int (*get_device)(int* index) = nullptr;
  int (*set_device)(int index) = nullptr;
  int (*get_attribute)(int* value, int attribute, int index) = nullptr;
  int (*get_memory)(std::size_t* free, std::size_t* all) = nullptr;
  int (*malloc)(void** pointer, std::size_t nbytes) = nullptr;
  int (*free)(void* pointer) = nullptr;
  int (*copy)(void* destination, const void* source, std::size_t nbytes, int kind) = nullptr;
  int (*copy_async)(void* destination, const void* source, std::size_t nbytes, int kind,
                    void* stream) = nullptr;
  int (*copy_peer_async)(void* destination, int destination_index, const void* source,
                         int source_index, std::size_t nbytes, void* stream) = nullptr;
  int (*stream_synchronize)(void* stream) = nullptr;
  int (*host_alloc)(void** pointer, std::size_t nbytes, unsigned flags) = nullptr;
  int (*free_host)(void* pointer) = nullptr;
  int (*event_create)(void** event, unsigned flags) = nullptr;
  int (*event_record)(void* event, void* stream) = nullptr;
  int (*event_query)(void* event) = nullptr;
  int (*event_synchronize)(void* event) = nullptr;
  int (*event_destroy)(void* event) = nullptr;
  int (*get_last_error)() = nullptr;
  const char* (*get_error_string)(int error) = nullptr;

  /// What failed, with CUDA's text and number; takes the error back from CUDA's record.
  [[nodiscard]] Error error(ErrorCode code, const std::string& what, int cuda_error) const;
  /// Success, or an ACCESS_FAILED that says on which device what failed.
  [[nodiscard]] Status status(DeviceIndex index, const char* function, int cuda_error) const;
};

/// Loads the library as `CudaAllocator::create` says. Devices are not asked for.
[[nodiscard]] Result<CudaRuntime> load_cuda_runtime();

/// Makes a device the thread's current one, and the former one again in the end.
class CurrentDevice {
 public:
  CurrentDevice(const CudaRuntime& runtime, DeviceIndex index);
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice();

  /// Whether the device is the current one; if not, the object does nothing in the end.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  const CudaRuntime& runtime_;
  int former_ = 0;
  bool changed_ = false;
  Status status_;
};

}  // namespace placewire::cuda
