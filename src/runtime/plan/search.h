// Searches at random for a better order of preference for the skyline.
#pragma once

#include "plan/best.h"

namespace placewire::planning {

/// Changes the order of preference again and again, keeps changes that make the plan smaller, and
/// at first also some that make it larger (simulated annealing), until the plan is good enough or
/// `options.evaluations` are used up. One evaluation places 256 tensors; a plan of more of them
/// counts for as many as that takes.
///
/// Depends on the seed and the instance only: all arithmetic is exact, or rounds the same on every
/// machine. Returns false if `options.progress` wants an end.
[[nodiscard]] bool run_search(const Instance& instance, const PlanOptions& options, Best& best);

}  // namespace placewire::planning
