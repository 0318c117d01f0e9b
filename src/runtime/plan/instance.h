// What the planning algorithms work on: checked tensors, in sections instead of times.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "placewire/runtime/plan.h"

namespace placewire::planning {

/// The tensors that have bytes and a lifetime, sorted by their first section.
///
/// A section is a longest run of time in which some set of tensors is alive that no other time's
/// set includes. Tensors are alive together if and only if they share a section; so the numbers
/// of sections, 0 to `sections`, stand for times, and there are no more sections than tensors.
struct Instance {
  /// Which tensor of the caller's each is.
  std::vector<std::uint32_t> source;
  /// The first section in which each is alive.
  std::vector<std::uint32_t> lower;
  /// The first section after `lower` in which it is not.
  std::vector<std::uint32_t> upper;
  /// Bytes, rounded up to the alignment. Their sum is no more than 2^63 - 1.
  std::vector<std::int64_t> size;
  /// How long each is alive, in the caller's time.
  std::vector<double> duration;
  std::uint32_t sections = 0;
  /// The most bytes alive in a section.
  std::int64_t lower_bound = 0;
  /// What all sizes are multiples of.
  std::int64_t unit = 1;

  [[nodiscard]] std::uint32_t count() const noexcept {
    return static_cast<std::uint32_t>(size.size());
  }
};

/// Whether a tensor has bytes and a lifetime, so that it matters where it lies.
[[nodiscard]] inline bool takes_part(const PlannedTensor& tensor) noexcept {
  return tensor.size > 0 && tensor.lower < tensor.upper;
}

/// `size` rounded up to `alignment`, if both are valid and the result is less than 2^63.
[[nodiscard]] std::optional<std::int64_t> aligned(std::int64_t size,
                                                  std::int64_t alignment) noexcept;

/// Why tensors cannot be planned, if they cannot.
[[nodiscard]] std::optional<Error> check(const std::vector<PlannedTensor>& tensors,
                                         std::int64_t alignment);

/// The tensors that have bytes and a lifetime, sorted by when it begins and by when it ends; those
/// of one time by index.
struct Order {
  std::vector<std::uint32_t> starts;
  std::vector<std::uint32_t> ends;
};
[[nodiscard]] Order order_in_time(const std::vector<PlannedTensor>& tensors);

/// Brings tensors that passed the check into the form that the algorithms need.
[[nodiscard]] Instance make_instance(const std::vector<PlannedTensor>& tensors,
                                     std::int64_t alignment);

/// For each section, how many bytes are alive in it.
[[nodiscard]] std::vector<std::int64_t> live_bytes(const Instance& instance);

/// Offsets of an instance's tensors, in its order, and where the last of them ends.
struct Placement {
  std::vector<std::int64_t> offsets;
  std::int64_t total = 0;
};

}  // namespace placewire::planning
