// Native kernels that say what arguments they take, so that one place checks them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include "placewire/runtime/kernel.h"

namespace placewire {

/// What an argument must be.
enum class Takes : std::uint8_t {
  /// A tensor, anywhere.
  kTensor,
  /// A tensor on the CPU.
  kHostTensor,
  /// A tensor on the CPU that is written to.
  kWrittenHostTensor,
  /// A tensor that is pointed to other data, and so must not have a place of its own.
  kMovedTensor,
  kInt,
  /// An integer, a boolean or a floating-point number.
  kNumber,
  kIntList,
  /// A number that is replaced by the result.
  kResult,
};

/// Computes with values that are what was said.
using CheckedFunction = Status (*)(Span<EValue* const> arguments);

/// A kernel of a function. What `takes` says is checked when a call is bound, for arguments that
/// stay what they are, and at each run. Errors: INVALID_PROGRAM, with the argument's number.
[[nodiscard]] std::shared_ptr<Kernel> checked_kernel(std::initializer_list<Takes> takes,
                                                     CheckedFunction function);

}  // namespace placewire
