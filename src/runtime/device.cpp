// Reads and spells devices.
#include "placewire/runtime/device.h"

#include <algorithm>

#include "text.h"

namespace placewire {
namespace {

using schema::program::kDeviceTypeMembers;

constexpr int kHighestIndex = 127;

constexpr char lower(char character) noexcept {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a')
                                              : character;
}

std::string lower_name(DeviceType type) {
  std::string text(name(type));
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

bool is_name_of(std::string_view text, DeviceType type) noexcept {
  return std::equal(text.begin(), text.end(), name(type).begin(), name(type).end(),
                    [](char left, char right) { return lower(left) == lower(right); });
}

/// Reads a number without sign or leading zeros; -1 if it is none, or too large.
int parse_index(std::string_view text) noexcept {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text.front() == '0')) {
    return -1;
  }
  int index = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') {
      return -1;
    }
    index = 10 * index + (digit - '0');
  }
  return index <= kHighestIndex ? index : -1;
}

Error not_a_device(std::string_view text) {
  std::string kinds;
  for (const DeviceType type : kDeviceTypeMembers) {
    kinds += (kinds.empty() ? "" : " or ") + lower_name(type);
  }
  return {ErrorCode::INVALID_ARGUMENT, quoted(text) + " is not a device; valid is " + kinds +
                                           ", with an index 0 to " + std::to_string(kHighestIndex) +
                                           " if wanted, as in cuda:0"};
}

}  // namespace

std::string to_string(const Device& device) {
  const std::string type = is_valid(device.type) ? lower_name(device.type)
                                                 : std::to_string(static_cast<int>(device.type));
  return type + ':' + std::to_string(device.index);
}

Result<Device> parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const int index = colon == std::string_view::npos ? 0 : parse_index(text.substr(colon + 1));
  if (index >= 0) {
    for (const DeviceType type : kDeviceTypeMembers) {
      if (is_name_of(kind, type)) {
        return Device{type, static_cast<DeviceIndex>(index)};
      }
    }
  }
  return not_a_device(text);
}

}  // namespace placewire
