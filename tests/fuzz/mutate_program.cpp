// Checks many damaged copies of real files; needs no fuzzer, and the same arguments do the same.
//
//     mutate_program COUNT SEED FILE...
//
// Each copy gets a few changes that are likely to matter: bytes, words, offsets copied from
// elsewhere, a shorter end. It lies in memory of exactly its size, so that a sanitizer sees reads
// beyond it.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "check_program.h"

namespace {

using File = std::vector<char>;

/// The FlatBuffer at the head of a file: what follows it is not looked at anyway.
File read_program(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  File file{std::istreambuf_iterator<char>(stream), {}};
  if (file.size() >= 24 && std::memcmp(file.data() + 8, "eh00", 4) == 0) {
    std::uint64_t size = 0;
    std::memcpy(&size, file.data() + 16, sizeof size);
    file.resize(std::min<std::uint64_t>(size, file.size()));
  }
  return file;
}

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
void change(File& file, Random& random) {
  constexpr std::uint64_t kSizes[] = {1, 2, 4, 8};
  const std::uint64_t size = kSizes[random.below(4)];
  if (file.size() < 16) return;
  std::uint64_t place = random.below(file.size() - size);
  if (random.below(2) == 0) place -= place % size;
  std::uint64_t value = 0;
  switch (random.below(7)) {
    case 0:
      value = random.below(256);
      break;
    case 1:
      value = file.size() - place - random.below(8);
      break;
    case 2:
      value = ~std::uint64_t{0} - random.below(8);
      break;
    case 3:
      value = std::uint64_t{1} << random.below(64);
      break;
    case 4:
      std::memcpy(&value, file.data() + random.below(file.size() - 8), 8);
      break;
    case 5:
      std::memcpy(&value, file.data() + place, size);
      value += random.below(9) - 4;
      break;
    default:
      value = random.below(~std::uint64_t{0});
  }
  std::memcpy(file.data() + place, &value, size);
}

File mutate(const File& file, Random& random) {
  File mutated = file;
  for (std::uint64_t changes = 1 + random.below(4); changes != 0; --changes) {
    change(mutated, random);
  }
  if (random.below(16) == 0) mutated.resize(random.below(mutated.size()));
  return mutated;
}

bool check(const File& file) {
  const auto exact = std::make_unique<char[]>(file.size());
  std::copy(file.begin(), file.end(), exact.get());
  return placewire::tests::check_program(placewire::schema::Bytes(exact.get(), file.size()));
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    std::fputs("usage: mutate_program COUNT SEED FILE...\n", stderr);
    return 2;
  }
  const std::uint64_t count = std::strtoull(arguments[1], nullptr, 10);
  Random random(std::strtoull(arguments[2], nullptr, 10));
  std::vector<File> files;
  for (int i = 3; i < argument_count; ++i) {
    files.push_back(read_program(arguments[i]));
    placewire::tests::require(check(files.back()), "a file is not sound before it is damaged");
  }
  std::uint64_t sound = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (check(mutate(files[i % files.size()], random))) ++sound;
  }
  std::printf("%llu checked, %llu sound, walked %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(sound),
              static_cast<unsigned long long>(placewire::tests::walked));
}
