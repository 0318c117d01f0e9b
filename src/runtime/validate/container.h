// The container: where in a .pte file the program and its segments lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "placewire/schema/wire.h"
#include "validate/report.h"

namespace placewire::validation {

/// More bytes of a FlatBuffer than this need not be copied: they are too many already.
inline constexpr std::uint64_t kLargestCopy = std::uint64_t{1} << 31;

/// The parts of a file, in bytes from its start.
struct Layout {
  /// Size of the file.
  std::uint64_t file_size = 0;
  /// Whether an extended header says where segments are. Without one, the program is the whole
  /// file.
  bool has_header = false;
  /// Whether that header says how much segment data there is; those of 24 bytes do not.
  bool has_data_size = false;
  /// End of the program's FlatBuffer.
  std::uint64_t program_end = 0;
  /// Start and end of the segment data, as the header says; `segment_begin <= segment_end`. The
  /// file may end before, which has been reported then.
  std::uint64_t segment_begin = 0;
  std::uint64_t segment_end = 0;
};

/// Finds the parts of a file of `file_size` bytes and reports everything that is wrong with its
/// head and its length. `file` is as much of it as there is to read: to the end of the program, or
/// more. Returns nothing if the program cannot be located.
[[nodiscard]] std::optional<Layout> check_container(schema::Bytes file, std::uint64_t file_size,
                                                    Report& report);

/// The bytes at which the magic of an extended header would stand.
[[nodiscard]] std::string_view header_magic(schema::Bytes file) noexcept;

/// Reports that segments begin before the program ends.
void report_base_inside_program(const Layout& layout, Report& report);

/// See `placewire::head_size`.
[[nodiscard]] std::size_t head_size(schema::Bytes file) noexcept;

}  // namespace placewire::validation
