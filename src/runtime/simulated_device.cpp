// A device made of host memory: pages that nobody may touch, and the bytes that stand behind them.
#include "placewire/runtime/simulated_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "host_memory.h"

namespace placewire {

/// Pages of memory, unmapped in the end.
class SimulatedDevice::Pages {
 public:
  /// Null if there is no memory.
  static std::shared_ptr<Pages> map(std::size_t nbytes, int protection) {
    void* const begin = mmap(nullptr, nbytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return begin == MAP_FAILED ? nullptr : std::make_shared<Pages>(begin, nbytes);
  }

  Pages(void* begin, std::size_t nbytes) noexcept : begin_(begin), nbytes_(nbytes) {}
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin_, nbytes_); }

  [[nodiscard]] unsigned char* begin() const noexcept {
    return static_cast<unsigned char*>(begin_);
  }

 private:
  void* begin_;
  std::size_t nbytes_;
};

struct SimulatedDevice::Allocation {
  std::size_t nbytes;
  /// What the user points at: neither readable nor writable.
  std::shared_ptr<Pages> face;
  std::shared_ptr<Pages> storage;
};

namespace {

constexpr int kFill = 0xff;
/// Allocations beyond this are refused before sizes are added up.
constexpr std::size_t kLargestAllocation = std::numeric_limits<std::size_t>::max() / 4;

std::uintptr_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// All simulated devices of the process, for copies between them and for `owns`.
struct SimulatedDevices {
  std::mutex mutex;
  std::vector<const SimulatedDevice*> all;
};

SimulatedDevices& simulated_devices() {
  static auto& devices = *new SimulatedDevices;
  return devices;
}

Error no_memory(Device device, std::size_t nbytes, const std::string& why) {
  return {ErrorCode::MEMORY_ALLOCATION_FAILED,
          to_string(device) + ": cannot allocate " + std::to_string(nbytes) + " bytes: " + why};
}

/// Most bytes of one simulated device: all of them are filled, and a host or a control group that
/// runs out of memory kills processes instead of refusing.
std::size_t most_memory() { return usable_memory() / 2; }

Error not_a_host_pointer(Device device, const char* side) {
  return {ErrorCode::INVALID_ARGUMENT, to_string(device) + ": the " + side +
                                           " of the copy is memory of a device, not of the host"};
}

Error not_simulated(Device device, DeviceIndex index) {
  return {ErrorCode::NOT_FOUND, to_string(device) + " was asked for memory of " +
                                    to_string(Device{device.type, index}) +
                                    ", which is not simulated"};
}

Status status_of(const Result<void*>& result) {
  return result.ok() ? Status() : Status(result.error());
}

}  // namespace

SimulatedDevice::SimulatedDevice(Device device, std::size_t memory)
    : device_(device), given_(memory), memory_(std::min(memory, most_memory())) {
  SimulatedDevices& devices = simulated_devices();
  const std::lock_guard lock(devices.mutex);
  devices.all.push_back(this);
}

SimulatedDevice::~SimulatedDevice() {
  SimulatedDevices& devices = simulated_devices();
  const std::lock_guard lock(devices.mutex);
  devices.all.erase(std::find(devices.all.begin(), devices.all.end(), this));
}

OperationCount SimulatedDevice::count(DeviceOperation operation) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<std::size_t>(operation)];
}

std::size_t SimulatedDevice::live_allocations() const {
  const std::lock_guard lock(mutex_);
  return allocations_.size();
}

std::size_t SimulatedDevice::live_bytes() const {
  const std::lock_guard lock(mutex_);
  return live_bytes_;
}

std::size_t SimulatedDevice::peak_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

void SimulatedDevice::fail(DeviceOperation operation, std::uint64_t nth) {
  const std::lock_guard lock(mutex_);
  until_failure_[static_cast<std::size_t>(operation)] = nth;
}

Result<void*> SimulatedDevice::backing(const void* pointer, std::size_t nbytes) const {
  const Result<Range> range = find(pointer, nbytes);
  if (!range.ok()) {
    return range.error();
  }
  return static_cast<void*>(range.value().begin);
}

Result<void*> SimulatedDevice::backing_on(Device device, const void* pointer, std::size_t nbytes) {
  Result<Range> range = find_on(device, pointer, nbytes);
  if (!range.ok()) {
    return std::move(range).error();
  }
  return static_cast<void*>(range.value().begin);
}

bool SimulatedDevice::owns(const void* pointer) {
  SimulatedDevices& devices = simulated_devices();
  const std::lock_guard lock(devices.mutex);
  return std::any_of(
      devices.all.begin(), devices.all.end(),
      [pointer](const SimulatedDevice* device) { return device->contains(pointer); });
}

Status SimulatedDevice::begin(DeviceOperation operation, DeviceIndex index) {
  const auto place = static_cast<std::size_t>(operation);
  const std::lock_guard lock(mutex_);
  ++counts_[place].calls;
  std::uint64_t& until_failure = until_failure_[place];
  if (until_failure != 0 && --until_failure == 0) {
    return Error{operation == DeviceOperation::kAllocate ? ErrorCode::MEMORY_ALLOCATION_FAILED
                                                         : ErrorCode::ACCESS_FAILED,
                 to_string(device_) + ": " + std::string(kDeviceOperationNames[place]) +
                     " failed, as the test wants it to"};
  }
  if (index != device_.index) {
    return not_simulated(device_, index);
  }
  return {};
}

Status SimulatedDevice::end(DeviceOperation operation, std::size_t nbytes, Status status) {
  const std::lock_guard lock(mutex_);
  OperationCount& count = counts_[static_cast<std::size_t>(operation)];
  if (status.ok()) {
    count.bytes += nbytes;
  } else {
    ++count.failures;
  }
  return status;
}

Result<DeviceProperties> SimulatedDevice::do_properties(DeviceIndex index) {
  if (index != device_.index) {
    return not_simulated(device_, index);
  }
  const bool is_limited = given_ != std::numeric_limits<std::size_t>::max();
  return DeviceProperties{"", "", is_limited ? given_ : 0};
}

Result<void*> SimulatedDevice::do_allocate(std::size_t nbytes, DeviceIndex index,
                                           std::size_t alignment) {
  Status status = begin(DeviceOperation::kAllocate, index);
  Result<void*> result =
      status.ok() ? try_allocate(nbytes, alignment) : Result<void*>(std::move(status).error());
  (void)end(DeviceOperation::kAllocate, nbytes, status_of(result));
  return result;
}

Result<void*> SimulatedDevice::try_allocate(std::size_t nbytes, std::size_t alignment) {
  if (nbytes > kLargestAllocation || alignment > kLargestAllocation) {
    return no_memory(device_, nbytes, "it has never that much");
  }
  const std::lock_guard lock(mutex_);
  if (nbytes > memory_ || live_bytes_ > memory_ - nbytes) {
    return no_memory(device_, nbytes,
                     std::to_string(live_bytes_) + " of its " + std::to_string(memory_) +
                         " bytes are allocated");
  }
  // One page more than needed keeps what lies behind apart from other mappings.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::shared_ptr<Pages> face = Pages::map(nbytes + alignment + page, PROT_NONE);
  std::shared_ptr<Pages> storage = Pages::map(nbytes, PROT_READ | PROT_WRITE);
  if (face == nullptr || storage == nullptr) {
    return no_memory(device_, nbytes, "the host that simulates it has no memory left");
  }
  std::memset(storage->begin(), kFill, nbytes);
  const std::uintptr_t first = address_of(face->begin());
  const std::uintptr_t address = (first + alignment - 1) / alignment * alignment;
  void* const pointer = face->begin() + (address - first);
  allocations_.emplace(address, Allocation{nbytes, std::move(face), std::move(storage)});
  live_bytes_ += nbytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return pointer;
}

Status SimulatedDevice::do_deallocate(void* pointer, DeviceIndex index) {
  std::size_t nbytes = 0;
  Status status = begin(DeviceOperation::kDeallocate, index);
  if (status.ok()) {
    status = try_deallocate(pointer, nbytes);
  }
  return end(DeviceOperation::kDeallocate, nbytes, std::move(status));
}

Status SimulatedDevice::try_deallocate(void* pointer, std::size_t& nbytes) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address_of(pointer));
  if (found == allocations_.end()) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 to_string(device_) + ": what is to be freed is not the start of an allocation"};
  }
  nbytes = found->second.nbytes;
  live_bytes_ -= nbytes;
  allocations_.erase(found);
  return {};
}

Result<SimulatedDevice::Range> SimulatedDevice::find(const void* pointer,
                                                     std::size_t nbytes) const {
  const std::uintptr_t address = address_of(pointer);
  const std::lock_guard lock(mutex_);
  auto found = allocations_.upper_bound(address);
  if (found != allocations_.begin()) {
    const auto& [begin, allocation] = *--found;
    const std::size_t offset = address - begin;
    if (offset <= allocation.nbytes && nbytes <= allocation.nbytes - offset) {
      return Range{allocation.storage, allocation.storage->begin() + offset};
    }
    if (offset < allocation.nbytes) {
      return Error{ErrorCode::INVALID_ARGUMENT, to_string(device_) + ": " + std::to_string(nbytes) +
                                                    " bytes at offset " + std::to_string(offset) +
                                                    " end behind the allocation of " +
                                                    std::to_string(allocation.nbytes) + " bytes"};
    }
  }
  return Error{ErrorCode::INVALID_ARGUMENT,
               to_string(device_) + ": a pointer is not into memory that is allocated on it"};
}

bool SimulatedDevice::contains(const void* pointer) const {
  const std::uintptr_t address = address_of(pointer);
  const std::lock_guard lock(mutex_);
  const auto next = allocations_.upper_bound(address);
  return next != allocations_.begin() &&
         address - std::prev(next)->first < std::prev(next)->second.nbytes;
}

Result<SimulatedDevice::Range> SimulatedDevice::find_on(Device device, const void* pointer,
                                                        std::size_t nbytes) {
  SimulatedDevices& devices = simulated_devices();
  const std::lock_guard lock(devices.mutex);
  Result<Range> answer =
      Error{ErrorCode::NOT_FOUND, to_string(device) + " is not simulated in this process"};
  for (const SimulatedDevice* candidate : devices.all) {
    if (candidate->device() == device) {
      answer = candidate->find(pointer, nbytes);
      if (answer.ok()) {
        break;
      }
    }
  }
  return answer;
}

Status SimulatedDevice::do_copy_host_to_device(void* destination, const void* source,
                                               std::size_t nbytes, DeviceIndex index) {
  Status status = begin(DeviceOperation::kCopyHostToDevice, index);
  if (status.ok()) {
    const Result<Range> range = find(destination, nbytes);
    if (!range.ok()) {
      status = range.error();
    } else if (owns(source)) {
      status = not_a_host_pointer(device_, "source");
    } else {
      std::memcpy(range.value().begin, source, nbytes);
    }
  }
  return end(DeviceOperation::kCopyHostToDevice, nbytes, std::move(status));
}

Status SimulatedDevice::do_copy_device_to_host(void* destination, const void* source,
                                               std::size_t nbytes, DeviceIndex index) {
  Status status = begin(DeviceOperation::kCopyDeviceToHost, index);
  if (status.ok()) {
    const Result<Range> range = find(source, nbytes);
    if (!range.ok()) {
      status = range.error();
    } else if (owns(destination)) {
      status = not_a_host_pointer(device_, "destination");
    } else {
      std::memcpy(destination, range.value().begin, nbytes);
    }
  }
  return end(DeviceOperation::kCopyDeviceToHost, nbytes, std::move(status));
}

Status SimulatedDevice::do_copy_device_to_device(void* destination, DeviceIndex destination_index,
                                                 const void* source, DeviceIndex source_index,
                                                 std::size_t nbytes) {
  Status status = begin(DeviceOperation::kCopyDeviceToDevice, destination_index);
  if (status.ok()) {
    const Result<Range> to = find(destination, nbytes);
    const Result<Range> from = source_index == device_.index
                                   ? find(source, nbytes)
                                   : find_on({device_.type, source_index}, source, nbytes);
    if (to.ok() && from.ok()) {
      std::memcpy(to.value().begin, from.value().begin, nbytes);
    } else {
      status = to.ok() ? from.error() : to.error();
    }
  }
  return end(DeviceOperation::kCopyDeviceToDevice, nbytes, std::move(status));
}

}  // namespace placewire
