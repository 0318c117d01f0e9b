// Programs and what they say of their methods, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// Adds the classes `Program`, `MethodMeta`, `ValueMeta` and `TensorMeta` to the module. All but
/// the first are copies, independent of the program.
void bind_programs(nanobind::module_& module);

}  // namespace placewire::bindings
