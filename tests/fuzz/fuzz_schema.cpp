// libFuzzer target for the root table of any schema: whatever the bytes are, verify must not read
// outside them, and what it calls sound must be readable and auditable through the views.
//
// `target.h` includes the headers of the schema and calls its root table `Root`; fuzz_schemas.py
// writes it, compiles this file and runs it.

#include <cstddef>
#include <cstdint>

#include "check.h"
#include "mutate.h"
#include "target.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  placewire::tests::check<Root>(placewire::schema::Bytes(data, size));
  return 0;
}

/// Half of the time a change that matters to a FlatBuffer, else one of libFuzzer's own.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned int seed) {
  placewire::tests::Random random(seed);
  if (random.below(2) == 0) return LLVMFuzzerMutate(data, size, max_size);
  placewire::tests::change(data, size, random);
  return size;
}
