// The one validator: everything that is wrong with a .pte file, found before anything is loaded.
//
// `placewire verify`, the exporter's check of its own output and the loading of a Module all call
// it, so they agree. docs/validator.md explains every rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/finding.h"
#include "placewire/schema/wire.h"

namespace placewire {

/// How much of a file to validate.
enum class Stage : std::uint8_t {
  kLayout,   ///< Container, structure, segments: whether all parts of the file can be read.
  kMeaning,  ///< These, and whether what they say makes sense.
};

/// How to validate.
struct ValidationOptions {
  /// How many findings to list. If there are more, one last finding says how many.
  std::size_t maximum_findings = 1000;
  /// The last stage.
  Stage last_stage = Stage::kMeaning;
  /// A copy of the file's first `head_size` bytes, for a file that others may change meanwhile: it
  /// is read in their stead, and what else is read of the file is copied before. Default: none.
  schema::Bytes head_copy = {};
};

/// What `validate` found.
struct Validation {
  /// Everything that is wrong, by stage and then in the order of the fields.
  std::vector<Finding> findings;
  /// Whether the check came to its end; false only if memory ran out.
  bool complete = false;

  /// Whether the file can be loaded: checked to its end, with nothing but warnings.
  [[nodiscard]] PLACEWIRE_API bool is_loadable() const noexcept;
};

/// Checks a whole .pte file.
///
/// The container (identifier, extended header, length): if the program cannot be located, this is
/// all that is reported. The structure of the program's FlatBuffer: the first fault ends the check,
/// for what lies behind it cannot be read. The extent of the segments, then the meaning of the
/// program and of its device table: every finding.
///
/// A file that is loadable can be read through the views of `program/views.h`, and every index,
/// offset and size in it stays inside what it refers to.
///
/// Cost: time and memory linear in the size of the FlatBuffer (times the logarithm of the length of
/// lists that must be sorted). Segment data is not read, except for the device table.
/// Memory: `file` is only read, and only during the call; it need not be aligned. Nobody may change
/// it meanwhile, unless `head_copy` is given; nobody may ever shorten it.
/// Errors: never throws or aborts. If memory runs out, the only finding is OUT_OF_MEMORY;
/// `findings` is empty if there is no memory even for that. Threads: safe from any number of
/// threads.
[[nodiscard]] PLACEWIRE_API Validation validate(schema::Bytes file,
                                                const ValidationOptions& options = {}) noexcept;

/// How many of a file's first bytes hold its head and its program: as many as its extended header
/// says, else all. Nothing is checked, but it is never more than `file.size()` nor 2 GiB, beyond
/// which no FlatBuffer is read.
[[nodiscard]] PLACEWIRE_API std::size_t head_size(schema::Bytes file) noexcept;

/// A rule that files are checked against.
struct RuleInfo {
  std::string_view name;
  Level level;
  /// What breaking it means, in one sentence or clause.
  std::string_view meaning;
};

/// All rules: those of the container and the meaning, those of the structure, those of the codec.
[[nodiscard]] PLACEWIRE_API std::vector<RuleInfo> rules();

}  // namespace placewire
