// What can be done once when a method is loaded instead of in each execution.
#pragma once

#include <vector>

#include "method/instructions.h"
#include "method/own_storage.h"
#include "method/state.h"
#include "method/value_facts.h"

namespace placewire {

/// Decides which calls are computed once, and which copies share the memory of what they copy.
///
/// Calls are then gone through in the order of the file; what is decided of one may depend on what
/// became of those before it.
class Preparation {
 public:
  Preparation(Method::State& state, const std::vector<Instruction>& instructions,
              const std::vector<OperatorFacts>& operators, AllValueFacts& facts) noexcept
      : state_(state), instructions_(instructions), operators_(operators), facts_(facts) {}

  /// Looks at the whole method and allocates storage for results. Without it, nothing is prepared.
  [[nodiscard]] Status plan();

  /// Lets the result of a copy share the memory of its source, if it can; then the call is done.
  [[nodiscard]] bool alias(std::size_t index);

  /// Points the result of a call to storage of its own, if the call is to be computed now.
  [[nodiscard]] bool begin_result(std::size_t index);
  /// Makes the result a constant, or takes it back if it was not computed.
  void end_result(std::size_t index, bool is_computed);

 private:
  Method::State& state_;
  const std::vector<Instruction>& instructions_;
  const std::vector<OperatorFacts>& operators_;
  AllValueFacts& facts_;
};

}  // namespace placewire
