// libFuzzer target: the whole validator, which must neither crash nor contradict the verifier.
//
//     clang++ -std=c++17 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//         -Igenerated/include -Isrc/runtime/include -Isrc/runtime -Itests/schema/cpp
//         tests/fuzz/fuzz_validate.cpp src/runtime/*.cpp src/runtime/validate/*.cpp
//         -o fuzz_validate
//     mkdir seeds; cp tests/corpus/*.pte seeds; ./fuzz_validate -max_len=65536 seeds

#include "check_program.h"
#include "placewire/runtime/validate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using placewire::tests::require;
  const placewire::schema::Bytes file(data, size);
  const placewire::Validation validation = placewire::validate(file);
  require(validation.complete || !validation.findings.empty(), "an incomplete check says nothing");
  for (const placewire::Finding& finding : validation.findings) {
    require(!finding.message.empty(), "a finding has no message");
  }
  if (validation.is_loadable()) {
    require(placewire::tests::check<placewire::schema::program::Program>(file),
            "a file that is loadable is not sound");
  }
  return 0;
}
