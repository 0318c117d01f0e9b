// Keeps methods that share memory from using it at the same time.
#pragma once

#include "placewire/runtime/method.h"

namespace placewire {

/// Uses planned memory for as long as the object lives, if nobody else does.
class MemoryUse {
 public:
  explicit MemoryUse(PlannedMemory& memory) noexcept;
  MemoryUse(const MemoryUse&) = delete;
  MemoryUse& operator=(const MemoryUse&) = delete;
  ~MemoryUse();

  /// Whether it may be used; if not, another thread uses it.
  [[nodiscard]] bool ok() const noexcept { return memory_ != nullptr; }

  /// What of the memory has its initial value already. It must be ok to use it.
  [[nodiscard]] Initialized& initialized() const noexcept { return memory_->initialized_; }

 private:
  PlannedMemory* memory_;
};

}  // namespace placewire
