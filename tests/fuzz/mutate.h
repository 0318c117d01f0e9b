// Changes to a FlatBuffer that are likely to matter: bytes, words, offsets, lengths.

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace placewire::tests {

/// Repeatable random numbers (SplitMix64), the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t limit) {
    std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
    return (mixed ^ (mixed >> 31)) % limit;
  }

 private:
  std::uint64_t state_;
};

/// Overwrites one small number with one that is likely to be a bad idea.
inline void change(std::uint8_t* data, std::size_t data_size, Random& random) {
  constexpr std::uint64_t kSizes[] = {1, 2, 4, 8};
  const std::uint64_t size = kSizes[random.below(4)];
  if (data_size < 16) return;
  std::uint64_t place = random.below(data_size - size);
  if (random.below(2) == 0) place -= place % size;
  std::uint64_t value = 0;
  switch (random.below(7)) {
    case 0:
      value = random.below(256);
      break;
    case 1:
      value = data_size - place - random.below(8);
      break;
    case 2:
      value = ~std::uint64_t{0} - random.below(8);
      break;
    case 3:
      value = std::uint64_t{1} << random.below(64);
      break;
    case 4:
      std::memcpy(&value, data + random.below(data_size - 8), 8);
      break;
    case 5:
      std::memcpy(&value, data + place, size);
      value += random.below(9) - 4;
      break;
    default:
      value = random.below(~std::uint64_t{0});
  }
  std::memcpy(data + place, &value, size);
}

/// Returns a copy with one to four changes, sometimes cut short.
inline std::vector<std::uint8_t> mutated(const std::vector<std::uint8_t>& original,
                                         Random& random) {
  std::vector<std::uint8_t> copy = original;
  for (std::uint64_t changes = 1 + random.below(4); changes != 0; --changes) {
    change(copy.data(), copy.size(), random);
  }
  if (random.below(16) == 0) copy.resize(random.below(copy.size()));
  return copy;
}

}  // namespace placewire::tests
