// The device table that a file may carry: whether it can be read, and agrees with the program.
#pragma once

#include "validate/context.h"
#include "validate/storage.h"
#include "validate/usage.h"

namespace placewire::validation {

/// Checks the device table, if there is one, against what the methods use.
void check_device_table(const Context& context, const Storage& storage, Usage& usage);

}  // namespace placewire::validation
