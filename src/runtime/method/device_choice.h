// Which devices a method uses: those that the file names, after the caller's map.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "placewire/runtime/method.h"

namespace placewire {

/// The named data that holds a program's device table.
inline constexpr std::string_view kDeviceTableKey = "placewire.device_table";

/// The device to take for one that the file names.
[[nodiscard]] Device mapped(const DeviceMap& map, Device device) noexcept;

/// Where the parts of a method go.
struct DeviceChoice {
  /// One for each planned buffer, the reserved entry 0 left out.
  std::vector<Device> buffers;
  /// Bytes that each buffer must be aligned to; 0 is the device's own choice.
  std::vector<std::size_t> alignments;
  /// One for each value; cpu:0 for those that are no tensors.
  std::vector<Device> values;
};

/// Chooses for all of a method. A planned tensor is where its buffer is.
[[nodiscard]] DeviceChoice choose_devices(const Program& program, const MethodMeta& meta,
                                          const DeviceMap& map);

/// The device that a delegate was compiled for, before the map; cpu:0 if it names none.
[[nodiscard]] Device target_device(const schema::program::BackendDelegate& delegate);

/// Whether a tensor's value is in the program and no part of the planned memory.
[[nodiscard]] bool is_constant(const schema::program::Tensor& tensor) noexcept;

}  // namespace placewire
