// The orders in which the algorithms take tensors.
#pragma once

#include "plan/skyline.h"

namespace placewire::planning {

/// Longest lifetime first; of equal ones the larger tensor, then the one passed first.
[[nodiscard]] Preference longest_first(const Instance& instance);

/// Largest first; of equal ones the longer lifetime, then the one passed first.
[[nodiscard]] Preference largest_first(const Instance& instance);

/// Greatest product of size and lifetime first; of equal ones the one passed first.
[[nodiscard]] Preference greatest_area_first(const Instance& instance);

/// First those that are alive when most bytes are; of equal ones the larger.
[[nodiscard]] Preference busiest_first(const Instance& instance);

/// As ExecuTorch sorts: largest first, of equal ones the one passed last.
[[nodiscard]] Preference largest_and_last_first(const Instance& instance);

}  // namespace placewire::planning
