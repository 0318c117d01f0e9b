// Checks many damaged copies of buffers of several types; needs no fuzzer.
//
// The buffers come as the cases of driver.h do. Each copy lies in memory of exactly its size, so
// that a sanitizer sees reads beyond it.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "check.h"
#include "driver.h"
#include "mutate.h"

namespace placewire::tests {

/// A table type that can be the root of a case, and what must hold for any bytes.
struct CheckedRoot {
  std::string_view name;
  bool (*check)(schema::Bytes);
};

template <class T>
CheckedRoot checked_root(std::string_view name) {
  return {name, &check<T>};
}

/// One sound buffer that is to be damaged.
struct Original {
  const CheckedRoot* root;
  std::vector<std::uint8_t> bytes;
};

inline bool check_exact(const Original& original, const std::vector<std::uint8_t>& bytes) {
  const auto exact = std::make_unique<std::uint8_t[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  return original.root->check(schema::Bytes(exact.get(), bytes.size()));
}

/// Reads all cases from stdin, checks `count` damaged copies of them in turn, and says how many
/// were sound. The same arguments do the same.
inline int mutate_cases(std::uint64_t count, std::uint64_t seed,
                        std::initializer_list<CheckedRoot> roots) {
  std::vector<Original> originals;
  Case next;
  while (next.read()) {
    const auto* const root = std::find_if(roots.begin(), roots.end(), [&](const CheckedRoot& each) {
      return each.name == next.type();
    });
    if (root == roots.end()) return 2;
    const std::uint8_t* const data = next.bytes().data();
    originals.push_back({root, {data, data + next.bytes().size()}});
    require(check_exact(originals.back(), originals.back().bytes), "a case is not sound");
  }
  if (originals.empty()) return 2;
  Random random(seed);
  std::uint64_t sound = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Original& original = originals[i % originals.size()];
    if (check_exact(original, mutated(original.bytes, random))) ++sound;
  }
  std::printf("%llu checked, %llu sound, walked %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(sound), static_cast<unsigned long long>(walked));
  return 0;
}

}  // namespace placewire::tests
