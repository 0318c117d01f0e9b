// Places tensors from the bottom up, always in the lowest place there is.
//
// The skyline is, for each section, the end of what was placed in it last. Its lowest stretch
// takes, of the tensors that live within the stretch, the one that is next in a given order. If
// there is none, the stretch is filled up to its lower neighbour, and these bytes are lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "plan/instance.h"

namespace placewire::planning {

/// Tensors of an instance from the first to the last to be preferred.
using Preference = std::vector<std::uint32_t>;

inline constexpr std::uint32_t kNone = 0xffffffff;

/// Finds the preferred tensor within a stretch, in a tree over the tensors sorted by `lower`.
///
/// Made for many tensors: memory of order n, and mostly a logarithmic number of steps per search.
class CandidateTree {
 public:
  CandidateTree(const Instance& instance, const Preference& preference);

  /// Removes and returns the first tensor in order of preference that lives within [lower, upper),
  /// or returns kNone.
  [[nodiscard]] std::uint32_t take(std::uint32_t lower, std::uint32_t upper);

 private:
  /// What is left below a node; `rank` is the least rank, all ones if nothing is left.
  struct Node {
    std::uint32_t rank;
    std::uint32_t upper;
  };
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t upper;
  };
  void find(std::uint32_t node, std::uint32_t begin, std::uint32_t end, const Range& range,
            std::uint32_t& best) const;
  void remove(std::uint32_t tensor);

  const Preference& preference_;
  std::vector<std::uint32_t> first_;  // by section, the first tensor that begins there or later
  std::uint32_t leaves_ = 1;
  std::vector<Node> nodes_;
};

/// The same with a bit per tensor, in order of preference; quick to set up again.
///
/// Made for searches over some hundred tensors: memory of order n times the number of sections.
class CandidateBits {
 public:
  explicit CandidateBits(const Instance& instance);

  /// Begins anew, with all tensors.
  void reset(const Preference& preference);

  [[nodiscard]] std::uint32_t take(std::uint32_t lower, std::uint32_t upper);

 private:
  const Instance& instance_;
  std::size_t words_;
  std::vector<std::uint64_t> begins_;  // [section][word]: who begins there or later
  std::vector<std::uint64_t> ends_;    // [section][word]: who ends there or earlier
  std::vector<std::uint64_t> left_;
  const Preference* preference_ = nullptr;
};

/// The skyline, and its memory for one placement after the other.
class Skyline {
 public:
  explicit Skyline(const Instance& instance);

  /// Places all tensors; gives up, and returns false, once the total is not below `limit`.
  template <class Candidates>
  [[nodiscard]] bool place(Candidates& candidates, std::int64_t limit, Placement& result) {
    begin();
    result.total = 0;
    std::uint32_t placed = 0;
    while (placed < instance_.count()) {
      const std::uint32_t lower = lowest();
      const std::uint32_t tensor = candidates.take(lower, segments_[lower].end);
      if (tensor == kNone) {
        fill(lower);
        continue;
      }
      const std::int64_t top = segments_[lower].height + instance_.size[tensor];
      if (top >= limit) {
        return false;
      }
      result.offsets[tensor] = segments_[lower].height;
      result.total = std::max(result.total, top);
      put(lower, instance_.lower[tensor], instance_.upper[tensor], top);
      ++placed;
    }
    return true;
  }

 private:
  /// A stretch of equal height, found under its first section.
  struct Segment {
    std::int64_t height;
    std::uint32_t end;
    std::uint32_t previous;  // first section of the stretch before
  };
  using Entry = std::pair<std::int64_t, std::uint32_t>;

  void begin();
  /// The first section of the lowest stretch.
  std::uint32_t lowest();
  void push(std::uint32_t lower);
  /// Joins a stretch of a new height with its neighbours, and enters it if it is not part of one
  /// that is entered.
  void push_joined(std::uint32_t lower);
  void fill(std::uint32_t lower);
  void put(std::uint32_t segment, std::uint32_t lower, std::uint32_t upper, std::int64_t top);
  /// Returns where the joined stretch begins.
  std::uint32_t join(std::uint32_t lower);
  void set_previous(std::uint32_t lower, std::uint32_t previous);

  const Instance& instance_;
  std::vector<Segment> segments_;  // by first section; a height of -1 is none
  std::vector<Entry> heap_;        // lowest first; what is not in segments_ as it says is stale
};

}  // namespace placewire::planning
