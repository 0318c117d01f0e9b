// Checks tensors, and turns times into sections.
#include "plan/instance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace placewire::planning {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// Indices of tensors and sections have 32 bits, with some values to spare as marks.
constexpr std::size_t kMostTensors = (std::size_t{1} << 31) - 2;

Error invalid(std::size_t index, std::string what) {
  return {ErrorCode::INVALID_ARGUMENT, "tensor " + std::to_string(index) + ": " + std::move(what)};
}

/// Indices of the tensors that take part, sorted by one of their times.
std::vector<std::uint32_t> sorted_by(const std::vector<PlannedTensor>& tensors,
                                     std::int64_t PlannedTensor::* time) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> keys;
  keys.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (takes_part(tensors[i])) {
      keys.emplace_back(tensors[i].*time, static_cast<std::uint32_t>(i));
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  std::transform(keys.begin(), keys.end(), order.begin(),
                 [](const auto& key) { return key.second; });
  return order;
}

}  // namespace

std::optional<std::int64_t> aligned(std::int64_t size, std::int64_t alignment) noexcept {
  const std::int64_t over = size % alignment;
  if (over == 0) {
    return size;
  }
  const std::int64_t padding = alignment - over;
  return size > kMost - padding ? std::nullopt : std::optional(size + padding);
}

std::optional<Error> check(const std::vector<PlannedTensor>& tensors, std::int64_t alignment) {
  if (alignment < 1) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 "the alignment is " + std::to_string(alignment) + ", expected 1 or more"};
  }
  if (tensors.size() > kMostTensors) {
    return Error{ErrorCode::NOT_SUPPORTED, "there are " + std::to_string(tensors.size()) +
                                               " tensors, at most " + std::to_string(kMostTensors) +
                                               " can be planned at once"};
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const PlannedTensor& tensor = tensors[i];
    if (tensor.size < 0) {
      return invalid(i, "the size is " + std::to_string(tensor.size) + ", expected 0 or more");
    }
    if (tensor.lower > tensor.upper) {
      return invalid(i, "the lifetime ends at " + std::to_string(tensor.upper) +
                            ", before it begins at " + std::to_string(tensor.lower));
    }
    const auto size = aligned(tensor.size, alignment);
    if (!size || *size > kMost - sum) {
      return invalid(i, "the sizes up to this one add up to more than 2^63 - 1 bytes");
    }
    sum += *size;
  }
  return std::nullopt;
}

Order order_in_time(const std::vector<PlannedTensor>& tensors) {
  return {sorted_by(tensors, &PlannedTensor::lower), sorted_by(tensors, &PlannedTensor::upper)};
}

Instance make_instance(const std::vector<PlannedTensor>& tensors, std::int64_t alignment) {
  const auto [starts, ends] = order_in_time(tensors);
  const std::size_t count = starts.size();
  Instance instance;
  instance.source = starts;
  instance.lower.resize(count);
  instance.upper.resize(count);
  instance.size.resize(count);
  instance.duration.resize(count);
  std::vector<std::uint32_t> place(tensors.size());
  std::int64_t unit = 0;
  std::int64_t live = 0;
  std::size_t end = 0;
  bool is_growing = false;
  for (std::size_t i = 0; i < count; ++i) {
    const PlannedTensor& tensor = tensors[starts[i]];
    // Whoever ends at the same time makes room first. A section ends where tensors end after some
    // have begun.
    for (; tensors[ends[end]].upper <= tensor.lower; ++end) {
      instance.sections += is_growing ? 1 : 0;
      is_growing = false;
      const std::uint32_t ending = place[ends[end]];
      instance.upper[ending] = instance.sections;
      live -= instance.size[ending];
    }
    is_growing = true;
    place[starts[i]] = static_cast<std::uint32_t>(i);
    instance.lower[i] = instance.sections;
    instance.size[i] = *aligned(tensor.size, alignment);
    // Of whole numbers; their difference may exceed them.
    instance.duration[i] = static_cast<double>(tensor.upper) - static_cast<double>(tensor.lower);
    live += instance.size[i];
    unit = std::gcd(unit, instance.size[i]);
    instance.lower_bound = std::max(instance.lower_bound, live);
  }
  instance.sections += is_growing ? 1 : 0;
  for (; end < count; ++end) {
    instance.upper[place[ends[end]]] = instance.sections;
  }
  instance.unit = std::max<std::int64_t>(unit, 1);
  return instance;
}

std::vector<std::int64_t> live_bytes(const Instance& instance) {
  std::vector<std::int64_t> live(std::size_t{instance.sections} + 1);
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    live[instance.lower[i]] += instance.size[i];
    live[instance.upper[i]] -= instance.size[i];
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  live.pop_back();
  return live;
}

}  // namespace placewire::planning
