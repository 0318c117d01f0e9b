// Spells text from files in messages.
#pragma once

#include <string>
#include <string_view>

namespace placewire {

/// `text` in quotes, cut after 80 bytes, and with everything that is not printable ASCII as \xNN,
/// so that a message can neither disturb a terminal nor grow without bound.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace placewire
