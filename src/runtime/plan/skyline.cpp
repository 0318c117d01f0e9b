// Places tensors from the bottom up, always in the lowest place there is.
#include "plan/skyline.h"

#include <algorithm>
#include <functional>

namespace placewire::planning {
namespace {

constexpr std::int64_t kNoSegment = -1;
constexpr std::size_t kWordBits = 64;

std::uint32_t lowest_bit(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(__builtin_ctzll(word));
}

}  // namespace

CandidateTree::CandidateTree(const Instance& instance, const Preference& preference)
    : preference_(preference), first_(std::size_t{instance.sections} + 1) {
  const std::uint32_t count = instance.count();
  std::uint32_t tensor = 0;
  for (std::uint32_t section = 0; section <= instance.sections; ++section) {
    while (tensor < count && instance.lower[tensor] < section) {
      ++tensor;
    }
    first_[section] = tensor;
  }
  while (leaves_ < count) {
    leaves_ *= 2;
  }
  nodes_.assign(std::size_t{2} * leaves_, Node{kNone, kNone});
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const std::uint32_t index = preference[rank];
    nodes_[leaves_ + index] = {rank, instance.upper[index]};
  }
  for (std::uint32_t node = leaves_; --node > 0;) {
    const Node& left = nodes_[std::size_t{2} * node];
    const Node& right = nodes_[std::size_t{2} * node + 1];
    nodes_[node] = {std::min(left.rank, right.rank), std::min(left.upper, right.upper)};
  }
}

std::uint32_t CandidateTree::take(std::uint32_t lower, std::uint32_t upper) {
  const Range range{first_[lower], first_[upper], upper};
  std::uint32_t best = kNone;
  if (range.begin < range.end) {
    find(1, 0, leaves_, range, best);
  }
  if (best == kNone) {
    return kNone;
  }
  const std::uint32_t tensor = preference_[best];
  remove(tensor);
  return tensor;
}

void CandidateTree::find(std::uint32_t node, std::uint32_t begin, std::uint32_t end,
                         const Range& range, std::uint32_t& best) const {
  const Node& here = nodes_[node];
  if (here.rank >= best || here.upper > range.upper || begin >= range.end || end <= range.begin) {
    return;
  }
  if (node >= leaves_) {
    best = here.rank;
    return;
  }
  const std::uint32_t left = 2 * node;
  const std::uint32_t middle = begin + (end - begin) / 2;
  if (nodes_[left].rank < nodes_[left + 1].rank) {
    find(left, begin, middle, range, best);
    find(left + 1, middle, end, range, best);
  } else {
    find(left + 1, middle, end, range, best);
    find(left, begin, middle, range, best);
  }
}

void CandidateTree::remove(std::uint32_t tensor) {
  std::uint32_t node = leaves_ + tensor;
  nodes_[node] = {kNone, kNone};
  while ((node /= 2) > 0) {
    const Node& left = nodes_[std::size_t{2} * node];
    const Node& right = nodes_[std::size_t{2} * node + 1];
    nodes_[node] = {std::min(left.rank, right.rank), std::min(left.upper, right.upper)};
  }
}

CandidateBits::CandidateBits(const Instance& instance)
    : instance_(instance),
      words_((instance.count() + kWordBits - 1) / kWordBits),
      begins_((std::size_t{instance.sections} + 1) * words_),
      ends_((std::size_t{instance.sections} + 1) * words_),
      left_(words_) {}

void CandidateBits::reset(const Preference& preference) {
  preference_ = &preference;
  std::fill(begins_.begin(), begins_.end(), 0);
  std::fill(ends_.begin(), ends_.end(), 0);
  std::fill(left_.begin(), left_.end(), 0);
  for (std::size_t rank = 0; rank < preference.size(); ++rank) {
    const std::uint32_t tensor = preference[rank];
    const std::uint64_t bit = std::uint64_t{1} << (rank % kWordBits);
    const std::size_t word = rank / kWordBits;
    begins_[instance_.lower[tensor] * words_ + word] |= bit;
    ends_[instance_.upper[tensor] * words_ + word] |= bit;
    left_[word] |= bit;
  }
  for (std::size_t i = begins_.size() - words_; i-- > 0;) {
    begins_[i] |= begins_[i + words_];
  }
  for (std::size_t i = words_; i < ends_.size(); ++i) {
    ends_[i] |= ends_[i - words_];
  }
}

std::uint32_t CandidateBits::take(std::uint32_t lower, std::uint32_t upper) {
  const std::uint64_t* const begins = &begins_[lower * words_];
  const std::uint64_t* const ends = &ends_[upper * words_];
  for (std::size_t word = 0; word < words_; ++word) {
    const std::uint64_t found = begins[word] & ends[word] & left_[word];
    if (found != 0) {
      left_[word] &= ~(found & (~found + 1));
      return (*preference_)[word * kWordBits + lowest_bit(found)];
    }
  }
  return kNone;
}

Skyline::Skyline(const Instance& instance)
    : instance_(instance), segments_(std::size_t{instance.sections} + 1) {}

void Skyline::begin() {
  std::fill(segments_.begin(), segments_.end(), Segment{kNoSegment, 0, kNone});
  heap_.clear();
  segments_[0] = {0, instance_.sections, kNone};
  push(0);
}

void Skyline::push(std::uint32_t lower) {
  heap_.emplace_back(segments_[lower].height, lower);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::uint32_t Skyline::lowest() {
  for (;;) {
    const auto [height, lower] = heap_.front();
    if (segments_[lower].height == height) {
      return lower;
    }
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
}

void Skyline::set_previous(std::uint32_t lower, std::uint32_t previous) {
  if (lower < instance_.sections) {
    segments_[lower].previous = previous;
  }
}

std::uint32_t Skyline::join(std::uint32_t lower) {
  Segment& here = segments_[lower];
  if (here.end < instance_.sections && segments_[here.end].height == here.height) {
    Segment& next = segments_[here.end];
    next.height = kNoSegment;
    here.end = next.end;
    set_previous(here.end, lower);
  }
  if (here.previous != kNone && segments_[here.previous].height == here.height) {
    segments_[here.previous].end = here.end;
    set_previous(here.end, here.previous);
    here.height = kNoSegment;
    return here.previous;
  }
  return lower;
}

void Skyline::push_joined(std::uint32_t lower) {
  // The stretch before has its entry already.
  if (join(lower) == lower) {
    push(lower);
  }
}

void Skyline::fill(std::uint32_t lower) {
  Segment& here = segments_[lower];
  std::int64_t height = here.end < instance_.sections ? segments_[here.end].height : -1;
  if (here.previous != kNone) {
    const std::int64_t before = segments_[here.previous].height;
    height = height < 0 ? before : std::min(height, before);
  }
  here.height = height;
  push_joined(lower);
}

void Skyline::put(std::uint32_t segment, std::uint32_t lower, std::uint32_t upper,
                  std::int64_t top) {
  const std::int64_t height = segments_[segment].height;
  const std::uint32_t end = segments_[segment].end;
  if (upper < end) {
    segments_[upper] = {height, end, lower};
    set_previous(end, upper);
    push(upper);
  }
  if (segment < lower) {
    segments_[segment].end = lower;
    segments_[lower].previous = segment;
  }
  segments_[lower].height = top;
  segments_[lower].end = upper;
  set_previous(upper, lower);
  push_joined(lower);
}

}  // namespace placewire::planning
