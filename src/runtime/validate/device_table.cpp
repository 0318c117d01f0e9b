// Checks the device table, a FlatBuffer of its own in a named segment.
//
// Paths in it begin with `device_table`; offsets count from the start of the file, as everywhere.
#include "validate/device_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "placewire/schema/device_info/audit.h"
#include "placewire/schema/device_info/verifier.h"
#include "placewire/schema/device_info/views.h"
#include "validate/generated_rules.h"

namespace placewire::validation {
namespace {

using schema::device_info::DeviceInfo;
using schema::device_info::DeviceTable;

constexpr Path kTablePath(kRootPath, "device_table");

/// The table's segment, as far as it is in the file; nothing if it is not, which has been reported.
std::optional<SegmentExtent> extent_of(const Context& context, const Storage& storage) {
  if (!storage.device_table()) {
    return std::nullopt;
  }
  const auto entry = context.program.named_data()[*storage.device_table()];
  const auto extent = storage.segment(entry.segment_index());
  const bool is_in_file = extent && extent->begin <= context.layout.file_size &&
                          extent->size <= context.layout.file_size - extent->begin;
  return is_in_file ? extent : std::nullopt;
}

class TableCheck {
 public:
  /// `table` begins at byte `begin` of the file.
  TableCheck(const Context& context, schema::Bytes table, std::uint64_t begin, Usage::Devices uses)
      : context_(context), table_(table), begin_(begin), uses_(std::move(uses)) {}

  void run(DeviceTable table) {
    const auto devices = table.devices();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      check_device(devices[i], Path(kTablePath, "devices", i));
    }
    for (const auto& [device, use] : uses_) {
      if (listed_.count(device) == 0) {
        context_.report.add(Rule::DEVICE_TABLE_INCOMPLETE, Path(kTablePath, "devices"),
                            offset_of(table), "the program uses ", spelled(device),
                            ", which the table lacks: rebuild the table");
      }
    }
  }

 private:
  using Key = std::pair<int, int>;

  std::uint64_t offset_of(const schema::TableView& view) const noexcept {
    return begin_ + static_cast<std::uint64_t>(wire_table(view).position() - table_.data());
  }

  static std::string spelled(Key device) {
    return to_string(
        {static_cast<DeviceType>(device.first), static_cast<std::int8_t>(device.second)});
  }

  void check_device(DeviceInfo info, const Path& path) {
    const Key device{static_cast<int>(info.device_type()), info.device_index()};
    const std::uint64_t at = offset_of(info);
    if (device.second < 0) {
      context_.report.add(Rule::DEVICE_INDEX_NEGATIVE, Path(path, "device_index"), at,
                          "the device index is ", device.second, ", expected 0 to 127");
    }
    if (!listed_.insert(device).second) {
      context_.report.add(Rule::DUPLICATE_DEVICE, path, at, spelled(device),
                          " stands in the table before");
      return;
    }
    if (device < *std::prev(listed_.end())) {
      context_.report.add(Rule::DEVICES_UNORDERED, path, at, spelled(device), " stands behind ",
                          spelled(*std::prev(listed_.end())),
                          ", expected ascending kinds and indices");
    }
    const auto use = uses_.find(device);
    if (use == uses_.end()) {
      context_.report.add(Rule::DEVICE_TABLE_UNUSED_DEVICE, path, at,
                          "nothing in the program is on ", spelled(device), ": rebuild the table");
      return;
    }
    check_number(info.planned_bytes(), use->second.planned_bytes, Path(path, "planned_bytes"), at);
    check_number(info.buffer_count(), use->second.buffer_count, Path(path, "buffer_count"), at);
    if (!use->second.has_unknown_constant) {
      check_number(info.constant_bytes(), use->second.constant_bytes, Path(path, "constant_bytes"),
                   at);
    }
  }

  void check_number(std::uint64_t found, std::uint64_t expected, const Path& path,
                    std::uint64_t at) const {
    if (found != expected) {
      context_.report.add(Rule::DEVICE_TABLE_DISAGREES, path, at, "the table says ", found,
                          ", the methods add up to ", expected, ": rebuild the table");
    }
  }

  const Context& context_;
  const schema::Bytes table_;
  const std::uint64_t begin_;
  const Usage::Devices uses_;
  std::set<Key> listed_;
};

}  // namespace

void check_device_table(const Context& context, const Storage& storage, Usage& usage) {
  const auto extent = extent_of(context, storage);
  if (!extent) {
    return;
  }
  schema::Bytes bytes(context.file.data() + extent->begin, static_cast<std::size_t>(extent->size));
  std::vector<std::uint8_t> copy;
  if (context.is_volatile) {
    const auto size = static_cast<std::size_t>(std::min(extent->size, kLargestCopy));
    copy.assign(bytes.begin(), bytes.begin() + size);
    bytes = schema::Bytes(copy.data(), copy.size());
  }
  const schema::VerifyResult result = schema::device_info::verify_device_table(bytes);
  if (!result.ok()) {
    report_structure(context.report, result, kTablePath, extent->begin);
    return;
  }
  const DeviceTable table = schema::device_info::view_device_table(bytes);
  report_audit(context.report, table, kTablePath, bytes, extent->begin);
  TableCheck(context, bytes, extent->begin, usage.take()).run(table);
}

}  // namespace placewire::validation
