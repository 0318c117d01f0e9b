// Maps files into memory.
#pragma once

#include <string>

#include "placewire/runtime/program.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// Maps a file privately: what is written to the memory never reaches the file.
///
/// Pages are read when they are first used. Errors: ACCESS_FAILED, with the system's reason.
[[nodiscard]] Result<OwnedBytes> map_file(const std::string& path);

}  // namespace placewire
