// What must hold for the bytes of any .pte file; see check.h.

#pragma once

#include "check.h"
#include "placewire/schema/device_info/audit.h"
#include "placewire/schema/device_info/verifier.h"
#include "placewire/schema/program/audit.h"
#include "placewire/schema/program/verifier.h"

namespace placewire::tests {

/// Returns whether `bytes` are a sound program.
inline bool check_program(schema::Bytes bytes) {
  check<schema::device_info::DeviceTable>(bytes);
  check<schema::program::Tensor>(bytes);
  check<schema::program::ExecutionPlan>(bytes);
  return check<schema::program::Program>(bytes);
}

}  // namespace placewire::tests
