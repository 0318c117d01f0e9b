// The part of placewire._runtime that plans memory.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// Adds `plan` and `verify_plan` to the module.
void add_planner(nanobind::module_& module);

}  // namespace placewire::bindings
