// What the validator reports: one Finding for each thing that is wrong with a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace placewire {

/// How bad a finding is.
enum class Level : std::uint8_t {
  kError,    ///< The file cannot be trusted, or part of it cannot run. No runtime should load it.
  kWarning,  ///< The file loads, but something in it is not what it should be.
};

/// `error` or `warning`, as tools print it.
[[nodiscard]] constexpr std::string_view level_name(Level level) noexcept {
  return level == Level::kError ? "error" : "warning";
}

/// One thing that is wrong with a file. Owns its texts, so it outlives the file.
struct Finding {
  /// Name of the broken rule, in UPPER_SNAKE; one of `rules()`. Static storage.
  std::string_view rule;
  Level level = Level::kError;
  /// Field that breaks it, such as `execution_plan[0].values[17].val.sizes[2]`; "" is the file.
  std::string path;
  /// Byte of the file where the problem lies, if one byte can be named.
  std::optional<std::uint64_t> offset;
  /// What was found, what was expected, and what to do about it, for people.
  std::string message;
};

}  // namespace placewire
