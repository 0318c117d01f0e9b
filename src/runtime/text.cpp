// Spells text from files in messages.
#include "text.h"

namespace placewire {
namespace {

constexpr std::size_t kLongest = 80;
constexpr char kHexDigits[] = "0123456789abcdef";

}  // namespace

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char character : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte > 0x7e || character == '"' || character == '\\') {
      result += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    } else {
      result += character;
    }
  }
  return result += text.size() > kLongest ? "...\"" : "\"";
}

}  // namespace placewire
