// Places tensors in a given order, each at the lowest offset that is free during its lifetime.
#pragma once

#include <cstdint>

#include "plan/skyline.h"

namespace placewire::planning {

/// Places tensors by that rule. Gives up, and returns false, once the total is not below `limit`,
/// or after `steps` comparisons of two tensors, for where many live together they are quadratic.
[[nodiscard]] bool place_first_fit(const Instance& instance, const Preference& order,
                                   std::int64_t limit, std::uint64_t steps, Placement& result);

}  // namespace placewire::planning
