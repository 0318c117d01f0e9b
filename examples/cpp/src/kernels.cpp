// The kernels of this program.
#include "kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "placewire/runtime/kernel.h"

namespace {

using placewire::Error;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::ScalarType;
using placewire::Span;
using placewire::Status;
using placewire::TensorImpl;

/// The tensor that an argument must be.
placewire::Result<TensorImpl*> floats(const EValue& value) {
  TensorImpl* const tensor = value.tensor();
  if (tensor == nullptr || tensor->scalar_type() != ScalarType::FLOAT ||
      !tensor->device().is_cpu()) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 describe(value) + " is no tensor of floats on the CPU"};
  }
  return tensor;
}

/// Computes `out[i] = operation(left[i], right[i])`.
Status elementwise(const EValue& left_value, const EValue& right_value, const EValue& out_value,
                   const std::function<float(float, float)>& operation) {
  const auto left = floats(left_value);
  const auto right = floats(right_value);
  const auto out = floats(out_value);
  for (const auto* const each : {&left, &right, &out}) {
    if (!each->ok()) {
      return each->error();
    }
  }
  const auto sizes = left.value()->sizes();
  const auto others = right.value()->sizes();
  if (!std::equal(sizes.begin(), sizes.end(), others.begin(), others.end())) {
    return Error{
        ErrorCode::INVALID_ARGUMENT,
        to_string(*left.value()) + " and " + to_string(*right.value()) + " have different sizes"};
  }
  if (out.value()->is_read_only()) {
    return Error{ErrorCode::INVALID_ARGUMENT, "the output is read-only"};
  }
  if (Status status = out.value()->resize(sizes); !status.ok()) {
    return status;
  }
  const auto* const from = static_cast<const float*>(left.value()->data());
  const auto* const other = static_cast<const float*>(right.value()->data());
  auto* const to = static_cast<float*>(out.value()->data());
  std::transform(from, from + out.value()->numel(), other, to, operation);
  return {};
}

/// self, other, out, and out again, which is what the operator returns.
Status multiply(Span<EValue* const> arguments) {
  return elementwise(*arguments[0], *arguments[1], *arguments[2], std::multiplies<float>());
}

/// self, other, alpha, out, and out again.
Status add(Span<EValue* const> arguments) {
  const auto* const alpha = arguments[2]->get_if<std::int64_t>();
  if (alpha == nullptr) {
    return Error{ErrorCode::NOT_SUPPORTED,
                 "alpha is " + describe(*arguments[2]) + ", and this kernel knows integers"};
  }
  const auto factor = static_cast<float>(*alpha);
  return elementwise(*arguments[0], *arguments[1], *arguments[3],
                     [factor](float left, float right) { return left + factor * right; });
}

}  // namespace

Status register_kernels() {
  Status status =
      placewire::register_kernel("aten::mul.out", placewire::function_kernel(4, multiply));
  return status.ok()
             ? placewire::register_kernel("aten::add.out", placewire::function_kernel(5, add))
             : status;
}
