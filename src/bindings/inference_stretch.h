// What torch's own operators run under: the interpreter lock, and torch's inference mode.
#pragma once

#include "placewire/runtime/kernel.h"

namespace placewire::bindings {

/// The interpreter lock and torch's inference mode for a stretch of calls. There is one object,
/// which lives forever.
///
/// In inference mode torch does no book-keeping for derivatives, of which a program computes none:
/// a call takes about a seventh less.
class InferenceStretch final : public KernelLock {
 public:
  [[nodiscard]] static InferenceStretch* instance() noexcept;

  [[nodiscard]] int acquire() noexcept override;
  void release(int acquired) noexcept override;
};

}  // namespace placewire::bindings
