// Checks the description of a schema before anything is walked by it.
#pragma once

#include "placewire/runtime/schema_walk.h"

namespace placewire {

/// Structs may contain each other so deep.
inline constexpr unsigned kMostNestedStructs = 1000;

/// Tells whether a walk by `schema` ends and stays inside `schema`, whatever the buffer is: all
/// indices and triggers are there, nothing has no size, parts lie inside their structs, and no
/// struct contains itself or others deeper than `kMostNestedStructs`.
[[nodiscard]] bool is_sound(const WalkSchema& schema);

}  // namespace placewire
