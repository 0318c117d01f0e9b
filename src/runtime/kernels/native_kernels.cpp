// The kernels that come with the core.
#include "kernels/native_kernels.h"

namespace placewire {

NamedKernels native_kernels() { return {}; }

}  // namespace placewire
