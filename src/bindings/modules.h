// Modules and methods for Python: loading, inputs, execution, outputs.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// Adds the classes `Module`, `Method` and `DelegateDescription` to the module.
void bind_modules(nanobind::module_& module);

}  // namespace placewire::bindings
