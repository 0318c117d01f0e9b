// Checks the segments of a file and the lists that refer to them.
#include "validate/storage.h"

#include <algorithm>
#include <utility>

#include "validate/duplicates.h"

namespace placewire::validation {
namespace {

constexpr std::string_view kDeviceTableKey = "placewire.device_table";

}  // namespace

StoredValues::StoredValues(schema::Vector<std::uint64_t> offsets,
                           std::optional<SegmentExtent> segment)
    : offsets_(offsets), segment_(segment) {
  if (segment_ && offsets_.size() > 1) {
    sorted_.assign(offsets_.begin() + 1, offsets_.end());
    std::sort(sorted_.begin(), sorted_.end());
  }
}

std::optional<SegmentExtent> StoredValues::extent(std::size_t index) const noexcept {
  if (!segment_ || index == 0 || index >= offsets_.size() || offsets_[index] > segment_->size) {
    return std::nullopt;
  }
  const std::uint64_t begin = offsets_[index];
  const auto next = std::upper_bound(sorted_.begin(), sorted_.end(), begin);
  const std::uint64_t end =
      next == sorted_.end() ? segment_->size : std::min(*next, segment_->size);
  return SegmentExtent{segment_->begin + begin, end - begin};
}

Storage::Storage(const Context& context) {
  const std::size_t count = context.program.segments().size();
  segments_.resize(count);
  if (!check_base(context)) {
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    check_segment(context, i);
  }
  check_order(context);
  if (context.layout.has_header && !context.layout.has_data_size) {
    check_end(context);
  }
}

void Storage::check_references(const Context& context) {
  const program::Program& program = context.program;
  if (const auto list = program.constant_segment(); list.offsets().size() > 1) {
    constants_ = check_values(context, list, Path(kRootPath, "constant_segment"));
    if (program.constant_buffer().size() > 1) {
      context.report.add(
          Rule::CONSTANTS_STORED_TWICE, Path(kRootPath, "constant_buffer"),
          context.offset_of(program), "the program stores ", program.constant_buffer().size(),
          " constants in place beside its constant segment, which readers use: leave "
          "out the one that is not meant");
    }
  }
  const auto lists = program.mutable_data_segments();
  for (std::size_t i = 0; i < lists.size(); ++i) {
    mutable_data_.push_back(
        check_values(context, lists[i], Path(kRootPath, "mutable_data_segments", i)));
  }
  check_named_data(context);
}

std::optional<SegmentExtent> Storage::segment(std::uint64_t index) const noexcept {
  return index < segments_.size() ? segments_[static_cast<std::size_t>(index)] : std::nullopt;
}

bool Storage::check_segment_index(const Context& context, std::uint32_t index, const Path& path,
                                  std::uint64_t offset) const {
  if (index < segments_.size()) {
    return true;
  }
  context.report.add(Rule::SEGMENT_INDEX_OUT_OF_RANGE, path, offset, "there is no segment ", index,
                     ", the program lists ", segments_.size());
  return false;
}

/// Reports segment data inside the program, and whether it is not; of a file whose header says how
/// much there is, that has been checked.
bool Storage::check_base(const Context& context) const {
  const Layout& layout = context.layout;
  const auto segments = context.program.segments();
  const bool has_data =
      std::any_of(segments.begin(), segments.end(),
                  [](program::DataSegment segment) { return segment.size() != 0; });
  if (!layout.has_header || layout.has_data_size || !has_data ||
      layout.segment_begin >= layout.program_end) {
    return true;
  }
  report_base_inside_program(layout, context.report);
  return false;
}

void Storage::check_segment(const Context& context, std::size_t index) {
  const Layout& layout = context.layout;
  const std::uint64_t available = layout.segment_end - layout.segment_begin;
  const program::DataSegment segment = context.program.segments()[index];
  const std::uint64_t offset = segment.offset();
  const std::uint64_t size = segment.size();
  if (size == 0) {
    // Where nothing is stored does not matter; writers list an empty first segment.
    segments_[index] = SegmentExtent{layout.segment_begin, 0};
  } else if (!layout.has_header) {
    context.report.add(
        Rule::SEGMENT_WITHOUT_HEADER, Path(kRootPath, "segments", index),
        context.offset_of(segment), "the segment has ", size,
        " bytes, but no extended header says where segments begin: bytes 8 to 11 are ",
        quoted(header_magic(context.head)), ", expected ", quoted(program::Program::kHeaderMagic),
        "; the header or the segments were lost");
  } else if (offset > available || size > available - offset) {
    context.report.add(Rule::SEGMENT_OUT_OF_FILE, Path(kRootPath, "segments", index),
                       context.offset_of(segment), "the segment has ", size, " bytes from ", offset,
                       " on, but there are only ", available,
                       " bytes of segment data: the file is damaged or was cut short");
  } else {
    segments_[index] = SegmentExtent{layout.segment_begin + offset, size};
  }
}

/// Reports what follows the last segment of a file whose header does not say where its data ends.
void Storage::check_end(const Context& context) const {
  const Layout& layout = context.layout;
  std::uint64_t end = std::max(layout.program_end, layout.segment_begin);
  const auto segments = context.program.segments();
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (segments_[i]) {
      // An empty segment may be listed behind padding.
      end = std::max(end, layout.segment_begin + segments[i].offset() + segments[i].size());
    }
  }
  if (end < context.layout.file_size) {
    context.report.add(Rule::FILE_GROWN, Path(kRootPath, "segments"), end,
                       "the last segment ends at byte ", end, ", but the file has ",
                       context.layout.file_size, " bytes: remove the ",
                       context.layout.file_size - end, " behind it");
  }
}

void Storage::check_order(const Context& context) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    if (segments_[i] && segments_[i]->size != 0) {
      order.emplace_back(segments_[i]->begin, i);
    }
  }
  const auto segments = context.program.segments();
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i].first < order[i - 1].first) {
      context.report.add(Rule::SEGMENTS_UNORDERED, Path(kRootPath, "segments", order[i].second),
                         context.offset_of(segments[order[i].second]),
                         "the segment lies before segments[", order[i - 1].second,
                         "], which stands before it in the list");
    }
  }
  std::sort(order.begin(), order.end());
  std::size_t furthest = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t before = order[furthest].second;
    const SegmentExtent& reach = *segments_[before];
    const SegmentExtent& segment = *segments_[order[i].second];
    if (segment.begin - reach.begin < reach.size) {
      context.report.add(Rule::SEGMENTS_OVERLAP, Path(kRootPath, "segments", order[i].second),
                         context.offset_of(segments[order[i].second]), "the segment begins ",
                         segment.begin - reach.begin, " bytes into segments[", before,
                         "], which has ", reach.size);
    }
    if (segment.begin + segment.size > reach.begin + reach.size) {
      furthest = i;
    }
  }
}

StoredValues Storage::check_values(const Context& context, program::SubsegmentOffsets list,
                                   const Path& path) const {
  const bool is_known = check_segment_index(context, list.segment_index(),
                                            Path(path, "segment_index"), context.offset_of(list));
  const auto extent = is_known ? segment(list.segment_index()) : std::nullopt;
  const auto offsets = list.offsets();
  for (std::size_t i = 1; extent && i < offsets.size(); ++i) {
    if (offsets[i] > extent->size) {
      context.report.add(Rule::SUBSEGMENT_OUT_OF_SEGMENT, Path(path, "offsets", i),
                         context.offset_of(offsets, i), "the value begins at byte ", offsets[i],
                         " of segments[", list.segment_index(), "], which has ", extent->size);
    }
  }
  return StoredValues(offsets, extent);
}

void Storage::check_named_data(const Context& context) {
  const auto entries = context.program.named_data();
  std::vector<std::pair<std::string_view, std::size_t>> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const program::NamedData entry = entries[i];
    const Path path(kRootPath, "named_data", i);
    check_segment_index(context, entry.segment_index(), Path(path, "segment_index"),
                        context.offset_of(entry));
    if (entry.has_key()) {
      names.emplace_back(entry.key(), i);
    }
    if (entry.key() == kDeviceTableKey && !device_table_) {
      device_table_ = i;
    }
  }
  find_duplicates(std::move(names), [&](std::size_t first, std::size_t again) {
    const Path path(kRootPath, "named_data", again);
    context.report.add(Rule::DUPLICATE_NAMED_DATA, Path(path, "key"),
                       context.offset_of(entries[again]), "the key ", quoted(entries[again].key()),
                       " is that of named_data[", first, "] already; readers take the first");
  });
}

}  // namespace placewire::validation
