// Plans random tensors in every mode and checks the plans; prints each check that fails, and
// returns how many did. Made to be run under sanitizers.
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "placewire/runtime/plan.h"

namespace {

using placewire::ErrorCode;
using placewire::plan;
using placewire::PlanMode;
using placewire::PlannedTensor;
using placewire::PlanOptions;
using placewire::verify_plan;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

int failures = 0;

void check(bool condition, const char* what) {
  if (!condition) {
    std::printf("failed: %s\n", what);
    ++failures;
  }
}

/// A generator that is the same everywhere.
struct Numbers {
  std::uint64_t state;
  std::int64_t below(std::int64_t end) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(end));
  }
};

std::vector<PlannedTensor> random_tensors(Numbers& numbers) {
  const std::int64_t span = 1 + numbers.below(60);
  std::vector<PlannedTensor> tensors(static_cast<std::size_t>(numbers.below(80)));
  for (PlannedTensor& tensor : tensors) {
    const std::int64_t lower = numbers.below(span) - 20;
    tensor = {numbers.below(100), lower, lower + numbers.below(span)};
  }
  return tensors;
}

void check_random_plans() {
  Numbers numbers{1};
  for (int round = 0; round < 100; ++round) {
    const std::vector<PlannedTensor> tensors = random_tensors(numbers);
    std::int64_t before = kMost;
    for (const PlanMode mode : {PlanMode::kFast, PlanMode::kSearch, PlanMode::kExact}) {
      PlanOptions options;
      options.mode = mode;
      options.alignment = 1 + round % 3;
      options.evaluations = 20;
      options.nodes = 200;
      const auto result = plan(tensors, options);
      check(result.ok(), "random tensors can be planned");
      if (!result.ok()) {
        continue;
      }
      const auto total = verify_plan(tensors, result.value().offsets, options.alignment);
      check(total.ok() && total.value() == result.value().total, "the plan is sound");
      check(result.value().total >= result.value().lower_bound, "no plan beats the bound");
      check(result.value().total <= before, "no mode is worse than the one before");
      before = result.value().total;
    }
  }
}

/// More tensors than the search keeps bits for.
void check_many_tensors() {
  Numbers numbers{2};
  std::vector<PlannedTensor> tensors(5000);
  for (PlannedTensor& tensor : tensors) {
    const std::int64_t lower = numbers.below(5000);
    tensor = {1 + numbers.below(4096), lower, lower + 1 + numbers.below(100)};
  }
  PlanOptions options;
  options.mode = PlanMode::kExact;
  options.evaluations = 200;
  std::int64_t told = 0;
  options.progress = [&told](const placewire::PlanProgress&) { return ++told < 2; };
  const auto result = plan(tensors, options);
  check(result.ok(), "many tensors can be planned");
}

ErrorCode code_of(const std::vector<PlannedTensor>& tensors, std::int64_t alignment = 1) {
  PlanOptions options;
  options.alignment = alignment;
  const auto result = plan(tensors, options);
  return result.ok() ? ErrorCode::OK : result.error().code;
}

void check_extremes() {
  check(code_of({{kMost, kLeast, kMost}}) == ErrorCode::OK, "the largest tensor can be planned");
  check(code_of({{kMost - 1, kLeast, 0}, {1, -1, kMost}}) == ErrorCode::OK, "so can two of them");
  check(code_of({{kMost, 0, 1}, {1, 1, 2}}) == ErrorCode::INVALID_ARGUMENT, "the sum is limited");
  check(code_of({{kMost, 0, 1}}, 2) == ErrorCode::INVALID_ARGUMENT, "so is a rounded size");
  check(code_of({{1, 0, 1}}, kMost) == ErrorCode::OK, "any alignment will do");
  check(code_of({{1, 0, 1}}, 0) == ErrorCode::INVALID_ARGUMENT, "except 0");
  check(code_of({{kLeast, 0, 1}}) == ErrorCode::INVALID_ARGUMENT, "a size is not negative");
  check(code_of({{1, kMost, kLeast}}) == ErrorCode::INVALID_ARGUMENT,
        "time does not run backwards");
  check(code_of({}) == ErrorCode::OK, "nothing can be planned");
}

void check_verifier() {
  const std::vector<PlannedTensor> tensors{{kMost, 0, 2}, {0, 0, 9}};
  check(verify_plan(tensors, {0, kMost}).ok(), "an empty tensor may lie anywhere");
  check(!verify_plan(tensors, {1, 0}).ok(), "the end of a tensor is limited");
  check(!verify_plan(tensors, {kLeast, 0}).ok(), "an offset is not negative");
  check(!verify_plan(tensors, {0}).ok(), "each tensor has an offset");
  check(!verify_plan({{8, 0, 2}, {8, 1, 3}}, {0, 7}).ok(), "an overlap is found");
  check(verify_plan({{8, 0, 2}, {8, 2, 3}}, {0, 0}).value() == 8,
        "what follows may take the place");
}

}  // namespace

int main() {
  check_random_plans();
  check_many_tensors();
  check_extremes();
  check_verifier();
  return failures;
}
