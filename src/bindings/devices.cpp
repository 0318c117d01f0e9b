// Device memory for Python: the registry of allocators, buffers, and simulated devices.
#include "devices.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "argument_types.h"
#include "buffer_view.h"
#include "errors.h"
#include "placewire/backends/cuda/cuda_allocator.h"
#include "placewire/runtime/buffers.h"
#include "placewire/runtime/simulated_device.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

Device device_of(std::int8_t type, std::int8_t index) {
  return {static_cast<DeviceType>(type), index};
}

DeviceOperation operation_named(std::string_view name) {
  const auto& names = kDeviceOperationNames;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::string message = "\"" + std::string(name) + "\" is no operation of a device; valid is ";
    for (const std::string_view valid : names) {
      message += (valid == names.front() ? "" : ", ") + std::string(valid);
    }
    raise({ErrorCode::INVALID_ARGUMENT, message});
  }
  return static_cast<DeviceOperation>(found - names.begin());
}

/// A simulated device, and its place in the registry while it has one.
class Simulation {
 public:
  Simulation(std::int8_t type, std::int8_t index, std::size_t memory)
      : device_(std::make_shared<SimulatedDevice>(device_of(type, index), memory)) {}

  void install() {
    if (scope_) {
      raise({ErrorCode::INVALID_STATE, to_string(device_->device()) + " is installed already"});
    }
    scope_ = value_or_raise(ScopedAllocator::install(device_, device_->device().index));
  }
  void remove() { scope_.reset(); }

  [[nodiscard]] SimulatedDevice& device() const { return *device_; }

  [[nodiscard]] nb::tuple count(std::string_view operation) const {
    const OperationCount count = device_->count(operation_named(operation));
    return nb::make_tuple(count.calls, count.failures, count.bytes);
  }
  void fail(std::string_view operation, std::uint64_t nth) const {
    device_->fail(operation_named(operation), nth);
  }
  [[nodiscard]] std::uintptr_t backing(std::uintptr_t address, std::size_t nbytes) const {
    const auto* const pointer = reinterpret_cast<const void*>(address);
    return reinterpret_cast<std::uintptr_t>(value_or_raise(device_->backing(pointer, nbytes)));
  }

 private:
  std::shared_ptr<SimulatedDevice> device_;
  std::optional<ScopedAllocator> scope_;
};

/// First byte of a range of a buffer, after checking that all of it is there.
char* range_of(const DeviceMemoryBuffer& buffer, std::size_t offset, std::size_t nbytes) {
  if (offset > buffer.size() || nbytes > buffer.size() - offset) {
    raise({ErrorCode::INVALID_ARGUMENT, std::to_string(nbytes) + " bytes at offset " +
                                            std::to_string(offset) + " end behind the buffer of " +
                                            std::to_string(buffer.size()) + " bytes"});
  }
  return static_cast<char*>(buffer.data()) + offset;
}

void write(const DeviceMemoryBuffer& buffer, nb::handle data, std::size_t offset) {
  check_buffer("data", data);
  const BufferView view(data);
  char* const destination = range_of(buffer, offset, view.size());
  if (view.size() != 0) {
    raise_if_failed(buffer.allocator()->copy_host_to_device(destination, view.data(), view.size(),
                                                            buffer.device().index));
  }
}

nb::bytes read(const DeviceMemoryBuffer& buffer, std::size_t nbytes, std::size_t offset) {
  const char* const source = range_of(buffer, offset, nbytes);
  std::string bytes(nbytes, '\0');
  if (nbytes != 0) {
    raise_if_failed(buffer.allocator()->copy_device_to_host(bytes.data(), source, nbytes,
                                                            buffer.device().index));
  }
  return nb::bytes(bytes.data(), bytes.size());
}

void bind_registry(nb::module_& module) {
  module.def(
      "has_allocator",
      [](std::int8_t type, std::int8_t index) {
        return find_allocator(device_of(type, index)).ok();
      },
      nb::arg("device_type"), nb::arg("index"));
  module.def("register_cuda_allocator", [] { raise_if_failed(register_cuda_allocator()); });
  module.def(
      "unregister_allocator",
      [](std::int8_t type) {
        (void)value_or_raise(unregister_allocator(static_cast<DeviceType>(type)));
      },
      nb::arg("device_type"));
  module.def("cuda_device_count",
             [] { return value_or_raise(CudaAllocator::create())->device_count(); });
}

void bind_buffers(nb::module_& module) {
  nb::class_<DeviceMemoryBuffer>(module, "DeviceMemoryBuffer")
      .def(
          "__init__",
          [](DeviceMemoryBuffer* self, std::size_t nbytes, std::int8_t type, std::int8_t index,
             std::size_t alignment) {
            new (self) DeviceMemoryBuffer(value_or_raise(
                DeviceMemoryBuffer::create(nbytes, device_of(type, index), alignment)));
          },
          nb::arg("nbytes"), nb::arg("device_type"), nb::arg("index"), nb::arg("alignment") = 0)
      .def_prop_ro("address",
                   [](const DeviceMemoryBuffer& self) {
                     return reinterpret_cast<std::uintptr_t>(self.data());
                   })
      .def_prop_ro("size", &DeviceMemoryBuffer::size)
      .def("write", &write, nb::arg("data").none(), nb::arg("offset") = 0)
      .def("read", &read, nb::arg("nbytes"), nb::arg("offset") = 0)
      .def("free", [](DeviceMemoryBuffer& self) { raise_if_failed(self.free()); });
}

void bind_simulation(nb::module_& module) {
  nb::list names;
  for (const std::string_view name : kDeviceOperationNames) {
    names.append(name);
  }
  module.attr("DEVICE_OPERATIONS") = nb::tuple(names);
  nb::class_<Simulation>(module, "SimulatedDevice")
      .def(nb::init<std::int8_t, std::int8_t, std::size_t>(), nb::arg("device_type"),
           nb::arg("index"), nb::arg("memory"))
      .def("install", &Simulation::install)
      .def("remove", &Simulation::remove)
      .def_prop_ro("live_allocations",
                   [](const Simulation& self) { return self.device().live_allocations(); })
      .def_prop_ro("live_bytes", [](const Simulation& self) { return self.device().live_bytes(); })
      .def_prop_ro("peak_bytes", [](const Simulation& self) { return self.device().peak_bytes(); })
      .def("count", &Simulation::count, nb::arg("operation"))
      .def("fail", &Simulation::fail, nb::arg("operation"), nb::arg("nth"))
      .def("backing", &Simulation::backing, nb::arg("address"), nb::arg("nbytes"));
}

}  // namespace

void bind_devices(nb::module_& module) {
  bind_registry(module);
  bind_buffers(module);
  bind_simulation(module);
}

}  // namespace placewire::bindings
