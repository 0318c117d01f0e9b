// The orders in which the algorithms take tensors.
#include "plan/orders.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace placewire::planning {
namespace {

/// Sorts tensors by keys, of which the first that differs decides; the greater goes first.
template <class Key>
Preference sorted(const Instance& instance, Key key) {
  using Keys = decltype(key(0u));
  std::vector<std::pair<Keys, std::uint32_t>> entries;
  entries.reserve(instance.count());
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    entries.emplace_back(key(i), i);
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& left, const auto& right) { return left.first > right.first; });
  Preference order(entries.size());
  std::transform(entries.begin(), entries.end(), order.begin(),
                 [](const auto& entry) { return entry.second; });
  return order;
}

std::int64_t duration(const Instance& instance, std::uint32_t i) {
  return std::int64_t{instance.upper[i]} - instance.lower[i];
}

/// For each tensor, the most bytes alive in any of its sections: a table of maxima over runs of
/// sections whose lengths are powers of two.
std::vector<std::int64_t> most_live(const Instance& instance) {
  std::vector<std::vector<std::int64_t>> runs{live_bytes(instance)};
  for (std::size_t half = 1; 2 * half <= instance.sections; half *= 2) {
    const std::vector<std::int64_t>& last = runs.back();
    std::vector<std::int64_t> next(last.size() - half);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = std::max(last[i], last[i + half]);
    }
    runs.push_back(std::move(next));
  }
  std::vector<std::int64_t> most(instance.count());
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    const auto length = static_cast<std::uint32_t>(duration(instance, i));
    const auto level = static_cast<std::size_t>(31 - __builtin_clz(length));
    const std::size_t last = instance.upper[i] - (std::size_t{1} << level);
    most[i] = std::max(runs[level][instance.lower[i]], runs[level][last]);
  }
  return most;
}

double area(const Instance& instance, std::uint32_t i) {
  // A rounded product will do, and cannot overflow.
  return static_cast<double>(instance.size[i]) * static_cast<double>(duration(instance, i));
}

}  // namespace

Preference longest_first(const Instance& instance) {
  return sorted(instance, [&](std::uint32_t i) {
    return std::array{duration(instance, i), instance.size[i], -std::int64_t{instance.source[i]}};
  });
}

Preference largest_first(const Instance& instance) {
  return sorted(instance, [&](std::uint32_t i) {
    return std::array{instance.size[i], duration(instance, i), -std::int64_t{instance.source[i]}};
  });
}

Preference greatest_area_first(const Instance& instance) {
  return sorted(instance, [&](std::uint32_t i) {
    return std::tuple(area(instance, i), -std::int64_t{instance.source[i]});
  });
}

Preference busiest_first(const Instance& instance) {
  const std::vector<std::int64_t> most = most_live(instance);
  return sorted(instance, [&](std::uint32_t i) {
    return std::array{most[i], instance.size[i], -std::int64_t{instance.source[i]}};
  });
}

Preference largest_and_last_first(const Instance& instance) {
  return sorted(instance, [&](std::uint32_t i) {
    return std::array{instance.size[i], std::int64_t{instance.source[i]}};
  });
}

}  // namespace placewire::planning
