// A CUDA runtime library for machines without a GPU, on top of simulated devices.
//
// It is loaded exactly as the real one. What is asynchronous is done as late as CUDA may do it:
// when somebody waits for the stream. Environment: FAKE_CUDA_DEVICES is the number of devices
// (default 2), FAKE_CUDA_MEMORY the bytes of each; with FAKE_CUDA_WITHOUT_DRIVER there is no
// driver.
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "placewire/runtime/simulated_device.h"
#include "placewire/runtime/simulated_stream.h"

#define FAKE_CUDA extern "C" __attribute__((visibility("default")))

namespace {

using placewire::Device;
using placewire::DeviceIndex;
using placewire::DeviceType;
using placewire::Error;
using placewire::ErrorCode;
using placewire::SimulatedDevice;
using placewire::SimulatedStream;
using placewire::Status;

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidHandle = 400;
constexpr int kNotReady = 600;
constexpr int kComputeCapabilityMajor = 75;
constexpr std::size_t kMemory = std::size_t{1} << 36;

struct Stream {
  int device;
  bool is_destroyed = false;
  SimulatedStream work;
};

struct Event {
  int device;
  Stream* stream = nullptr;
  std::uint64_t position = 0;
};

std::size_t number_from(const char* variable, std::size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Machine {
  Machine() {
    const std::size_t memory = number_from("FAKE_CUDA_MEMORY", std::size_t{1} << 30);
    for (std::size_t index = 0; index < number_from("FAKE_CUDA_DEVICES", 2); ++index) {
      const Device device{DeviceType::CUDA, static_cast<DeviceIndex>(index)};
      devices.push_back(std::make_unique<SimulatedDevice>(device, memory));
      default_streams.push_back(std::make_unique<Stream>());
      default_streams.back()->device = static_cast<int>(index);
    }
  }

  std::vector<std::unique_ptr<SimulatedDevice>> devices;
  std::vector<std::unique_ptr<Stream>> default_streams;
  std::mutex mutex;
  std::map<std::string, std::pair<int, int>> faults;  // calls until it fails, and with what
  void (*in_copy)(void*) = nullptr;
  void* in_copy_argument = nullptr;
  /// Also those that were destroyed, whose work goes on.
  std::vector<std::unique_ptr<Stream>> streams;
  std::set<Event*> events;
  std::set<void*> host_blocks;
};

Machine& machine() {
  static auto& only = *new Machine;
  return only;
}

thread_local int current = 0;
thread_local int last_error = kSuccess;

int record(int code) {
  if (code != kSuccess) {
    last_error = code;
  }
  return code;
}

/// The error that the test wants of this call; else success.
int injected(const char* function) {
  const std::lock_guard lock(machine().mutex);
  const auto found = machine().faults.find(function);
  if (found == machine().faults.end() || --found->second.first > 0) {
    return kSuccess;
  }
  const int code = found->second.second;
  machine().faults.erase(found);
  return record(code);
}

Stream* stream_of(void* handle) {
  return handle == nullptr ? machine().default_streams[static_cast<std::size_t>(current)].get()
                           : static_cast<Stream*>(handle);
}

SimulatedDevice* device_at(int index) {
  return machine().devices[static_cast<std::size_t>(index)].get();
}

/// The device that has some memory; null for the host's.
SimulatedDevice* owner_of(const void* pointer) {
  for (const auto& device : machine().devices) {
    if (device->backing(pointer, 1).ok()) {
      return device.get();
    }
  }
  return nullptr;
}

Status no_device() { return Error{ErrorCode::INVALID_ARGUMENT, "not device memory"}; }

Status copy_now(void* destination, const void* source, std::size_t nbytes, int kind) {
  SimulatedDevice* const to = owner_of(destination);
  SimulatedDevice* const from = owner_of(source);
  switch (kind) {
    case 1:
      return to == nullptr
                 ? no_device()
                 : to->copy_host_to_device(destination, source, nbytes, to->device().index);
    case 2:
      return from == nullptr
                 ? no_device()
                 : from->copy_device_to_host(destination, source, nbytes, from->device().index);
    case 3:
      return to == nullptr || from == nullptr
                 ? no_device()
                 : to->copy_device_to_device(destination, to->device().index, source,
                                             from->device().index, nbytes);
    default:
      return no_device();
  }
}

int code_of(const Status& status) { return status.ok() ? kSuccess : kInvalidValue; }

/// As the real library does, wrong pointers are found at once; the bytes are moved later.
int copy_later(void* destination, const void* source, std::size_t nbytes, int kind, void* handle) {
  Stream* const stream = stream_of(handle);
  if (stream->device != current || stream->is_destroyed) {
    return kInvalidHandle;
  }
  const bool to_device = owner_of(destination) != nullptr;
  const bool from_device = owner_of(source) != nullptr;
  if (to_device != (kind == 1 || kind == 3) || from_device != (kind == 2 || kind == 3)) {
    return kInvalidValue;
  }
  stream->work.submit(
      [destination, source, nbytes, kind] { return copy_now(destination, source, nbytes, kind); });
  return kSuccess;
}

int wait_for_device(int index) {
  std::vector<Stream*> all = {machine().default_streams[static_cast<std::size_t>(index)].get()};
  {
    const std::lock_guard lock(machine().mutex);
    for (const auto& stream : machine().streams) {
      all.push_back(stream.get());
    }
  }
  int code = kSuccess;
  for (Stream* const stream : all) {
    if (stream->device == index && !stream->work.synchronize().ok()) {
      code = kInvalidValue;
    }
  }
  return code;
}

}  // namespace

#define FAIL_IF_INJECTED() \
  if (const int wanted = injected(__func__); wanted != 0) return wanted

// For tests.

/// Lets the nth call of a function from now on fail with an error of CUDA.
FAKE_CUDA void fake_cuda_fail(const char* function, int nth, int code) {
  const std::lock_guard lock(machine().mutex);
  machine().faults[function] = {nth, code};
}
/// Calls a function inside every cudaMemcpyAsync, as another thread might be doing something then.
FAKE_CUDA void fake_cuda_in_copy(void (*function)(void*), void* argument) {
  machine().in_copy = function;
  machine().in_copy_argument = argument;
}
FAKE_CUDA std::size_t fake_cuda_live_allocations(int device) {
  return device_at(device)->live_allocations();
}
FAKE_CUDA std::size_t fake_cuda_host_blocks() {
  const std::lock_guard lock(machine().mutex);
  return machine().host_blocks.size();
}
FAKE_CUDA std::size_t fake_cuda_events() {
  const std::lock_guard lock(machine().mutex);
  return machine().events.size();
}
FAKE_CUDA std::size_t fake_cuda_pending(void* stream) {
  return stream_of(stream)->work.submitted() - stream_of(stream)->work.completed();
}
FAKE_CUDA int fake_cuda_last_error() { return last_error; }

// The library.

FAKE_CUDA int cudaGetDeviceCount(int* count) {
  FAIL_IF_INJECTED();
  if (std::getenv("FAKE_CUDA_WITHOUT_DRIVER") != nullptr) {
    return record(35);
  }
  *count = static_cast<int>(machine().devices.size());
  return *count > 0 || std::getenv("FAKE_CUDA_ZERO_IS_FINE") != nullptr ? kSuccess
                                                                        : record(kNoDevice);
}

FAKE_CUDA int cudaDeviceGetAttribute(int* value, int attribute, int index) {
  FAIL_IF_INJECTED();
  if (index < 0 || static_cast<std::size_t>(index) >= machine().devices.size()) {
    return record(kInvalidDevice);
  }
  *value = attribute == kComputeCapabilityMajor ? 9 : 0;
  return kSuccess;
}

FAKE_CUDA int cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  FAIL_IF_INJECTED();
  *free = *all = kMemory;
  return kSuccess;
}

FAKE_CUDA int cudaGetDevice(int* index) {
  FAIL_IF_INJECTED();
  *index = current;
  return kSuccess;
}

FAKE_CUDA int cudaSetDevice(int index) {
  FAIL_IF_INJECTED();
  if (index < 0 || static_cast<std::size_t>(index) >= machine().devices.size()) {
    return record(kInvalidDevice);
  }
  current = index;
  return kSuccess;
}

FAKE_CUDA int cudaMalloc(void** pointer, std::size_t nbytes) {
  FAIL_IF_INJECTED();
  const auto memory = device_at(current)->allocate(nbytes, static_cast<DeviceIndex>(current), 256);
  if (!memory.ok()) {
    return record(kOutOfMemory);
  }
  *pointer = memory.value();
  return kSuccess;
}

FAKE_CUDA int cudaFree(void* pointer) {
  FAIL_IF_INJECTED();
  SimulatedDevice* const device = owner_of(pointer);
  if (device == nullptr) {
    return record(kInvalidValue);
  }
  const int code = wait_for_device(device->device().index);
  const Status status = device->deallocate(pointer, device->device().index);
  return record(code != kSuccess ? code : code_of(status));
}

FAKE_CUDA int cudaMemcpy(void* destination, const void* source, std::size_t nbytes, int kind) {
  FAIL_IF_INJECTED();
  const Status before = stream_of(nullptr)->work.synchronize();
  const Status status = copy_now(destination, source, nbytes, kind);
  return record(before.ok() ? code_of(status) : kInvalidValue);
}

FAKE_CUDA int cudaMemcpyAsync(void* destination, const void* source, std::size_t nbytes, int kind,
                              void* stream) {
  FAIL_IF_INJECTED();
  if (machine().in_copy != nullptr) {
    machine().in_copy(machine().in_copy_argument);
  }
  return record(copy_later(destination, source, nbytes, kind, stream));
}

FAKE_CUDA int cudaMemcpyPeerAsync(void* destination, int destination_index, const void* source,
                                  int source_index, std::size_t nbytes, void* stream) {
  FAIL_IF_INJECTED();
  const SimulatedDevice* const to = owner_of(destination);
  const SimulatedDevice* const from = owner_of(source);
  if (to == nullptr || from == nullptr || to->device().index != destination_index ||
      from->device().index != source_index) {
    return record(kInvalidValue);
  }
  return record(copy_later(destination, source, nbytes, 3, stream));
}

FAKE_CUDA int cudaStreamCreate(void** stream) {
  FAIL_IF_INJECTED();
  auto made = std::make_unique<Stream>();
  made->device = current;
  *stream = made.get();
  const std::lock_guard lock(machine().mutex);
  machine().streams.push_back(std::move(made));
  return kSuccess;
}

FAKE_CUDA int cudaStreamSynchronize(void* stream) {
  FAIL_IF_INJECTED();
  return record(code_of(stream_of(stream)->work.synchronize()));
}

FAKE_CUDA int cudaStreamDestroy(void* stream) {
  FAIL_IF_INJECTED();
  static_cast<Stream*>(stream)->is_destroyed = true;
  return kSuccess;
}

FAKE_CUDA int cudaHostAlloc(void** pointer, std::size_t nbytes, unsigned) {
  FAIL_IF_INJECTED();
  *pointer = std::malloc(nbytes);
  const std::lock_guard lock(machine().mutex);
  machine().host_blocks.insert(*pointer);
  return kSuccess;
}

FAKE_CUDA int cudaFreeHost(void* pointer) {
  FAIL_IF_INJECTED();
  const std::lock_guard lock(machine().mutex);
  if (machine().host_blocks.erase(pointer) == 0) {
    return record(kInvalidValue);
  }
  std::free(pointer);
  return kSuccess;
}

FAKE_CUDA int cudaEventCreateWithFlags(void** event, unsigned) {
  FAIL_IF_INJECTED();
  auto* const made = new Event;
  made->device = current;
  const std::lock_guard lock(machine().mutex);
  machine().events.insert(made);
  *event = made;
  return kSuccess;
}

FAKE_CUDA int cudaEventRecord(void* event, void* stream) {
  FAIL_IF_INJECTED();
  auto* const recorded = static_cast<Event*>(event);
  if (recorded->device != stream_of(stream)->device) {
    return record(kInvalidHandle);
  }
  recorded->stream = stream_of(stream);
  recorded->position = recorded->stream->work.submitted();
  return kSuccess;
}

FAKE_CUDA int cudaEventQuery(void* event) {
  FAIL_IF_INJECTED();
  const auto* const asked = static_cast<Event*>(event);
  const bool is_done =
      asked->stream == nullptr || asked->stream->work.completed() >= asked->position;
  return is_done ? kSuccess : record(kNotReady);
}

FAKE_CUDA int cudaEventSynchronize(void* event) {
  FAIL_IF_INJECTED();
  const auto* const awaited = static_cast<Event*>(event);
  return awaited->stream == nullptr
             ? kSuccess
             : record(code_of(awaited->stream->work.complete(awaited->position)));
}

FAKE_CUDA int cudaEventDestroy(void* event) {
  FAIL_IF_INJECTED();
  const std::lock_guard lock(machine().mutex);
  machine().events.erase(static_cast<Event*>(event));
  delete static_cast<Event*>(event);
  return kSuccess;
}

FAKE_CUDA int cudaGetLastError() {
  const int code = last_error;
  last_error = kSuccess;
  return code;
}

FAKE_CUDA const char* cudaGetErrorString(int code) {
  switch (code) {
    case kOutOfMemory:
      return "out of memory";
    case 35:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case kNoDevice:
      return "no CUDA-capable device is detected";
    case kInvalidHandle:
      return "invalid resource handle";
    default:
      return "invalid argument";
  }
}
