// Checks many damaged copies of real files; needs no fuzzer, and the same arguments do the same.
//
//     mutate_program COUNT SEED FILE...
//
// Each copy gets a few changes (mutate.h). It lies in memory of exactly its size, so that a
// sanitizer sees reads beyond it.

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
#include "mutate.h"

namespace {

using File = std::vector<std::uint8_t>;

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

bool check(const File& file) {
  const auto exact = std::make_unique<std::uint8_t[]>(file.size());
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
  placewire::tests::Random random(std::strtoull(arguments[2], nullptr, 10));
  std::vector<File> files;
  for (int i = 3; i < argument_count; ++i) {
    files.push_back(read_program(arguments[i]));
    placewire::tests::require(check(files.back()), "a file is not sound before it is damaged");
  }
  std::uint64_t sound = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (check(placewire::tests::mutated(files[i % files.size()], random))) ++sound;
  }
  std::printf("%llu checked, %llu sound, walked %llu\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(sound),
              static_cast<unsigned long long>(placewire::tests::walked));
}
