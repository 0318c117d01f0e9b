// Checks a plan by going through time with the live tensors sorted by offset.
#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <string>

#include "plan/instance.h"

namespace placewire {
namespace {

using planning::aligned;

/// Who is alive, by offset.
using Live = std::map<std::int64_t, std::uint32_t>;

std::string bytes_of(std::int64_t offset, std::int64_t size) {
  return "[" + std::to_string(offset) + ", " + std::to_string(offset + size) + ")";
}

Error overlap(const std::vector<PlannedTensor>& tensors, const std::vector<std::int64_t>& offsets,
              std::uint32_t left, std::uint32_t right) {
  const std::uint32_t first = std::min(left, right);
  const std::uint32_t second = std::max(left, right);
  return {ErrorCode::INVALID_PROGRAM,
          "tensors " + std::to_string(first) + " and " + std::to_string(second) +
              " overlap: both are alive at " +
              std::to_string(std::max(tensors[first].lower, tensors[second].lower)) +
              ", in the bytes " + bytes_of(offsets[first], tensors[first].size) + " and " +
              bytes_of(offsets[second], tensors[second].size)};
}

/// What is wrong with one offset, or where its tensor ends.
Result<std::int64_t> check_offset(std::int64_t offset, std::int64_t size, std::int64_t alignment) {
  if (offset < 0) {
    return Error{ErrorCode::INVALID_PROGRAM, ", expected 0 or more"};
  }
  if (offset % alignment != 0) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 ", which is no multiple of " + std::to_string(alignment)};
  }
  if (offset > std::numeric_limits<std::int64_t>::max() - size) {
    return Error{ErrorCode::INVALID_PROGRAM, ", so that it ends beyond 2^63 - 1"};
  }
  return offset + size;
}

Result<std::int64_t> check_offsets(const std::vector<PlannedTensor>& tensors,
                                   const std::vector<std::int64_t>& offsets,
                                   std::int64_t alignment) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto end = check_offset(offsets[i], *aligned(tensors[i].size, alignment), alignment);
    if (!end) {
      end.error().message = "tensor " + std::to_string(i) + ": the offset is " +
                            std::to_string(offsets[i]) + end.error().message;
      return end;
    }
    if (planning::takes_part(tensors[i])) {
      total = std::max(total, end.value());
    }
  }
  return total;
}

/// Lets a tensor live; returns who has some of its bytes, if anybody has.
std::optional<std::uint32_t> enter(Live& live, const std::vector<PlannedTensor>& tensors,
                                   const std::vector<std::int64_t>& offsets, std::uint32_t index) {
  const std::int64_t offset = offsets[index];
  const auto next = live.lower_bound(offset);
  if (next != live.end() && next->first - offset < tensors[index].size) {
    return next->second;
  }
  if (next != live.begin()) {
    const auto previous = std::prev(next);
    if (offset - previous->first < tensors[previous->second].size) {
      return previous->second;
    }
  }
  live.emplace_hint(next, offset, index);
  return std::nullopt;
}

Result<std::int64_t> verify(const std::vector<PlannedTensor>& tensors,
                            const std::vector<std::int64_t>& offsets, std::int64_t alignment) {
  if (auto error = planning::check(tensors, alignment)) {
    return std::move(*error);
  }
  if (offsets.size() != tensors.size()) {
    return Error{ErrorCode::INVALID_ARGUMENT, "there are " + std::to_string(offsets.size()) +
                                                  " offsets for " + std::to_string(tensors.size()) +
                                                  " tensors"};
  }
  auto total = check_offsets(tensors, offsets, alignment);
  if (!total) {
    return total;
  }
  const planning::Order order = planning::order_in_time(tensors);
  Live live;
  std::size_t end = 0;
  for (const std::uint32_t index : order.starts) {
    for (; tensors[order.ends[end]].upper <= tensors[index].lower; ++end) {
      live.erase(offsets[order.ends[end]]);
    }
    if (const auto other = enter(live, tensors, offsets, index)) {
      return overlap(tensors, offsets, *other, index);
    }
  }
  return total;
}

}  // namespace

Result<std::int64_t> verify_plan(const std::vector<PlannedTensor>& tensors,
                                 const std::vector<std::int64_t>& offsets,
                                 std::int64_t alignment) noexcept {
  try {
    return verify(tensors, offsets, alignment);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::MEMORY_ALLOCATION_FAILED, ""};
  }
}

}  // namespace placewire
