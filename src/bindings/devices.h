// Device memory for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// Adds the registry of allocators, buffers of device memory, and simulated devices to a module.
void bind_devices(nanobind::module_& module);

}  // namespace placewire::bindings
