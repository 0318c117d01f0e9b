// ExecuTorch's greedy rule, with an index of how much room each object has at which time.
#include "plan/shared_objects.h"

#include <algorithm>
#include <limits>

namespace placewire::planning {
namespace {

/// Time is cut into so many pieces for the index; it must rule out most objects, and stay small.
constexpr std::uint32_t kMostPieces = 128;
/// Objects that are compared at once, so that the compiler can use vector instructions.
constexpr std::size_t kBlock = 16;

/// What lies in one object: how high it is filled, as steps over time.
class Object {
 public:
  Object(std::int64_t size, std::int64_t offset) : size_(size), offset_(offset), steps_{{0, 0}} {}

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }

  /// The greatest height in [lower, upper).
  [[nodiscard]] std::int64_t highest(std::uint32_t lower, std::uint32_t upper) const {
    std::int64_t height = 0;
    for (auto step = at(lower); step != steps_.end() && step->lower < upper; ++step) {
      height = std::max(height, step->height);
    }
    return height;
  }

  /// The least height in [lower, upper).
  [[nodiscard]] std::int64_t lowest(std::uint32_t lower, std::uint32_t upper) const {
    std::int64_t height = std::numeric_limits<std::int64_t>::max();
    for (auto step = at(lower); step != steps_.end() && step->lower < upper; ++step) {
      height = std::min(height, step->height);
    }
    return height;
  }

  /// Fills [lower, upper) up to `height`.
  void fill(std::uint32_t lower, std::uint32_t upper, std::uint32_t sections, std::int64_t height) {
    auto first = steps_.begin() + (at(lower) - steps_.cbegin());
    auto last = first;
    while (last != steps_.end() && last->lower < upper) {
      ++last;
    }
    const std::uint32_t end = last == steps_.end() ? sections : last->lower;
    Step replacement[3];
    std::size_t count = 0;
    if (first->lower < lower) {
      replacement[count++] = *first;
    }
    replacement[count++] = {lower, height};
    if (upper < end) {
      replacement[count++] = {upper, std::prev(last)->height};
    }
    const auto old = static_cast<std::size_t>(last - first);
    if (old >= count) {
      steps_.erase(std::copy(replacement, replacement + count, first), last);
    } else {
      std::copy(replacement, replacement + old, first);
      steps_.insert(last, replacement + old, replacement + count);
    }
  }

 private:
  struct Step {
    std::uint32_t lower;
    std::int64_t height;
  };

  /// The step that `section` belongs to.
  [[nodiscard]] std::vector<Step>::const_iterator at(std::uint32_t section) const {
    const auto next =
        std::upper_bound(steps_.begin(), steps_.end(), section,
                         [](std::uint32_t value, const Step& step) { return value < step.lower; });
    return std::prev(next);
  }

  std::int64_t size_;
  std::int64_t offset_;
  std::vector<Step> steps_;
};

/// All objects, with an index: for each piece of time, the most room that an object has anywhere
/// in it.
class Objects {
 public:
  explicit Objects(const Instance& instance)
      : instance_(instance),
        pieces_(std::min(kMostPieces, std::max(instance.sections, std::uint32_t{1}))),
        room_(pieces_) {}

  /// Places a tensor; returns its offset.
  std::int64_t place(std::uint32_t tensor) {
    const std::uint32_t lower = instance_.lower[tensor];
    const std::uint32_t upper = instance_.upper[tensor];
    const std::int64_t size = instance_.size[tensor];
    const auto [object, height] = find(lower, upper, size);
    if (object == objects_.size()) {
      add(size);
    }
    objects_[object].fill(lower, upper, instance_.sections, height + size);
    for (std::uint32_t piece = piece_of(lower); piece <= piece_of(upper - 1); ++piece) {
      room_[piece][object] =
          objects_[object].size() - objects_[object].lowest(begin_of(piece), begin_of(piece + 1));
    }
    return objects_[object].offset() + height;
  }

  /// Where the last object ends.
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }

 private:
  struct Place {
    std::size_t object;
    std::int64_t height;
  };

  [[nodiscard]] std::uint32_t piece_of(std::uint32_t section) const noexcept {
    return static_cast<std::uint32_t>(std::uint64_t{section} * pieces_ / instance_.sections);
  }
  /// The first section of a piece.
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t piece) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{piece} * instance_.sections + pieces_ - 1) /
                                      pieces_);
  }

  void add(std::int64_t size) {
    objects_.emplace_back(size, total_);
    total_ += size;
    for (auto& room : room_) {
      // Blocks are compared whole: what is beyond the last object has no room.
      room.resize((objects_.size() + kBlock - 1) / kBlock * kBlock, -1);
      room[objects_.size() - 1] = size;
    }
  }

  [[nodiscard]] Place find(std::uint32_t lower, std::uint32_t upper, std::int64_t size) const {
    const std::vector<std::int64_t>& first = room_[piece_of(lower)];
    const std::vector<std::int64_t>& last = room_[piece_of(upper - 1)];
    Place above{objects_.size(), 0};
    for (std::size_t block = 0; block < objects_.size(); block += kBlock) {
      if (!any_has_room(&first[block], &last[block], size)) {
        continue;
      }
      for (std::size_t i = block; i < std::min(block + kBlock, objects_.size()); ++i) {
        const Object& object = objects_[i];
        const std::int64_t needed = above.height > 0 ? object.size() : size;
        if (first[i] < needed || last[i] < needed) {
          continue;
        }
        const std::int64_t height = object.highest(lower, upper);
        if (height == 0) {
          return {i, 0};
        }
        if (above.height == 0 && height <= object.size() - size) {
          above = {i, height};
        }
      }
    }
    return above;
  }

  [[nodiscard]] static bool any_has_room(const std::int64_t* first, const std::int64_t* last,
                                         std::int64_t size) noexcept {
    bool any = false;
    for (std::size_t i = 0; i < kBlock; ++i) {
      any |= (first[i] >= size) & (last[i] >= size);
    }
    return any;
  }

  const Instance& instance_;
  std::uint32_t pieces_;
  std::vector<Object> objects_;
  std::vector<std::vector<std::int64_t>> room_;  // [piece][object]
  std::int64_t total_ = 0;
};

}  // namespace

bool place_in_shared_objects(const Instance& instance, const Preference& order, std::int64_t limit,
                             Placement& result) {
  Objects objects(instance);
  for (const std::uint32_t tensor : order) {
    result.offsets[tensor] = objects.place(tensor);
    if (objects.total() >= limit) {
      return false;
    }
  }
  result.total = objects.total();
  return true;
}

}  // namespace placewire::planning
