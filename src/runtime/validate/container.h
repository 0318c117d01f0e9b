// The container: where in a .pte file the program and its segments lie.
#pragma once

#include <cstdint>
#include <optional>

#include "placewire/schema/wire.h"
#include "validate/report.h"

namespace placewire::validation {

/// The parts of a file, in bytes from its start.
struct Layout {
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

/// Finds the parts of `file` and reports everything that is wrong with its head and its length.
/// Returns nothing if the program cannot be located.
[[nodiscard]] std::optional<Layout> check_container(schema::Bytes file, Report& report);

}  // namespace placewire::validation
