// The peer's side: flatbuffers::Verifier and the accessors that flatc generates.

#include "peer_walk.h"
#include "sides.h"

bool peer::verify(const std::uint8_t* program, std::size_t size) {
  flatbuffers::Verifier::Options options;
  options.max_tables = 1'000'000'000;
  flatbuffers::Verifier verifier(program, size, options);
  return executorch_flatbuffer::VerifyProgramBuffer(verifier);
}

std::uint64_t peer::walk(const std::uint8_t* program, std::size_t) {
  return peer_walk::walk(executorch_flatbuffer::GetProgram(program));
}
