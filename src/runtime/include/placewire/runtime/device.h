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

/// Which device of its kind, 0..127 (the wire has a signed byte).
using DeviceIndex = std::int8_t;

/// One device. The default is cpu:0.
struct Device {
  DeviceType type = DeviceType::CPU;
  DeviceIndex index = 0;

  /// Whether its memory is the host's, which all devices of the kind CPU share.
  [[nodiscard]] constexpr bool is_cpu() const noexcept { return type == DeviceType::CPU; }

  /// Whether kind and index are equal; so cpu:1 is not cpu:0, although both are the host.
  friend constexpr bool operator==(const Device& left, const Device& right) noexcept {
    return left.type == right.type && left.index == right.index;
  }
  friend constexpr bool operator!=(const Device& left, const Device& right) noexcept {
    return !(left == right);
  }
};

/// Whether what is on one device is in the other's memory: they are equal, or both are the host.
[[nodiscard]] constexpr bool share_memory(const Device& left, const Device& right) noexcept {
  return left == right || (left.is_cpu() && right.is_cpu());
}

/// `cuda:1`; the kind is spelled as a number if the schema does not know it.
[[nodiscard]] PLACEWIRE_API std::string to_string(const Device& device);

/// Reads `cuda:1`. Case does not matter, and without a number 0 is meant. Everything else, blanks
/// around it included, is INVALID_ARGUMENT, with a message that shows the text and what is valid.
[[nodiscard]] PLACEWIRE_API Result<Device> parse_device(std::string_view text);

}  // namespace placewire
