// Finds the kernels, backends and allocators that a method needs, before anything is allocated.
#pragma once

#include <vector>

#include "method/device_choice.h"
#include "method/instructions.h"
#include "method/state.h"

namespace placewire {

/// Finds all, or says in one Error everything that is missing.
[[nodiscard]] Status resolve(Method::State& state, const MethodOptions& options,
                             const std::vector<Instruction>& instructions,
                             const std::vector<OperatorFacts>& operators,
                             const DeviceChoice& choice);

}  // namespace placewire
