// ExecuTorch's greedy rule, so that no plan is larger than the one it gives.
//
// Tensors go, from the largest to the smallest, into objects that lie end to end. A tensor takes
// the start of the first object that is free during its lifetime; else the first object in which it
// fits above all that it meets there; else it becomes an object of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/skyline.h"

namespace placewire::planning {

/// Places tensors by that rule, in the given order, in which sizes must not grow. Gives up, and
/// returns false, once the total is not below `limit`.
[[nodiscard]] bool place_in_shared_objects(const Instance& instance, const Preference& order,
                                           std::int64_t limit, Placement& result);

}  // namespace placewire::planning
