// libFuzzer target: whatever the bytes are, verify must not read outside them, and what it calls
// sound must be readable through the views.
//
//     clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//         -Igenerated/include -Itests/schema/cpp tests/fuzz/fuzz_program.cpp -o fuzz_program
//     mkdir seeds; cp tests/corpus/*.pte seeds; ./fuzz_program -max_len=65536 seeds

#include "check_program.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  placewire::tests::check_program(placewire::schema::Bytes(data, size));
  return 0;
}
