// What can be done once when a method is loaded instead of in each execution.
#include "method/prepare.h"

namespace placewire {

Status Preparation::plan() { return {}; }

bool Preparation::alias(std::size_t) { return false; }

bool Preparation::begin_result(std::size_t) { return false; }

void Preparation::end_result(std::size_t, bool) {}

}  // namespace placewire
