// Our side: the generated verifier and views.

#include "our_walk.h"
#include "placewire/schema/program/verifier.h"
#include "sides.h"

namespace schema = placewire::schema;

bool ours::verify(const std::uint8_t* program, std::size_t size) {
  return schema::program::verify_program(schema::Bytes(program, size)).ok();
}

std::uint64_t ours::walk(const std::uint8_t* program, std::size_t size) {
  return our_walk::walk(schema::program::view_program(schema::Bytes(program, size)));
}
