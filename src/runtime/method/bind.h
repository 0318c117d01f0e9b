// Turns the instructions of a method into steps: binds kernels, loads delegates, prepares.
#pragma once

#include <vector>

#include "method/device_choice.h"
#include "method/instructions.h"
#include "method/prepare.h"
#include "method/state.h"
#include "method/value_facts.h"

namespace placewire {

/// Makes the steps of a method whose tensors have their memory, in the order of the file.
class Binder {
 public:
  Binder(Method::State& state, const MethodOptions& options,
         const std::vector<Instruction>& instructions, const std::vector<OperatorFacts>& operators,
         AllValueFacts& facts) noexcept
      : state_(state),
        options_(options),
        instructions_(instructions),
        operators_(operators),
        facts_(facts) {}

  /// Errors: what kernels, backends and allocators say, with the instruction in front.
  [[nodiscard]] Status run();

 private:
  [[nodiscard]] Status bind(std::size_t index, Preparation& preparation);
  [[nodiscard]] Status bind_kernel(std::size_t index, const schema::program::KernelCall& call);
  [[nodiscard]] Status bind_delegate(std::size_t index, const schema::program::DelegateCall& call);
  [[nodiscard]] Status load_delegate(std::size_t delegate, Span<const KernelArgument> arguments);
  /// Runs a call now; whether its result can be kept. A call that fails is left to executions.
  [[nodiscard]] bool bind_constant(std::size_t index, const schema::program::KernelCall& call);
  [[nodiscard]] Status bind_jump(std::size_t index, const schema::program::JumpFalseCall& jump);

  /// The arguments of a call, until the next call is asked for.
  [[nodiscard]] Span<const KernelArgument> kernel_arguments(schema::Vector<std::int32_t> arguments);
  /// A step with arguments that stay where they are.
  Step& add_call(std::size_t index, Step::Kind kind, schema::Vector<std::int32_t> arguments);

  Method::State& state_;
  const MethodOptions& options_;
  const std::vector<Instruction>& instructions_;
  const std::vector<OperatorFacts>& operators_;
  AllValueFacts& facts_;
  std::vector<KernelArgument> kernel_arguments_;
};

}  // namespace placewire
