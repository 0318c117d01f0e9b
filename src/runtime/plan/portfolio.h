// The fast algorithms, one after the other.
#pragma once

#include "plan/best.h"

namespace placewire::planning {

/// Tries the fast algorithms until one is good enough. Each gives up as soon as it cannot be
/// smaller than the best before it.
void run_portfolio(const Instance& instance, Best& best);

}  // namespace placewire::planning
