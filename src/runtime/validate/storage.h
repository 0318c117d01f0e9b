// Where constants, initial values and blobs are stored, and how many bytes of each there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "validate/context.h"

namespace placewire::validation {

/// A segment of the file, in bytes from its start.
struct SegmentExtent {
  std::uint64_t begin;
  std::uint64_t size;
};

/// Values that share a segment: where each begins, and how far it may reach.
class StoredValues {
 public:
  /// No values.
  StoredValues() = default;
  /// Values at `offsets` in a segment, whose size is not known if its index was out of range.
  StoredValues(schema::Vector<std::uint64_t> offsets, std::optional<SegmentExtent> segment);

  /// Number of entries, the reserved entry 0 included.
  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size(); }

  /// The bytes from value `index` to the next one or to the end of the segment, whichever comes
  /// first. Nothing if that is not known, because an index or an offset is wrong in itself.
  [[nodiscard]] std::optional<SegmentExtent> extent(std::size_t index) const noexcept;

 private:
  schema::Vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> sorted_;
  std::optional<SegmentExtent> segment_;
};

/// All that a program stores outside its methods.
class Storage {
 public:
  /// Checks the segments.
  explicit Storage(const Context& context);

  /// Checks every list of the program that refers to segments; before, only segments are known.
  void check_references(const Context& context);

  /// The extent of a segment; nothing if there is none with that index, or it is not in the file.
  [[nodiscard]] std::optional<SegmentExtent> segment(std::uint64_t index) const noexcept;
  [[nodiscard]] std::size_t segment_count() const noexcept { return segments_.size(); }

  /// Whether constants are in a segment, not in `Program.constant_buffer`.
  [[nodiscard]] bool has_constant_segment() const noexcept { return constants_.size() != 0; }
  [[nodiscard]] const StoredValues& constants() const noexcept { return constants_; }
  /// One entry per `Program.mutable_data_segments`.
  [[nodiscard]] const std::vector<StoredValues>& mutable_data() const noexcept {
    return mutable_data_;
  }

  /// Index in `Program.named_data` of the device table.
  [[nodiscard]] std::optional<std::size_t> device_table() const noexcept { return device_table_; }

  /// Reports an index that names no segment, and whether it does name one.
  bool check_segment_index(const Context& context, std::uint32_t index, const Path& path,
                           std::uint64_t offset) const;

 private:
  void check_segment(const Context& context, std::size_t index);
  bool check_base(const Context& context) const;
  void check_order(const Context& context) const;
  void check_end(const Context& context) const;
  StoredValues check_values(const Context& context, program::SubsegmentOffsets list,
                            const Path& path) const;
  void check_named_data(const Context& context);

  std::vector<std::optional<SegmentExtent>> segments_;
  StoredValues constants_;
  std::vector<StoredValues> mutable_data_;
  std::optional<std::size_t> device_table_;
};

}  // namespace placewire::validation
