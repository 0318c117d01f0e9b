// Which devices a method uses: those that the file names, after the caller's map.
#include "method/device_choice.h"

#include "placewire/schema/device_info/views.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

constexpr std::string_view kTargetDeviceKey = "target_device";

/// Bytes that buffers on a device must be aligned to, as the device table says; 0 if it does not.
std::size_t alignment_on(const std::optional<schema::Bytes>& table, Device device) {
  if (!table || table->empty()) {
    return 0;
  }
  for (const auto info : schema::device_info::view_device_table(*table).devices()) {
    if (info.device_type() == device.type && info.device_index() == device.index) {
      return info.alignment();
    }
  }
  return 0;
}

}  // namespace

Device mapped(const DeviceMap& map, Device device) noexcept {
  for (const auto& [from, to] : map) {
    if (from == device) {
      return to;
    }
  }
  return device;
}

DeviceChoice choose_devices(const Program& program, const MethodMeta& meta, const DeviceMap& map) {
  DeviceChoice choice;
  const auto table = program.named_data(kDeviceTableKey);
  const std::size_t buffers = meta.memory_planned_buffer_count();
  for (std::size_t i = 0; i < buffers; ++i) {
    const Device device = meta.memory_planned_buffer_device(i).value();
    choice.buffers.push_back(mapped(map, device));
    choice.alignments.push_back(alignment_on(table, device));
  }
  for (const program::EValue value : meta.plan().values()) {
    Device device;
    if (const program::Tensor tensor = value.val_as_Tensor()) {
      const auto extra = tensor.extra_tensor_info();
      const program::AllocationDetails place = tensor.allocation_info();
      device = place ? choice.buffers[place.memory_id() - 1]
                     : mapped(map, {extra.device_type(), extra.device_index()});
    }
    choice.values.push_back(device);
  }
  return choice;
}

Device target_device(const program::BackendDelegate& delegate) {
  for (const program::CompileSpec spec : delegate.compile_specs()) {
    if (spec.key() == kTargetDeviceKey) {
      const auto text = spec.value();
      const Result<Device> device =
          parse_device(trimmed({reinterpret_cast<const char*>(text.data()), text.size()}));
      return device.ok() ? device.value() : Device{};  // the validator has read it before
    }
  }
  return {};
}

bool is_constant(const program::Tensor& tensor) noexcept {
  return tensor.data_buffer_idx() != 0 && !tensor.has_allocation_info();
}

}  // namespace placewire
