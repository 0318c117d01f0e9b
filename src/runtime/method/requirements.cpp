// Compares what a program asks of its devices with what they are.
#include "method/requirements.h"

#include <algorithm>

#include "placewire/runtime/allocator.h"
#include "placewire/schema/device_info/views.h"
#include "text.h"

namespace placewire {
namespace {

namespace device_info = schema::device_info;

void compare_texts(std::vector<std::string>& unmet, Device device, const char* what,
                   std::string_view found, std::string_view wanted) {
  if (!wanted.empty() && !found.empty() && found != wanted) {
    unmet.push_back(to_string(device) + " has the " + what + ' ' + quoted(found) +
                    ", but the program needs " + quoted(wanted));
  }
}

void compare(std::vector<std::string>& unmet, Device device, const DeviceProperties& found,
             const device_info::DeviceRequirements& wanted) {
  compare_texts(unmet, device, "name", found.name, wanted.name());
  compare_texts(unmet, device, "architecture", found.architecture, wanted.architecture());
  if (found.memory != 0 && found.memory < wanted.minimum_memory()) {
    unmet.push_back(to_string(device) + " has " + std::to_string(found.memory) +
                    " bytes of memory, but the program needs " +
                    std::to_string(wanted.minimum_memory()));
  }
}

}  // namespace

std::vector<std::string> unmet_requirements(const Program& program, const DeviceMap& map,
                                            const std::vector<Device>& used) {
  std::vector<std::string> unmet;
  const auto table = program.named_data(kDeviceTableKey);
  if (!table || table->empty()) {
    return unmet;
  }
  for (const device_info::DeviceInfo info : device_info::view_device_table(*table).devices()) {
    const Device device = mapped(map, {info.device_type(), info.device_index()});
    const auto wanted = info.requirements();
    if (!wanted || std::find(used.begin(), used.end(), device) == used.end()) {
      continue;
    }
    const auto allocator = find_allocator(device);
    if (!allocator.ok()) {
      continue;
    }
    const Result<DeviceProperties> found = allocator.value()->properties(device.index);
    if (found.ok()) {
      compare(unmet, device, found.value(), wanted);
    } else {
      unmet.push_back(found.error().message);
    }
  }
  return unmet;
}

}  // namespace placewire
