// Decides whether tensors fit into a given capacity, by going through all plans that matter.
//
// If there is a plan, there is also one in which no tensor can move to a lower offset alone. So
// only such plans are built, tensor by tensor in the order of their offsets. Each tensor then lies
// at its support: the end of the highest of those placed before that it is alive with, or 0. From
// this follows what need not be looked at:
//
//   * A tensor above the place where one that is not placed yet could end: that one could move
//   there.
//   * A tensor whose support is below the last offset: it must wait for a higher support.
//   * Two plans that differ only in the order in which tensors of equal offset were placed, or in
//     which of two equal tensors is which.
//   * Whatever leaves too little for a section, even if its tensors are stacked as well as their
//     supports allow.
//   * How tensors that share no section, not even by way of others, are combined: as soon as what
//     is left falls into such parts, each is decided on its own.
//
// The idea of a canonical order, of dominance and of parts is that of Moffitt, "MiniMalloc"
// (ASPLOS 2023).
#pragma once

#include <cstdint>
#include <vector>

#include "plan/skyline.h"

namespace placewire::planning {

/// What a search for a plan of a given capacity came to.
enum class Outcome : std::uint8_t {
  kFits,        ///< There is one.
  kDoesNotFit,  ///< There is none.
  kUndecided,   ///< The nodes were used up.
};

/// Which of several tensors of the same support is tried first. "Busy" is the one that shares a
/// section with the most bytes that are not placed yet.
enum class TryFirst : std::uint8_t {
  kLongest,       ///< The longest, then the one of the greatest area, then the busiest.
  kBusyAndLarge,  ///< The busiest, then the one of the greatest area, then the longest.
  kBusyAndLong,   ///< The busiest, then the longest, then the one of the greatest area.
};

/// Searches plans of one instance, for one capacity after the other.
///
/// Memory: of the order of the number of pairs of tensors that are alive together.
class CapacitySearch {
 public:
  explicit CapacitySearch(const Instance& instance);

  /// Whether an instance is small enough: no more than some thousand tensors.
  [[nodiscard]] static bool can_take(const Instance& instance);

  /// Looks for a plan of at most `capacity` bytes. Looks at no more than `nodes` partial plans, and
  /// takes those that it looked at off.
  [[nodiscard]] Outcome run(std::int64_t capacity, TryFirst try_first, std::uint64_t& nodes);

  /// The offset of a tensor in the plan that was found.
  [[nodiscard]] std::int64_t offset(std::uint32_t tensor) const {
    return std::int64_t{offsets_[tensor]} * instance_.unit;
  }

 private:
  /// Sizes and offsets in units of the instance.
  using Size = std::int32_t;

  /// A tensor that is not placed yet.
  struct Entry {
    Size support;
    std::uint32_t rank;  // in the order in which those of equal support are tried
    std::uint32_t tensor;
  };
  /// Tensors connected by the sections that they share: a range of entries_, sorted by support and
  /// rank.
  struct Part {
    std::size_t begin;
    std::size_t end;
    std::uint32_t lower;
    std::uint32_t upper;
  };
  /// What was placed last in a part: nothing comes below it any more.
  struct Last {
    Size offset;
    std::uint32_t rank;
  };

  Outcome solve(const Part& part, const Last& last);
  [[nodiscard]] bool is_possible(const Part& part, Size last);
  Outcome try_entry(const Part& part, const Entry& entry);
  void add_rest(const Part& part, const Entry& entry);
  Outcome solve_parts(const Part& rest, const Entry& entry);
  [[nodiscard]] Part make_part(const Part& rest, std::uint32_t lower, std::uint32_t upper);
  void rank_entries(const Part& part);

  const Instance& instance_;
  std::vector<Size> size_;
  std::vector<std::uint32_t> twin_;  // by tensor: the equal one before it, or kNone
  std::vector<std::uint8_t> is_placed_;
  std::vector<Size> offsets_;
  std::vector<Size> waiting_;            // by section: bytes of tensors not placed yet
  std::vector<std::uint32_t> crossing_;  // by section: how many of them are alive before it too
  std::vector<Size> needed_;
  std::vector<Entry> entries_;
  std::vector<Entry> raised_;
  Size capacity_ = 0;
  TryFirst try_first_ = TryFirst::kLongest;
  std::uint64_t nodes_left_ = 0;
};

}  // namespace placewire::planning
