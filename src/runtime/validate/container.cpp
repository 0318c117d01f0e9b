// The container: identifier, extended header, and whether the file is as long as it says.
//
// Layout, little endian: u32 offset of the root table; the identifier; then, if the program has
// segments, the magic of the extended header, u32 length of this header (24 before ExecuTorch 1.0,
// 32 now, more later), u64 end of the program, u64 start of the segment data and, from length 32
// on, u64 size of the segment data.
#include "validate/container.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "placewire/schema/device_info/views.h"
#include "placewire/schema/program/views.h"

namespace placewire::validation {
namespace {

constexpr std::string_view kIdentifier = schema::program::Program::kFileIdentifier;
constexpr std::string_view kHeaderMagic = schema::program::Program::kHeaderMagic;
constexpr std::size_t kIdentifierAt = 4;
constexpr std::size_t kHeaderAt = 8;
constexpr std::size_t kShortestHeader = 24;
constexpr std::size_t kHeaderWithSize = 32;
/// How far from its place the identifier is searched to tell shifted data from other data.
constexpr std::size_t kLongestShift = 4096;

struct KnownFormat {
  std::string_view magic;
  std::size_t position;
  std::string_view description;
};

/// Files that people pass by mistake.
constexpr std::array<KnownFormat, 6> kKnownFormats = {{
    {"FT01", 4, "a .ptd data file, which goes beside a program"},
    {"BP08", 4, "a bundled program; take the program out of it first"},
    {"ED00", 4, "an ETDump, the record of a run"},
    {schema::device_info::DeviceTable::kFileIdentifier, 4, "a device table"},
    {"PK\x03\x04", 0, "a zip archive, such as a .pt or .pt2 file; export it first"},
    {"\x7f"
     "ELF",
     0, "an executable or a shared library"},
}};

std::string_view text_at(schema::Bytes file, std::size_t position, std::size_t size) noexcept {
  if (position > file.size()) {
    return {};
  }
  return {reinterpret_cast<const char*>(file.data()) + position,
          std::min(size, file.size() - position)};
}

template <class T>
T load(schema::Bytes file, std::size_t position) noexcept {
  return schema::wire::load<T>(file.data() + position);
}

void report_other_identifier(schema::Bytes file, Report& report) {
  const std::string_view found = text_at(file, kIdentifierAt, kIdentifier.size());
  const std::size_t elsewhere = text_at(file, 0, kLongestShift + kIdentifierAt).find(kIdentifier);
  if (elsewhere != std::string_view::npos) {
    const bool is_late = elsewhere > kIdentifierAt;
    report.add(Rule::BASE_SHIFTED, kRootPath, elsewhere, "the identifier ", quoted(kIdentifier),
               " stands at byte ", elsewhere, " instead of byte 4: the data ",
               is_late ? "has " : "lacks ",
               is_late ? elsewhere - kIdentifierAt : kIdentifierAt - elsewhere,
               is_late ? " extra bytes at its start; pass it from there on"
                       : " bytes at its start; pass all of the file");
    return;
  }
  for (const KnownFormat& format : kKnownFormats) {
    if (text_at(file, format.position, format.magic.size()) == format.magic) {
      report.add(Rule::NOT_A_PROGRAM, kRootPath, kIdentifierAt, "bytes 4 to 7 are ", quoted(found),
                 ", expected ", quoted(kIdentifier), ": this is ", format.description);
      return;
    }
  }
  if (found.substr(0, 2) == kIdentifier.substr(0, 2)) {
    report.add(Rule::NOT_A_PROGRAM, kRootPath, kIdentifierAt, "the format is ", quoted(found),
               ", expected ", quoted(kIdentifier),
               ": use a version of placewire that knows that format");
    return;
  }
  report.add(Rule::NOT_A_PROGRAM, kRootPath, kIdentifierAt, "bytes 4 to 7 are ", quoted(found),
             ", expected ", quoted(kIdentifier), ": this is no .pte file");
}

/// Reports a header that is cut off, too short, or longer than the program that it is part of.
bool check_header_length(schema::Bytes file, std::uint64_t file_size, Report& report) {
  if (file.size() < kHeaderAt + 8) {
    report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, kHeaderAt, "the file ends after byte ",
               file_size, ", inside its extended header: it was cut short; copy it again");
    return false;
  }
  const auto length = load<std::uint32_t>(file, 12);
  if (length < kShortestHeader) {
    report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, 12, "the extended header says it has ",
               length, " bytes, expected at least ", kShortestHeader, ": the file is damaged");
    return false;
  }
  const std::size_t needed =
      kHeaderAt + (length < kHeaderWithSize ? kShortestHeader : kHeaderWithSize);
  if (file.size() < needed) {
    report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, kHeaderAt, "the file ends after byte ",
               file_size, ", inside its extended header of ", length,
               " bytes: it was cut short; copy it again");
    return false;
  }
  return true;
}

/// Reports a program that does not end between its header and the end of the file.
bool check_program_end(std::uint64_t file_size, std::uint32_t header_length,
                       std::uint64_t program_end, Report& report) {
  const std::uint64_t header_end = kHeaderAt + std::uint64_t{header_length};
  if (program_end < header_end) {
    report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, 16, "the program ends at byte ",
               program_end, ", but its extended header reaches to byte ", header_end,
               ": the file is damaged");
    return false;
  }
  if (program_end > file_size) {
    report.add(Rule::FILE_TRUNCATED, kRootPath, 16, "the program ends at byte ", program_end,
               ", but the file has only ", file_size, " bytes: ", program_end - file_size,
               " are missing; copy the file again");
    return false;
  }
  return true;
}

/// Reports segment data that does not lie between the program and the end of the file.
void check_segment_data(std::uint64_t size, Layout& layout, Report& report) {
  const std::uint64_t begin = layout.segment_begin;
  const std::uint64_t end = begin + size;
  layout.segment_end = begin;
  if (end < begin) {
    report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, 24, "segment data from byte ", begin,
               " with ", size, " bytes cannot be addressed: the file is damaged");
    return;
  }
  if (size != 0 && begin < layout.program_end) {
    report_base_inside_program(layout, report);
    return;
  }
  const std::uint64_t file_end = std::max(layout.program_end, end);
  const std::uint64_t file_size = layout.file_size;
  if (file_size < file_end) {
    report.add(Rule::FILE_TRUNCATED, kRootPath, file_size, "the segment data ends at byte ", end,
               ", but the file has only ", file_size, " bytes: ", end - file_size,
               " are missing; copy the file again");
  } else if (file_size > file_end) {
    report.add(Rule::FILE_GROWN, kRootPath, file_end, "the segment data ends at byte ", file_end,
               ", but the file has ", file_size, " bytes: remove the ", file_size - file_end,
               " behind it");
  }
  layout.segment_end = end;
}

}  // namespace

std::string_view header_magic(schema::Bytes file) noexcept {
  return text_at(file, kHeaderAt, kHeaderMagic.size());
}

void report_base_inside_program(const Layout& layout, Report& report) {
  report.add(Rule::EXTENDED_HEADER_INVALID, kRootPath, 24, "segment data begins at byte ",
             layout.segment_begin, ", inside the program that ends at byte ", layout.program_end,
             ": the file is damaged");
}

std::optional<Layout> check_container(schema::Bytes file, std::uint64_t file_size, Report& report) {
  if (file.size() < kHeaderAt) {
    report.add(
        Rule::FILE_TOO_SMALL, kRootPath, std::nullopt, "the file has ", file_size,
        " bytes, at least 8 are needed for the head of a program: it is empty or was cut short");
    return std::nullopt;
  }
  if (text_at(file, kIdentifierAt, kIdentifier.size()) != kIdentifier) {
    report_other_identifier(file, report);
    return std::nullopt;
  }
  Layout layout;
  layout.file_size = file_size;
  layout.program_end = layout.segment_begin = layout.segment_end = file_size;
  if (header_magic(file) != kHeaderMagic) {
    return layout;
  }
  if (!check_header_length(file, file_size, report)) {
    return std::nullopt;
  }
  const auto length = load<std::uint32_t>(file, 12);
  layout.has_header = true;
  layout.program_end = load<std::uint64_t>(file, 16);
  layout.segment_begin = load<std::uint64_t>(file, 24);
  if (!check_program_end(file_size, length, layout.program_end, report)) {
    return std::nullopt;
  }
  layout.has_data_size = length >= kHeaderWithSize;
  if (layout.has_data_size) {
    check_segment_data(load<std::uint64_t>(file, 32), layout, report);
  } else {
    // Old headers do not say how much data there is; its segments will.
    const bool is_outside = layout.segment_begin > file_size;
    layout.segment_end = is_outside ? layout.segment_begin : file_size;
  }
  return layout;
}

std::size_t head_size(schema::Bytes file) noexcept {
  std::uint64_t size = file.size();
  if (header_magic(file) == kHeaderMagic && file.size() >= kHeaderAt + kShortestHeader) {
    // What the header says may be too little to explain what is wrong with it.
    const std::uint64_t program_end = load<std::uint64_t>(file, 16);
    size = std::min(size, std::max<std::uint64_t>(program_end, kLongestShift + kHeaderAt));
  }
  return static_cast<std::size_t>(std::min(size, kLargestCopy));
}

}  // namespace placewire::validation
