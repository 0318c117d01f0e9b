// Adds up what a program asks of each device.
#include "validate/usage.h"

#include <algorithm>
#include <limits>

namespace placewire::validation {
namespace {

std::uint64_t saturating_add(std::uint64_t left, std::uint64_t right) noexcept {
  const std::uint64_t sum = left + right;
  return sum < left ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace

DeviceUse& Usage::entry(Device device) {
  return devices_[{static_cast<int>(device.type), device.index}];
}

void Usage::add_buffer(Device device, std::uint64_t size) {
  DeviceUse& use = entry(device);
  use.planned_bytes = saturating_add(use.planned_bytes, size);
  ++use.buffer_count;
}

void Usage::add_constant(Device device, const StoredValueKey& key,
                         std::optional<std::uint64_t> size) {
  entry(device);
  constants_.push_back({{static_cast<int>(device.type), device.index}, key, size});
}

Usage::Devices Usage::take() {
  // Of several tensors that share a value the last one decides, as everywhere in placewire; stable
  // sorting keeps it last.
  std::stable_sort(constants_.begin(), constants_.end(), [](const Constant& a, const Constant& b) {
    return std::tie(a.device, a.key) < std::tie(b.device, b.key);
  });
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const Constant& constant = constants_[i];
    const bool is_last = i + 1 == constants_.size() ||
                         constants_[i + 1].device != constant.device ||
                         !(constants_[i + 1].key == constant.key);
    if (is_last) {
      DeviceUse& use = devices_[constant.device];
      use.has_unknown_constant |= !constant.size.has_value();
      use.constant_bytes = saturating_add(use.constant_bytes, constant.size.value_or(0));
    }
  }
  constants_.clear();
  return std::exchange(devices_, {});
}

}  // namespace placewire::validation
