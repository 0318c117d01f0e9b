// The fast algorithms, one after the other.
#include "plan/portfolio.h"

#include "plan/first_fit.h"
#include "plan/orders.h"
#include "plan/shared_objects.h"
#include "plan/skyline.h"

namespace placewire::planning {
namespace {

/// First fit ends after so many comparisons; ten thousand tensors need fewer.
constexpr std::uint64_t kFirstFitSteps = 100'000'000;

struct Rule {
  std::string_view name;
  Preference (*order)(const Instance&);
};

constexpr Rule kSkylines[] = {{"skyline by lifetime", longest_first},
                              {"skyline by size", largest_first},
                              {"skyline by area", greatest_area_first}};
constexpr Rule kFirstFits[] = {{"first fit by size", largest_first},
                               {"first fit by live bytes", busiest_first}};

}  // namespace

void run_portfolio(const Instance& instance, Best& best) {
  Skyline skyline(instance);
  for (const Rule& rule : kSkylines) {
    if (best.is_good_enough()) {
      return;
    }
    const Preference order = rule.order(instance);
    CandidateTree candidates(instance, order);
    if (skyline.place(candidates, best.total(), best.trial())) {
      best.offer_trial(rule.name);
    }
  }
  if (best.is_good_enough()) {
    return;
  }
  if (place_in_shared_objects(instance, largest_and_last_first(instance), best.total(),
                              best.trial())) {
    best.offer_trial("shared objects");
  }
  for (const Rule& rule : kFirstFits) {
    if (best.is_good_enough()) {
      return;
    }
    if (place_first_fit(instance, rule.order(instance), best.total(), kFirstFitSteps,
                        best.trial())) {
      best.offer_trial(rule.name);
    }
  }
}

}  // namespace placewire::planning
