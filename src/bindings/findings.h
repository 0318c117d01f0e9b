// Findings of the validator, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "placewire/runtime/finding.h"

namespace placewire::bindings {

/// A list of objects of the generated class `Finding`.
[[nodiscard]] nanobind::list to_python(const std::vector<Finding>& findings);

}  // namespace placewire::bindings
