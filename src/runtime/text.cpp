// Spells text from files in messages.
#include "text.h"

namespace placewire {
namespace {

constexpr std::size_t kLongest = 80;
constexpr char kHexDigits[] = "0123456789abcdef";

constexpr std::string_view kBlanks = " \t\n\v\f\r";

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (const char character : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte > 0x7e || character == '"' || character == '\\') {
      result += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
    } else {
      result += character;
    }
  }
  return result += text.size() > kLongest ? "..." : "";
}

std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  return begin == std::string_view::npos
             ? std::string_view()
             : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace placewire
