// What must hold for any bytes whatsoever; shared by the fuzz targets and the mutation drivers.

#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "placewire/schema/audit.h"
#include "placewire/schema/verify.h"
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

/// Checks what is said about bytes that are not sound.
inline void check_fault(const schema::VerifyResult& result, std::size_t buffer_size) {
  char message[128];
  const std::size_t length = schema::describe(result, message, sizeof message);
  require(length > 0 && length < sizeof message, "a message does not fit 128 bytes");
  for (const std::string_view placeholder : {"{found}", "{expected}"}) {
    const bool is_filled = std::string_view(message).find(placeholder) == std::string_view::npos;
    require(is_filled, "a number is missing");
  }
  require(!name(result.rule()).empty(), "a rule has no name");
  require(result.path().size() <= 512, "a path is too long");
  const auto size = static_cast<std::int64_t>(buffer_size);
  // A vector that would begin at the very end may be misaligned there.
  require(result.offset() >= 0 && result.offset() <= size, "an offset leads outside the buffer");
}

/// Verifies `bytes` as a table of type T; if they are sound, reads and audits all of it.
///
/// The audit.h of T's module must be included.
template <class T>
bool check(schema::Bytes bytes) {
  const schema::VerifyResult result = schema::verify<T>(bytes);
  if (!result.ok()) {
    check_fault(result, bytes.size());
    return false;
  }
  const T root(schema::wire::follow(bytes.data()));
  walked += walk(root);
  schema::audit_tree(root, [&](const schema::AuditFinding& finding) {
    require(finding.position >= bytes.data() && finding.position < bytes.data() + bytes.size(),
            "a finding lies outside the buffer");
    walked += finding.path.text().size() + message(finding).size();
  });
  return true;
}

}  // namespace placewire::tests
