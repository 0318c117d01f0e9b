// Searches for the smallest capacity that the tensors fit into.
#include "plan/exact.h"

#include <algorithm>

#include "plan/capacity.h"

namespace placewire::planning {
namespace {

constexpr TryFirst kOrders[] = {TryFirst::kLongest, TryFirst::kBusyAndLarge,
                                TryFirst::kBusyAndLong};

class Exact {
 public:
  Exact(const Instance& instance, const PlanOptions& options, Best& best)
      : instance_(instance),
        options_(options),
        best_(best),
        search_(instance),
        nodes_left_(options.nodes) {}

  bool run() {
    // In units: what does not fit or could not be decided, and what fits.
    std::int64_t too_small = (best_.goal() + instance_.unit - 1) / instance_.unit - 1;
    std::int64_t enough = best_.total() / instance_.unit;
    bool is_decided = too_small * instance_.unit < instance_.lower_bound;
    std::uint64_t share = nodes_left_ / 2;
    std::int64_t capacity = too_small + 1;
    while (capacity < enough && nodes_left_ > 0 && !is_cancelled_) {
      const Outcome outcome = decide(capacity * instance_.unit, share);
      if (outcome == Outcome::kFits) {
        take();
        enough = best_.total() / instance_.unit;
      } else {
        too_small = capacity;
        is_decided = is_decided && outcome == Outcome::kDoesNotFit;
      }
      capacity = too_small + (enough - too_small) / 2;
      if (capacity == too_small) {
        break;
      }
      share = (nodes_left_ + 2) / 3;
    }
    if (is_decided && too_small + 1 == enough) {
      best_.raise_floor(best_.total());
    }
    return !is_cancelled_;
  }

 private:
  /// Takes turns between the orders, each time with more nodes: where one needs very many, another
  /// one may need few.
  Outcome decide(std::int64_t capacity, std::uint64_t share) {
    for (std::uint64_t turn = std::uint64_t{2} * instance_.count();; turn *= 2) {
      for (const TryFirst order : kOrders) {
        const std::uint64_t given = std::min({turn, share, nodes_left_});
        std::uint64_t left = given;
        const Outcome outcome = search_.run(capacity, order, left);
        share -= given - left;
        nodes_left_ -= given - left;
        if (outcome != Outcome::kUndecided) {
          return outcome;
        }
        if (options_.progress && !options_.progress({"exact", options_.nodes - nodes_left_,
                                                     options_.nodes, best_.total()})) {
          is_cancelled_ = true;
        }
        if (share == 0 || nodes_left_ == 0 || is_cancelled_) {
          return Outcome::kUndecided;
        }
      }
    }
  }

  void take() {
    Placement& trial = best_.trial();
    trial.total = 0;
    for (std::uint32_t i = 0; i < instance_.count(); ++i) {
      trial.offsets[i] = search_.offset(i);
      trial.total = std::max(trial.total, trial.offsets[i] + instance_.size[i]);
    }
    best_.offer_trial("exact");
  }

  const Instance& instance_;
  const PlanOptions& options_;
  Best& best_;
  CapacitySearch search_;
  std::uint64_t nodes_left_;
  bool is_cancelled_ = false;
};

}  // namespace

bool run_exact(const Instance& instance, const PlanOptions& options, Best& best) {
  return !CapacitySearch::can_take(instance) || Exact(instance, options, best).run();
}

}  // namespace placewire::planning
