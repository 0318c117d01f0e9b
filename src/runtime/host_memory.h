// How much memory this process may use.
#pragma once

#include <cstddef>
#include <string>

namespace placewire {

/// Bytes of the host's memory, or of a control group that the process is in, if that has less.
///
/// Looks at both versions of control groups, where Linux has them, and at all groups around the
/// process's own. `root` is the folder in which `proc` and `sys` lie; tests have one of their own.
[[nodiscard]] std::size_t usable_memory(const std::string& root = "");

}  // namespace placewire
