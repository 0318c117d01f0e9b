// The memory planner: gives tensors that are never alive together the same bytes.
//
// Sizes, offsets and totals are bytes. Times are any numbers that grow, such as the positions of
// instructions. A tensor is alive in the half-open interval [lower, upper); ExecuTorch's lifetimes
// include their end, so theirs of [first, last] is [first, last + 1) here. docs/plan.md tells how
// the algorithms work and how well they do.
//
// No function of this header throws or aborts because of its input, and all may be called from any
// number of threads at once. What is passed is only read, and only during the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// How many bytes a tensor takes, and when.
///
/// A tensor without bytes, or without any time (`lower == upper`), is placed at offset 0 and
/// overlaps nothing.
struct PlannedTensor {
  /// Bytes, 0 or more.
  std::int64_t size = 0;
  /// When it is written first.
  std::int64_t lower = 0;
  /// When it is needed no more; at this time its bytes may be another's already.
  std::int64_t upper = 0;
};

/// How much work to do. No mode gives a larger plan than the one before it.
enum class PlanMode : std::uint8_t {
  kFast,    ///< The smallest plan of a few fast algorithms; never larger than ExecuTorch's.
  kSearch,  ///< Then, at random, a search for a better order of the tensors, of a given length.
  kExact,   ///< Between the two, a systematic search for the smallest capacity, of a given length.
};

/// How far a search has come.
struct PlanProgress {
  std::string_view stage;  ///< `search` or `exact`. Static storage.
  std::uint64_t done;      ///< How many evaluations or nodes were used.
  std::uint64_t limit;     ///< How many there are at most.
  std::int64_t total;      ///< The smallest plan up to now, bytes.
};

/// How to plan.
struct PlanOptions {
  PlanMode mode = PlanMode::kFast;
  /// Every offset is a multiple of this many bytes, at least 1. Sizes are rounded up to it.
  std::int64_t alignment = 1;
  /// Where the random search starts. The same seed gives the same plan, on every machine.
  std::uint64_t seed = 0;
  /// How many plans of 256 tensors the random search tries; plans of more tensors count for more.
  std::uint64_t evaluations = 50'000;
  /// How many partial plans the systematic search looks at. It takes no more than 4096 tensors,
  /// and calls itself once for each, which needs up to 2 MiB of stack.
  std::uint64_t nodes = 1'000'000;
  /// Stop as soon as the plan has no more bytes than this. Default: go on until it is optimal.
  std::optional<std::int64_t> capacity;
  /// Called now and then while a search runs, from the thread that plans; if it returns false, the
  /// search ends with the best plan up to then. It must not throw. Default: nobody is told.
  std::function<bool(const PlanProgress&)> progress;
};

/// Where each tensor lies.
struct Plan {
  /// Bytes from the start of the arena, one per tensor, in the order in which they were passed.
  std::vector<std::int64_t> offsets;
  /// How large the arena must be.
  std::int64_t total = 0;
  /// The most bytes that are alive at any time, each size rounded up to the alignment. No plan is
  /// smaller.
  std::int64_t lower_bound = 0;
  /// What found it, such as `skyline by area`, `first fit by size`, `search`. Static storage.
  std::string_view algorithm;
  /// Whether it is known that no plan is smaller.
  bool is_optimal = false;
};

/// Places tensors so that those alive together do not overlap, in as few bytes as it can.
///
/// The result was checked by `verify_plan`. It depends on nothing but the arguments: not on time,
/// threads or the machine. Where tensors differ in nothing, their order decides.
///
/// Cost: kFast takes time of order n log n on tensors of programs, and memory of order n. The
/// searches take as long as `evaluations` and `nodes` let them.
/// Errors: INVALID_ARGUMENT for a negative size, a lifetime that ends before it begins, an
/// alignment below 1, or sizes whose sum (each rounded up to the alignment) exceeds 2^63 - 1;
/// NOT_SUPPORTED for more than 2^31 - 2 tensors; MEMORY_ALLOCATION_FAILED.
[[nodiscard]] PLACEWIRE_API Result<Plan> plan(const std::vector<PlannedTensor>& tensors,
                                              const PlanOptions& options = {}) noexcept;

/// Checks where tensors were placed, by whomever, and returns how large the arena must be.
///
/// Two tensors that are alive together must not share a byte, and every offset must be a multiple
/// of `alignment`. The size of the arena is the end of the last tensor, its size rounded up to the
/// alignment. Offsets of tensors without bytes or time are only checked for their alignment.
///
/// Cost: time of order n log n, memory of order n.
/// Errors: INVALID_ARGUMENT as `plan`, or for another number of offsets than of tensors;
/// INVALID_PROGRAM for an offset that is negative, misaligned or too large, and for two tensors
/// that overlap: the message names the first pair in time, when, and which bytes.
/// MEMORY_ALLOCATION_FAILED.
[[nodiscard]] PLACEWIRE_API Result<std::int64_t> verify_plan(
    const std::vector<PlannedTensor>& tensors, const std::vector<std::int64_t>& offsets,
    std::int64_t alignment = 1) noexcept;

}  // namespace placewire
