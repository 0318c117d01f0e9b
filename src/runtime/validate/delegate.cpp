// Checks one delegate: that its blob is in the file, and that its target_device is a device.
#include <string>

#include "validate/plan.h"

namespace placewire::validation {
namespace {

using program::DataLocation;

constexpr std::string_view kTargetDeviceKey = "target_device";

void check_blob(const PlanCheck& check, program::BackendDelegateDataReference blob,
                const Path& path) {
  if (!blob) {
    return;
  }
  const std::uint64_t at = check.context.offset_of(blob);
  if (blob.location() == DataLocation::SEGMENT) {
    check.storage.check_segment_index(check.context, blob.index(), Path(path, "index"), at);
  } else if (blob.location() == DataLocation::INLINE) {
    const std::size_t count = check.context.program.backend_delegate_data().size();
    if (blob.index() >= count) {
      check.report().add(Rule::DELEGATE_DATA_OUT_OF_RANGE, Path(path, "index"), at,
                         "there is no blob ", blob.index(), " in backend_delegate_data, which has ",
                         count);
    }
  }
}

/// What a compile spec says, without the blanks around it, which ExecuTorch ignores too.
std::string_view text_of(schema::Vector<std::uint8_t> value) noexcept {
  return trimmed({reinterpret_cast<const char*>(value.data()), value.size()});
}

/// Reports a target_device that is no device, and returns the device that it names.
std::optional<Device> check_target(const PlanCheck& check, program::CompileSpec spec,
                                   const Path& path) {
  if (!spec.has_value()) {
    return std::nullopt;
  }
  const std::uint64_t at = check.context.offset_of(spec.value(), 0);
  Result<Device> device = parse_device(text_of(spec.value()));
  if (!device.ok()) {
    check.report().add(Rule::TARGET_DEVICE_INVALID, Path(path, "value"), at,
                       device.error().message);
    return std::nullopt;
  }
  check.usage.add(device.value());
  if (device.value().is_cpu()) {
    check.report().add(Rule::TARGET_DEVICE_CPU, Path(path, "value"), at, "the target_device is ",
                       to_string(device.value()),
                       ", which means no device: leave the option out, for exporters add copies "
                       "that fail when they run");
  }
  return device.value();
}

}  // namespace

std::optional<Device> check_delegate(PlanCheck& check, program::BackendDelegate delegate,
                                     const Path& path) {
  check_blob(check, delegate.processed(), Path(path, "processed"));
  // A delegate that names no device runs on the CPU.
  std::optional<Device> device = Device{};
  const auto specs = delegate.compile_specs();
  std::optional<std::size_t> named_by;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const program::CompileSpec spec = specs[i];
    if (spec.key() != kTargetDeviceKey) {
      continue;
    }
    const Path spec_path(path, "compile_specs", i);
    if (named_by) {
      check.report().add(Rule::TARGET_DEVICE_REPEATED, Path(spec_path, "key"),
                         check.context.offset_of(spec), "compile_specs[", *named_by,
                         "] names the target_device already; readers take the first");
    } else {
      named_by = i;
      device = check_target(check, spec, spec_path);
    }
  }
  return device;
}

}  // namespace placewire::validation
