// Counts the allocations of verifying and walking a file, as it is and with a damaged offset.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <vector>

#include "placewire/schema/program/verifier.h"
#include "walk.h"

namespace {
int allocations = 0;
}

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int, char** arguments) {
  namespace schema = placewire::schema;
  std::ifstream file(arguments[1], std::ios::binary);
  std::vector<char> data{std::istreambuf_iterator<char>(file), {}};
  const schema::Bytes bytes(data.data(), data.size());

  allocations = 0;
  if (!schema::program::verify_program(bytes)) return 1;
  if (placewire::tests::walk(schema::program::view_program(bytes)) == 0) return 1;
  const int sound = allocations;

  const auto root = schema::wire::load<std::uint32_t>(bytes.data());
  data[root + 3] = 0x70;  // the offset to the vtable
  allocations = 0;
  const schema::VerifyResult result = schema::program::verify_program(bytes);
  char message[128];
  if (result || schema::describe(result, message, sizeof message) == 0) return 1;
  std::printf("sound: %d allocations, damaged: %d allocations\n", sound, allocations);
}
