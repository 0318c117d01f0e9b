// Python exceptions on their way through the core: they become Errors, and causes again.
#pragma once

#include <Python.h>

#include <string_view>

#include "placewire/runtime/result.h"

namespace placewire::bindings {

/// Takes the thread's current Python exception and makes an Error of it: `ValueError: no such row`.
///
/// An exception of placewire's own keeps its code and its message; others get `code`. The exception
/// itself is kept for this thread until the next one, so that `add_cause` finds it.
/// The interpreter lock must be held, and an exception be set.
[[nodiscard]] Error take_exception(ErrorCode code);

/// The exception that an error came from, if this thread took it last, as a new reference; else
/// null. It is forgotten then. The interpreter lock must be held.
[[nodiscard]] PyObject* release_cause(std::string_view message);

}  // namespace placewire::bindings
