// Compares what a program asks of its devices with what they are.
#pragma once

#include <string>
#include <vector>

#include "method/device_choice.h"
#include "placewire/runtime/method.h"

namespace placewire {

/// What devices lack of what the program's device table asks of them, a text for each lack.
///
/// `used` has the devices that are asked, as the caller's map names them. One that has no
/// allocator is passed over, and so is what an allocator cannot tell of its device.
[[nodiscard]] std::vector<std::string> unmet_requirements(const Program& program,
                                                          const DeviceMap& map,
                                                          const std::vector<Device>& used);

}  // namespace placewire
