// The walk by a schema that is data, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// Adds `SchemaWalk` to the module.
void bind_schema_walk(nanobind::module_& module);

}  // namespace placewire::bindings
