// Searches for the smallest capacity that the tensors fit into.
#pragma once

#include "plan/best.h"

namespace placewire::planning {

/// Tries the smallest capacity that would be good enough, with half of `options.nodes`; then halves
/// the range between what does not fit and what does, until nodes or capacities are used up. A
/// capacity that is not decided within its share of the nodes counts as one that does not fit; only
/// if each was decided, the plan is known to be optimal.
///
/// Does nothing for more than some thousand tensors. Returns false if `options.progress` wants an
/// end.
[[nodiscard]] bool run_exact(const Instance& instance, const PlanOptions& options, Best& best);

}  // namespace placewire::planning
