// Places tensors in a given order, each at the lowest offset that is free during its lifetime.
#include "plan/first_fit.h"

#include <algorithm>
#include <vector>

namespace placewire::planning {
namespace {

constexpr std::uint32_t kMostLists = 64;

/// A tensor that has been placed.
struct Placed {
  std::int64_t offset;
  std::int64_t top;
  std::uint32_t lower;
  std::uint32_t upper;
};

/// What was placed: for each piece of time, the tensors alive in it, sorted by offset.
class FirstFit {
 public:
  FirstFit(const Instance& instance, std::int64_t limit, std::uint64_t steps)
      : instance_(instance),
        limit_(limit),
        steps_left_(steps),
        pieces_(std::min(kMostLists, std::max(instance.sections, std::uint32_t{1}))),
        placed_(pieces_),
        cursors_(pieces_) {}

  /// Places a tensor; returns its offset, or -1 to give up.
  std::int64_t place(std::uint32_t tensor) {
    const std::int64_t offset = find(tensor);
    const std::int64_t top = offset + instance_.size[tensor];
    if (offset < 0 || top >= limit_) {
      return -1;
    }
    const Placed entry{offset, top, instance_.lower[tensor], instance_.upper[tensor]};
    for (std::uint32_t piece = first_piece(tensor); piece <= last_piece(tensor); ++piece) {
      std::vector<Placed>& list = placed_[piece];
      list.insert(std::upper_bound(list.begin(), list.end(), entry,
                                   [](const Placed& left, const Placed& right) {
                                     return left.offset < right.offset;
                                   }),
                  entry);
    }
    return offset;
  }

 private:
  [[nodiscard]] std::uint32_t piece_of(std::uint32_t section) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{section} * pieces_ / instance_.sections);
  }
  [[nodiscard]] std::uint32_t first_piece(std::uint32_t tensor) const noexcept {
    return piece_of(instance_.lower[tensor]);
  }
  [[nodiscard]] std::uint32_t last_piece(std::uint32_t tensor) const noexcept {
    return piece_of(instance_.upper[tensor] - 1);
  }

  /// Raises the offset past whatever is in the way, in one piece after the other, until nothing is.
  std::int64_t find(std::uint32_t tensor) {
    const std::uint32_t begin = first_piece(tensor);
    const std::uint32_t end = last_piece(tensor) + 1;
    std::fill(cursors_.begin() + begin, cursors_.begin() + end, 0);
    std::int64_t offset = 0;
    std::int64_t before = -1;
    while (offset != before) {
      before = offset;
      for (std::uint32_t piece = begin; piece < end; ++piece) {
        offset = advance(piece, tensor, offset);
        if (offset < 0) {
          return -1;
        }
      }
    }
    return offset;
  }

  std::int64_t advance(std::uint32_t piece, std::uint32_t tensor, std::int64_t offset) {
    const std::vector<Placed>& list = placed_[piece];
    const std::int64_t size = instance_.size[tensor];
    const std::uint32_t lower = instance_.lower[tensor];
    const std::uint32_t upper = instance_.upper[tensor];
    std::size_t& cursor = cursors_[piece];
    const std::size_t start = cursor;
    for (; cursor < list.size() && list[cursor].offset - offset < size; ++cursor) {
      const Placed& other = list[cursor];
      if (other.top > offset && other.lower < upper && lower < other.upper) {
        offset = other.top;
      }
    }
    const std::uint64_t used = cursor - start + 1;
    if (used > steps_left_) {
      return -1;
    }
    steps_left_ -= used;
    return offset;
  }

  const Instance& instance_;
  std::int64_t limit_;
  std::uint64_t steps_left_;
  std::uint32_t pieces_;
  std::vector<std::vector<Placed>> placed_;
  std::vector<std::size_t> cursors_;
};

}  // namespace

bool place_first_fit(const Instance& instance, const Preference& order, std::int64_t limit,
                     std::uint64_t steps, Placement& result) {
  FirstFit first_fit(instance, limit, steps);
  result.total = 0;
  for (const std::uint32_t tensor : order) {
    const std::int64_t offset = first_fit.place(tensor);
    if (offset < 0) {
      return false;
    }
    result.offsets[tensor] = offset;
    result.total = std::max(result.total, offset + instance.size[tensor]);
  }
  return true;
}

}  // namespace placewire::planning
