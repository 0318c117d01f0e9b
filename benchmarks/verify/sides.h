// The two sides of the benchmark. Each is compiled on its own, so that the size of one does not
// sway what the compiler inlines in the other.

#pragma once

#include <cstddef>
#include <cstdint>

namespace ours {
bool verify(const std::uint8_t* program, std::size_t size);
std::uint64_t walk(const std::uint8_t* program, std::size_t size);
}  // namespace ours

namespace peer {
bool verify(const std::uint8_t* program, std::size_t size);
std::uint64_t walk(const std::uint8_t* program, std::size_t size);
}  // namespace peer
