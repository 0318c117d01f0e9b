// Arrays of Python's libraries over the memory of tensors.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"
#include "placewire/runtime/tensor.h"

namespace placewire::bindings {

/// Whose arrays a kernel wants.
enum class ArrayLibrary {
  kNumpy,
  kTorch,
  /// Those that torch makes in inference mode, and which it takes in no other.
  kTorchInference,
};

/// Whether an array over the tensor's memory can be made. Errors: NOT_SUPPORTED for an element type
/// or device that the library does not have; INVALID_STATE for a tensor without memory. Needs no
/// interpreter lock.
[[nodiscard]] Status check_viewable(ArrayLibrary library, const TensorImpl& tensor);

/// A new array over the tensor's memory, of the given sizes, with its type and order of dimensions.
///
/// It must not be used after the memory has gone. Errors: as above. The interpreter lock must be
/// held.
[[nodiscard]] Result<nanobind::object> array_over(ArrayLibrary library, const TensorImpl& tensor,
                                                  Span<const std::int64_t> sizes);

/// The sizes of an array as Python tells them. Errors: INTERNAL if it has none. The interpreter
/// lock must be held.
[[nodiscard]] Result<std::vector<std::int64_t>> sizes_of(PyObject* array);

/// Gives a tensor of torch's the sizes and strides again with which it was made, if it has others.
///
/// What is as it was is left alone: another thread may be reading it. The interpreter lock must be
/// held, and the mode be on in which the tensor was made.
void restore_layout(PyObject* tensor, Span<const std::int64_t> sizes,
                    Span<const std::int64_t> strides) noexcept;

/// Whether two lists of sizes are the same.
[[nodiscard]] inline bool are_equal(Span<const std::int64_t> left,
                                    Span<const std::int64_t> right) noexcept {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace placewire::bindings
