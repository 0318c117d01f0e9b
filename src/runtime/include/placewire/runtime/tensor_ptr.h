// Tensors that own their shape and their data: how a C++ program makes inputs and keeps outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"
#include "placewire/runtime/tensor.h"

namespace placewire {

/// A tensor with shared ownership of itself, of its shape, and of its data where it was given any.
using TensorPtr = std::shared_ptr<TensorImpl>;

/// Wraps memory of the caller, which must outlive the tensor. `device` says where it is; nothing is
/// copied. `dim_order` empty: the usual one.
///
/// Errors: INVALID_ARGUMENT for negative sizes, more bytes than can be addressed, more than
/// kMaximumRank dimensions, an element type that the schema does not know, a `dim_order` that is no
/// permutation, null with elements.
[[nodiscard]] PLACEWIRE_API Result<TensorPtr> make_tensor_ptr(
    Span<const std::int64_t> sizes, ScalarType scalar_type, void* data, Device device = {},
    Span<const std::uint8_t> dim_order = {},
    TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);

/// Allocates memory on a device, of undefined content. Errors: as above, and the allocator's.
[[nodiscard]] PLACEWIRE_API Result<TensorPtr> empty_tensor_ptr(
    Span<const std::int64_t> sizes, ScalarType scalar_type, Device device = {},
    Span<const std::uint8_t> dim_order = {},
    TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC);

/// Copies a tensor into new memory on `device`: host to host, host to device, device to host,
/// device to device, of one kind directly and of two kinds through the host. Type, shape, order and
/// dynamism stay; the new tensor's bounds are the old one's.
///
/// Errors: INVALID_ARGUMENT for a tensor without data; those of allocators.
[[nodiscard]] PLACEWIRE_API Result<TensorPtr> clone_tensor_ptr_to(const TensorImpl& tensor,
                                                                  Device device);

/// Copies the elements of one tensor into another of the same element type, sizes and order,
/// wherever the two lie. Errors: INVALID_ARGUMENT if they differ or lack data; those of allocators.
PLACEWIRE_API Status copy_tensor_data(const TensorImpl& source, TensorImpl& destination);

}  // namespace placewire
