// Turns the core's errors into the Python exceptions that are generated for their codes, and back.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "placewire/runtime/result.h"

namespace placewire::bindings {

/// Throws the exception class of the error's code, with its message. If the error is one that
/// `error_of` made on this thread, the Python exception that it stands for is the cause.
[[noreturn]] void raise(const Error& error);

/// The Error that stands for an exception of Python code which the core has called: its message has
/// the exception's type and text. Needs the interpreter lock.
[[nodiscard]] Error error_of(nanobind::python_error& exception, ErrorCode code);

/// The value; if there is none, throws as `raise` does.
template <typename T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) {
    raise(result.error());
  }
  return std::move(result).value();
}

/// Returns if the call succeeded; else throws as `raise` does.
inline void raise_if_failed(const Status& status) {
  if (!status.ok()) {
    raise(status.error());
  }
}

}  // namespace placewire::bindings
