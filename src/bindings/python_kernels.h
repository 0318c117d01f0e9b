// Kernels whose code is Python's: torch's operators, and functions that users register.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "placewire/runtime/kernel.h"
#include "python_operator.h"

namespace placewire::bindings {

/// A kernel that calls Python. `operator_` is what read_operator gave, or made by hand.
///
/// Arguments are made once, when a call is bound, and again only where they may have changed.
[[nodiscard]] std::shared_ptr<Kernel> python_kernel(PythonOperator operator_);

/// The source that an object of `_runtime.KernelSource` stands for. Throws a TypeError if `source`
/// is something else.
[[nodiscard]] std::shared_ptr<KernelSource> kernel_source_of(nanobind::handle source);

/// Adds KernelSource and the registration of kernels to a module.
void bind_kernels(nanobind::module_& module);

}  // namespace placewire::bindings
