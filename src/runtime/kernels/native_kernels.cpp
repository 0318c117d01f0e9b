// The kernels that come with the core.
#include "kernels/native_kernels.h"

namespace placewire {

NamedKernels native_kernels() {
  NamedKernels kernels;
  add_copy_kernels(kernels);
  add_number_kernels(kernels);
  add_tensor_kernels(kernels);
  // Does nothing: a program calls it so that no runtime without this kernel runs it.
  kernels.emplace_back("placewire::require",
                       function_kernel(0, [](Span<EValue* const>) { return Status(); }));
  return kernels;
}

}  // namespace placewire
