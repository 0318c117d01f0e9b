// Decides whether tensors fit into a given capacity, by going through all plans that matter.
#include "plan/capacity.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace placewire::planning {
namespace {

constexpr std::uint32_t kMostTensorsSearched = 4096;

}  // namespace

bool CapacitySearch::can_take(const Instance& instance) {
  const std::int64_t most =
      std::accumulate(instance.size.begin(), instance.size.end(), std::int64_t{0});
  return instance.count() <= kMostTensorsSearched &&
         most / instance.unit < std::numeric_limits<Size>::max() / 2;
}

CapacitySearch::CapacitySearch(const Instance& instance)
    : instance_(instance),
      twin_(instance.count(), kNone),
      offsets_(instance.count()),
      needed_(instance.sections) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, Size>, std::uint32_t> equal;
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    size_.push_back(static_cast<Size>(instance.size[i] / instance.unit));
    const auto [found, is_new] =
        equal.try_emplace({instance.lower[i], instance.upper[i], size_[i]}, i);
    if (!is_new) {
      twin_[i] = found->second;
      found->second = i;
    }
  }
}

Outcome CapacitySearch::run(std::int64_t capacity, TryFirst try_first, std::uint64_t& nodes) {
  capacity_ = static_cast<Size>(capacity / instance_.unit);
  try_first_ = try_first;
  is_placed_.assign(instance_.count(), 0);
  waiting_.assign(instance_.sections, 0);
  crossing_.assign(std::size_t{instance_.sections} + 1, 0);
  entries_.clear();
  for (std::uint32_t i = 0; i < instance_.count(); ++i) {
    entries_.push_back({0, 0, i});
    for (std::uint32_t section = instance_.lower[i]; section < instance_.upper[i]; ++section) {
      waiting_[section] += size_[i];
      crossing_[section] += section > instance_.lower[i] ? 1U : 0U;
    }
  }
  nodes_left_ = nodes;
  const Part all{0, entries_.size(), 0, instance_.sections};
  const Outcome outcome = solve_parts(all, Entry{0, 0, kNone});
  nodes = nodes_left_;
  return outcome;
}

Outcome CapacitySearch::solve(const Part& part, const Last& last) {
  if (part.begin == part.end) {
    return Outcome::kFits;
  }
  if (!is_possible(part, last.offset)) {
    return Outcome::kDoesNotFit;
  }
  if (nodes_left_ == 0) {
    return Outcome::kUndecided;
  }
  --nodes_left_;
  Size highest = std::numeric_limits<Size>::max();
  for (std::size_t i = part.begin; i < part.end; ++i) {
    highest = std::min(highest, entries_[i].support + size_[entries_[i].tensor]);
  }
  // Nobody comes below the one placed next: the fullest section must bear that.
  const Size room =
      capacity_ -
      *std::max_element(&waiting_[part.lower], &waiting_[part.lower] + (part.upper - part.lower));
  Outcome outcome = Outcome::kDoesNotFit;
  for (std::size_t i = part.begin; i < part.end && outcome == Outcome::kDoesNotFit; ++i) {
    const Entry entry = entries_[i];
    if (entry.support >= highest || entry.support > room) {
      break;
    }
    const bool is_in_order =
        std::tie(entry.support, entry.rank) >= std::tie(last.offset, last.rank);
    const std::uint32_t twin = twin_[entry.tensor];
    if (is_in_order && (twin == kNone || is_placed_[twin] != 0)) {
      outcome = try_entry(part, entry);
    }
  }
  return outcome;
}

/// Whether each section can take what waits for it. The best that a section can hope for is that
/// its tensors are stacked in the order of their supports, and none lower than the last one placed.
bool CapacitySearch::is_possible(const Part& part, Size last) {
  Size* const needed = needed_.data();
  std::fill(needed + part.lower, needed + part.upper, last);
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const Entry& entry = entries_[i];
    const Size size = size_[entry.tensor];
    const std::uint32_t upper = instance_.upper[entry.tensor];
    for (std::uint32_t section = instance_.lower[entry.tensor]; section < upper; ++section) {
      needed[section] = std::max(needed[section], entry.support) + size;
    }
  }
  return *std::max_element(needed + part.lower, needed + part.upper) <= capacity_;
}

Outcome CapacitySearch::try_entry(const Part& part, const Entry& entry) {
  const std::uint32_t tensor = entry.tensor;
  const std::uint32_t lower = instance_.lower[tensor];
  const std::uint32_t upper = instance_.upper[tensor];
  const std::size_t entries = entries_.size();
  offsets_[tensor] = entry.support;
  is_placed_[tensor] = 1;
  bool is_cut = false;
  for (std::uint32_t section = lower; section < upper; ++section) {
    waiting_[section] -= size_[tensor];
    crossing_[section] -= section > lower ? 1U : 0U;
    is_cut |= crossing_[section] == 0 && section > part.lower;
  }
  is_cut |= upper < part.upper && crossing_[upper] == 0;
  is_cut |= waiting_[part.lower] == 0 || waiting_[part.upper - 1] == 0;
  add_rest(part, entry);
  const Part rest{entries, entries_.size(), part.lower, part.upper};
  const Outcome outcome =
      is_cut ? solve_parts(rest, entry) : solve(rest, {entry.support, entry.rank});
  for (std::uint32_t section = lower; section < upper; ++section) {
    waiting_[section] += size_[tensor];
    crossing_[section] += section > lower ? 1U : 0U;
  }
  is_placed_[tensor] = 0;
  entries_.resize(entries);
  return outcome;
}

/// Adds the entries of a part again, without the one that was placed, and with the supports that
/// they have now; stays sorted.
void CapacitySearch::add_rest(const Part& part, const Entry& placed) {
  const Size top = placed.support + size_[placed.tensor];
  const std::uint32_t lower = instance_.lower[placed.tensor];
  const std::uint32_t upper = instance_.upper[placed.tensor];
  const auto is_raised = [&](const Entry& entry) {
    return entry.support < top && instance_.lower[entry.tensor] < upper &&
           lower < instance_.upper[entry.tensor];
  };
  const std::size_t begin = entries_.size();
  entries_.resize(begin + (part.end - part.begin) - 1);
  raised_.clear();
  std::size_t to = begin;
  std::size_t from = part.begin;
  // Those that are raised to `top` go among those that are there already.
  for (; from < part.end && entries_[from].support < top; ++from) {
    const Entry entry = entries_[from];
    if (entry.tensor == placed.tensor) {
      continue;
    }
    if (is_raised(entry)) {
      raised_.push_back({top, entry.rank, entry.tensor});
    } else {
      entries_[to++] = entry;
    }
  }
  const auto by_rank = [](const Entry& left, const Entry& right) { return left.rank < right.rank; };
  std::sort(raised_.begin(), raised_.end(), by_rank);
  std::size_t same_end = from;
  while (same_end < part.end && entries_[same_end].support == top) {
    ++same_end;
  }
  const auto at = [this](std::size_t index) {
    return entries_.begin() + static_cast<std::ptrdiff_t>(index);
  };
  const auto next =
      std::merge(raised_.begin(), raised_.end(), at(from), at(same_end), at(to), by_rank);
  std::copy(at(same_end), at(part.end), next);
}

/// Decides the parts into which the rest of a part falls.
Outcome CapacitySearch::solve_parts(const Part& rest, const Entry& entry) {
  std::vector<Part> parts;
  std::uint32_t lower = rest.lower;
  while (lower < rest.upper) {
    std::uint32_t upper = lower + 1;
    while (upper < rest.upper && crossing_[upper] != 0) {
      ++upper;
    }
    if (waiting_[lower] != 0) {
      parts.push_back(make_part(rest, lower, upper));
    }
    lower = upper;
  }
  for (const Part& part : parts) {
    if (!is_possible(part, entry.support)) {
      return Outcome::kDoesNotFit;
    }
  }
  // The small ones first: if one of them does not fit, that is soon known.
  std::sort(parts.begin(), parts.end(), [](const Part& left, const Part& right) {
    return left.end - left.begin < right.end - right.begin;
  });
  Outcome outcome = Outcome::kFits;
  for (std::size_t i = 0; i < parts.size() && outcome == Outcome::kFits; ++i) {
    outcome = solve(parts[i], {entry.support, 0});
  }
  return outcome;
}

/// Adds the entries in [lower, upper) again, with new ranks.
CapacitySearch::Part CapacitySearch::make_part(const Part& rest, std::uint32_t lower,
                                               std::uint32_t upper) {
  const std::size_t begin = entries_.size();
  for (std::size_t i = rest.begin; i < rest.end; ++i) {
    const Entry entry = entries_[i];
    if (lower <= instance_.lower[entry.tensor] && instance_.lower[entry.tensor] < upper) {
      entries_.push_back(entry);
    }
  }
  const Part part{begin, entries_.size(), lower, upper};
  rank_entries(part);
  return part;
}

void CapacitySearch::rank_entries(const Part& part) {
  struct Key {
    double first;
    double second;
    double third;
    std::uint32_t tensor;
    std::size_t entry;
  };
  std::vector<Key> keys;
  for (std::size_t i = part.begin; i < part.end; ++i) {
    const std::uint32_t tensor = entries_[i].tensor;
    const auto length = static_cast<double>(instance_.duration[tensor]);
    const double area = length * size_[tensor];
    const double busy = *std::max_element(
        &waiting_[instance_.lower[tensor]],
        &waiting_[instance_.lower[tensor]] + (instance_.upper[tensor] - instance_.lower[tensor]));
    switch (try_first_) {
      case TryFirst::kLongest:
        keys.push_back({length, area, busy, tensor, i});
        break;
      case TryFirst::kBusyAndLarge:
        keys.push_back({busy, area, length, tensor, i});
        break;
      case TryFirst::kBusyAndLong:
        keys.push_back({busy, length, area, tensor, i});
        break;
    }
  }
  std::sort(keys.begin(), keys.end(), [](const Key& left, const Key& right) {
    return std::tie(right.first, right.second, right.third, left.tensor) <
           std::tie(left.first, left.second, left.third, right.tensor);
  });
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    entries_[keys[rank].entry].rank = static_cast<std::uint32_t>(rank);
  }
  std::sort(entries_.begin() + static_cast<std::ptrdiff_t>(part.begin),
            entries_.begin() + static_cast<std::ptrdiff_t>(part.end),
            [](const Entry& left, const Entry& right) {
              return std::tie(left.support, left.rank) < std::tie(right.support, right.rank);
            });
}

}  // namespace placewire::planning
