// A device: a kind and a number, as programs, tools and users name it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "placewire/runtime/api.h"
#include "placewire/runtime/result.h"
#include "placewire/schema/program/enums.h"

namespace placewire {

using schema::program::DeviceType;

/// One device. The default is cpu:0.
struct Device {
  DeviceType type = DeviceType::CPU;
  /// Which device of its kind, 0..127 (the wire has a signed byte).
  std::int8_t index = 0;

  /// Whether its memory is the host's. There is only one CPU, whatever its index says.
  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type == DeviceType::CPU; }

  /// Whether both name the same device.
  friend constexpr bool operator==(const Device& left, const Device& right) noexcept {
    return left.type == right.type && (left.index == right.index || left.is_cpu());
  }
  friend constexpr bool operator!=(const Device& left, const Device& right) noexcept {
    return !(left == right);
  }
};

/// `cuda:1`; the kind is spelled as a number if the schema does not know it.
[[nodiscard]] PLACEWIRE_API std::string to_string(const Device& device);

/// Reads `cuda:1`. Case and surrounding blanks do not matter, and without a number 0 is meant.
/// Everything else is INVALID_ARGUMENT, with a message that shows the text and what would be valid.
[[nodiscard]] PLACEWIRE_API Result<Device> parse_device(std::string_view text);

}  // namespace placewire
