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

}  // namespace placewire
