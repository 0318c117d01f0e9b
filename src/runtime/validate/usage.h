// What a program asks of each device, added up over its methods.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "placewire/runtime/device.h"

namespace placewire::validation {

/// What one device must hold.
struct DeviceUse {
  /// Bytes of the planned buffers, and how many of them are not empty.
  std::uint64_t planned_bytes = 0;
  std::uint64_t buffer_count = 0;
  /// Bytes of constants and initial values that must be copied there.
  std::uint64_t constant_bytes = 0;
  /// Whether the size of one of them cannot be told, so `constant_bytes` says nothing.
  bool has_unknown_constant = false;
};

/// Where a value is stored: in the constants, or in one list of the mutable data.
struct StoredValueKey {
  bool is_mutable;
  std::uint64_t list;
  std::uint32_t index;

  friend bool operator<(const StoredValueKey& left, const StoredValueKey& right) noexcept {
    return std::tie(left.is_mutable, left.list, left.index) <
           std::tie(right.is_mutable, right.list, right.index);
  }
  friend bool operator==(const StoredValueKey& left, const StoredValueKey& right) noexcept {
    return !(left < right) && !(right < left);
  }
};

/// Collects what the methods use. Numbers that do not fit 64 bits stay at the largest that does.
class Usage {
 public:
  /// Notes that something is on `device`.
  void add(Device device) { entry(device); }
  /// Notes a planned buffer that is not empty.
  void add_buffer(Device device, std::uint64_t size);
  /// Notes a constant or an initial value; those that tensors share count once. `size` is nothing
  /// if it cannot be told.
  void add_constant(Device device, const StoredValueKey& key, std::optional<std::uint64_t> size);

  /// What is used of each device, by kind and index.
  using Devices = std::map<std::pair<int, int>, DeviceUse>;
  /// Returns all that was noted, and forgets it.
  [[nodiscard]] Devices take();

 private:
  struct Constant {
    std::pair<int, int> device;
    StoredValueKey key;
    std::optional<std::uint64_t> size;
  };

  DeviceUse& entry(Device device);

  Devices devices_;
  std::vector<Constant> constants_;
};

}  // namespace placewire::validation
