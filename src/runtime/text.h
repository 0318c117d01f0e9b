// Spells text from files in messages.
#pragma once

#include <string>
#include <string_view>

namespace placewire {

/// `text` in quotes, cut after 80 bytes, and with everything that is not printable ASCII as \xNN,
/// so that a message can neither disturb a terminal nor grow without bound.
[[nodiscard]] std::string quoted(std::string_view text);

/// The same without quotes, for names that stand in a sentence of their own.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` without the blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;

}  // namespace placewire
