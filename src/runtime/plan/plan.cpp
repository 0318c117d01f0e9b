// Plans: checks what came in, runs the algorithms of a mode, checks what comes out.
#include <new>
#include <string>

#include "plan/best.h"
#include "plan/exact.h"
#include "plan/instance.h"
#include "plan/portfolio.h"
#include "plan/search.h"

namespace placewire {
namespace {

Plan finished(const std::vector<PlannedTensor>& tensors, const planning::Instance& instance,
              const planning::Best& best) {
  Plan result;
  result.offsets.resize(tensors.size());
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    result.offsets[instance.source[i]] = best.placement().offsets[i];
  }
  result.total = best.total();
  result.lower_bound = instance.lower_bound;
  result.algorithm = best.algorithm();
  result.is_optimal = best.is_optimal();
  return result;
}

Result<Plan> checked_plan(const std::vector<PlannedTensor>& tensors, const PlanOptions& options) {
  if (auto error = planning::check(tensors, options.alignment)) {
    return std::move(*error);
  }
  const planning::Instance instance = planning::make_instance(tensors, options.alignment);
  planning::Best best(instance, options.capacity.value_or(0));
  planning::run_portfolio(instance, best);
  bool goes_on = options.mode != PlanMode::kFast && !best.is_good_enough();
  if (goes_on && options.mode == PlanMode::kExact) {
    goes_on = planning::run_exact(instance, options, best) && !best.is_good_enough();
  }
  if (goes_on) {
    // Whether it came to its end does not matter: what it has found is in `best`.
    (void)planning::run_search(instance, options, best);
  }
  Plan result = finished(tensors, instance, best);
  auto verified = verify_plan(tensors, result.offsets, options.alignment);
  if (!verified) {
    return verified.error().code == ErrorCode::MEMORY_ALLOCATION_FAILED
               ? std::move(verified).error()
               : Error{ErrorCode::INTERNAL, "the planner's own check failed (" +
                                                std::string(best.algorithm()) +
                                                "): " + verified.error().message};
  }
  if (verified.value() != result.total) {
    return Error{ErrorCode::INTERNAL, "the planner counted " + std::to_string(result.total) +
                                          " bytes, but its plan has " +
                                          std::to_string(verified.value())};
  }
  return result;
}

}  // namespace

Result<Plan> plan(const std::vector<PlannedTensor>& tensors, const PlanOptions& options) noexcept {
  try {
    return checked_plan(tensors, options);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::MEMORY_ALLOCATION_FAILED, ""};
  }
}

}  // namespace placewire
