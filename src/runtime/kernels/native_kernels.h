// The kernels that come with the core.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "placewire/runtime/kernel.h"

namespace placewire {

/// Kernels with the names of their operators.
using NamedKernels = std::vector<std::pair<std::string, std::shared_ptr<Kernel>>>;

/// All of them; the registry starts with these.
[[nodiscard]] NamedKernels native_kernels();

// Its parts, each of which appends to a list.

/// `et_copy::_h2d_copy.out`, `et_copy::_d2h_copy.out` and `placewire::d2d_copy.out`.
void add_copy_kernels(NamedKernels& kernels);
/// Arithmetic and comparison of numbers: `executorch_prim::add.Scalar` and its like.
void add_number_kernels(NamedKernels& kernels);
/// What reads or changes a tensor's shape, and `executorch_prim::et_copy_index.tensor`.
void add_tensor_kernels(NamedKernels& kernels);

}  // namespace placewire
