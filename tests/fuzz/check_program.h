// What must hold for any bytes whatsoever; shared by the fuzzer and the mutation driver.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "placewire/schema/device_info/verifier.h"
#include "placewire/schema/program/verifier.h"
#include "walk.h"

namespace placewire::tests {

/// What the walks added up to; a program that prints it keeps the compiler from dropping them.
inline std::uint64_t walked = 0;

/// Ends the process if a result contradicts itself.
inline void require(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

/// Verifies `bytes` as a table of type T; if they are sound, reads all of it.
template <class T>
bool check(schema::Bytes bytes) {
  const schema::VerifyResult result = schema::verify<T>(bytes);
  if (result.ok()) {
    walked += walk(T(schema::wire::follow(bytes.data())));
    return true;
  }
  char message[128];
  const std::size_t length = schema::describe(result, message, sizeof message);
  require(length > 0 && length < sizeof message, "a message does not fit 128 bytes");
  for (const std::string_view placeholder : {"{found}", "{expected}"}) {
    const bool is_filled = std::string_view(message).find(placeholder) == std::string_view::npos;
    require(is_filled, "a number is missing");
  }
  require(!name(result.rule()).empty(), "a rule has no name");
  require(result.path().size() <= 512, "a path is too long");
  const auto size = static_cast<std::int64_t>(bytes.size());
  require(result.offset() >= 0 && (result.offset() < size || result.offset() == 0),
          "an offset leads outside the buffer");
  return false;
}

/// Returns whether `bytes` are a sound program.
inline bool check_program(schema::Bytes bytes) {
  check<schema::device_info::DeviceTable>(bytes);
  check<schema::program::Tensor>(bytes);
  check<schema::program::ExecutionPlan>(bytes);
  return check<schema::program::Program>(bytes);
}

}  // namespace placewire::tests
