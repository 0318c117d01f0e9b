// What a loaded method consists of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memory_block.h"
#include "method/values.h"
#include "placewire/runtime/method.h"

namespace placewire {

/// One thing to do in an execution: an instruction of the program, ready to run.
struct Step {
  enum class Kind : std::uint8_t { kKernel, kDelegate, kMove, kJumpFalse };

  Step(Kind what, std::size_t at) noexcept
      : kind(what), instruction(static_cast<std::uint32_t>(at)) {}

  Kind kind;
  /// Whether some tensor among the arguments may lack memory when the step is reached, or be
  /// another than the program's constants allow, so that it has to be looked at.
  bool is_checked = false;
  /// Number of the instruction, counted through all chains.
  std::uint32_t instruction;
  /// Of a jump: the step to go on with.
  std::uint32_t target = 0;
  BoundKernel* kernel = nullptr;
  Delegate* delegate = nullptr;
  /// Of a move: what it copies. Of a jump: the condition.
  EValue* from = nullptr;
  /// Of a move: where it copies to.
  EValue* to = nullptr;
  /// Of kernels and delegates.
  Span<EValue* const> arguments;
  /// Of a kernel that is checked: the argument that it writes; the number of arguments if none is
  /// known.
  std::uint32_t written = 0;
  /// Likewise: the argument that it points to other data, which needs no memory of its own.
  std::uint32_t points = 0;
};

/// A call whose result is always the same: it is made before the first step that ever runs, and
/// never again.
struct ConstantCall {
  /// Number of the instruction, counted through all chains.
  std::uint32_t instruction;
  BoundKernel* kernel;
  /// Read-only but for the time of the call.
  TensorImpl* result;
};

/// A value that instructions replace, and what it is before the first one.
struct Replaced {
  EValue* value;
  EValue original;
};

/// An input or an output.
struct Port {
  /// Number of the value.
  std::size_t value;
  /// Its tensor, as the program has it; null if it is no tensor.
  TensorImpl* tensor;
  /// Whether its memory is part of the method, so that no caller supplies it.
  bool has_memory;
  /// Of an input without memory: whether it was ever set.
  bool is_set = false;
};

/// Members go in the opposite order: bound kernels and delegates before the memory that they use.
struct Method::State {
  State(std::shared_ptr<const Program> from, const MethodMeta& of)
      : program(std::move(from)), meta(of) {}

  std::shared_ptr<const Program> program;
  MethodMeta meta;
  std::shared_ptr<PlannedMemory> memory;
  /// Constants that had to be copied, and room for results that are computed once.
  std::vector<MemoryBlock> blocks;
  std::unique_ptr<Values> values;
  /// What is set back before each execution: values that are replaced, and tensors that are pointed
  /// to other data, so that each begins as the first one did.
  std::vector<Replaced> replaced;
  std::vector<TensorImpl*> pointed;
  std::vector<Port> inputs;
  std::vector<Port> outputs;

  /// By the index of the operator in the program; null where no instruction calls it.
  std::vector<std::shared_ptr<Kernel>> kernels;
  /// By the index of the delegate in the program; null where no instruction calls it.
  std::vector<std::shared_ptr<Backend>> backends;
  std::vector<std::unique_ptr<Delegate>> delegates;
  std::vector<std::unique_ptr<BoundKernel>> bound_kernels;

  /// What the arguments of steps lie in.
  std::vector<EValue*> arguments;
  std::vector<Step> steps;
  std::vector<ConstantCall> constant_calls;
  /// How many of them have been made.
  std::size_t computed = 0;

  // As the functions of Method, for whoever uses its memory already.
  Status set_input(std::size_t index, const EValue& value);
  Status set_output_memory(std::size_t index, void* data, std::size_t nbytes);
  Status run();

 private:
  Status set_tensor(std::size_t index, const TensorImpl& given);
  /// The sizes of a port's tensor as the program has them: bounds, if the shape is dynamic.
  [[nodiscard]] schema::Vector<std::int32_t> bounds_of(const Port& port) const;
  Status lend(Port& port, const TensorImpl& given);
  [[nodiscard]] Status check_inputs() const;
  [[nodiscard]] Status compute_constants();
  [[nodiscard]] Status run_steps();
  [[nodiscard]] Status check(const Step& step) const;
  [[nodiscard]] Status check_tensor(const EValue& value, bool is_written) const;
  [[nodiscard]] Error lacks_memory(std::size_t value) const;
};

/// `forward, instruction 12, aten::add.out`: where something happened. `instruction` counts through
/// all chains.
[[nodiscard]] std::string place_of(const MethodMeta& meta, std::size_t instruction);

/// An error with the place where it happened in front.
[[nodiscard]] Error at(const MethodMeta& meta, std::size_t instruction, Error error);

[[nodiscard]] Error busy(const MethodMeta& meta);

/// What is returned when memory ran out; making it allocates nothing.
[[nodiscard]] Error out_of_memory() noexcept;

}  // namespace placewire
