// Functions and classes that the compiled part of torch has.
#pragma once

#include <nanobind/nanobind.h>

namespace placewire::bindings {

/// A new reference to what `torch._C` has by this name; null with an exception set if there is no
/// torch. The interpreter lock must be held. Torch is imported if it was not.
[[nodiscard]] inline PyObject* find_in_torch(const char* name) noexcept {
  const nanobind::object module = nanobind::steal(PyImport_ImportModule("torch._C"));
  return module.is_valid() ? PyObject_GetAttrString(module.ptr(), name) : nullptr;
}

}  // namespace placewire::bindings
