// The smallest placement found up to now, and when it is good enough.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "plan/instance.h"

namespace placewire::planning {

class Best {
 public:
  /// Begins with all tensors end to end. A total of `capacity` or less is good enough.
  Best(const Instance& instance, std::int64_t capacity)
      : goal_(std::max(instance.lower_bound, capacity)), floor_(instance.lower_bound) {
    placement_.offsets.reserve(instance.count());
    for (const std::int64_t size : instance.size) {
      placement_.offsets.push_back(placement_.total);
      placement_.total += size;
    }
    trial_ = placement_;
  }

  [[nodiscard]] const Placement& placement() const noexcept { return placement_; }
  [[nodiscard]] std::int64_t total() const noexcept { return placement_.total; }
  [[nodiscard]] std::string_view algorithm() const noexcept { return algorithm_; }
  [[nodiscard]] bool is_good_enough() const noexcept { return total() <= std::max(goal_, floor_); }
  [[nodiscard]] std::int64_t goal() const noexcept { return goal_; }
  [[nodiscard]] bool is_optimal() const noexcept { return total() <= floor_; }

  /// Says that no placement is smaller than `total`.
  void raise_floor(std::int64_t total) noexcept { floor_ = std::max(floor_, total); }

  /// A placement for an algorithm to write into.
  [[nodiscard]] Placement& trial() noexcept { return trial_; }
  /// Takes the trial in the place of the best one if it is smaller.
  void offer_trial(std::string_view algorithm) {
    if (trial_.total < placement_.total) {
      std::swap(trial_, placement_);
      algorithm_ = algorithm;
    }
  }

 private:
  std::int64_t goal_;
  std::int64_t floor_;
  Placement placement_;
  Placement trial_;
  std::string_view algorithm_ = "end to end";
};

}  // namespace placewire::planning
