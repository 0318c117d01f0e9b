// Turns the core's errors into the Python exceptions that are generated for their codes.
#pragma once

#include <utility>

#include "placewire/runtime/result.h"

namespace placewire::bindings {

/// Throws the exception class of the error's code, with its message.
///
/// An exception of Python's that the error came from is its cause. One that is no `Exception`, such
/// as KeyboardInterrupt, is thrown itself.
[[noreturn]] void raise(const Error& error);

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
