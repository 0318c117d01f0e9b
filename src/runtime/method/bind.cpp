// Turns the instructions of a method into steps: binds kernels, loads delegates, prepares.
#include "method/bind.h"

#include <optional>
#include <string>
#include <utility>

namespace placewire {
namespace {

namespace program = schema::program;

std::size_t argument_count(const std::vector<Instruction>& instructions) noexcept {
  std::size_t count = 0;
  for (const Instruction& instruction : instructions) {
    count += instruction.view.instr_args_as_KernelCall().args().size() +
             instruction.view.instr_args_as_DelegateCall().args().size();
  }
  return count;
}

/// Looks named data up for as long as anybody needs it.
NamedDataLookup lookup_in(std::shared_ptr<const Program> program) {
  return [program = std::move(program)](std::string_view key) { return program->named_data(key); };
}

}  // namespace

Status Binder::run() {
  state_.delegates.resize(state_.backends.size());
  state_.arguments.reserve(argument_count(instructions_));
  state_.steps.reserve(instructions_.size());
  Preparation preparation(state_, instructions_, operators_, facts_);
  if (options_.prepare) {
    if (Status status = preparation.plan(); !status.ok()) {
      return status;
    }
  }
  // The step that goes on at each instruction, and behind the last one.
  std::vector<std::uint32_t> step_at;
  step_at.reserve(instructions_.size() + 1);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    step_at.push_back(static_cast<std::uint32_t>(state_.steps.size()));
    if (Status status = bind(i, preparation); !status.ok()) {
      return at(state_.meta, i, std::move(status).error());
    }
  }
  step_at.push_back(static_cast<std::uint32_t>(state_.steps.size()));
  for (Step& step : state_.steps) {
    if (step.kind == Step::Kind::kJumpFalse) {
      step.target = step_at[step.target];
    }
  }
  return {};
}

Status Binder::bind(std::size_t index, Preparation& preparation) {
  const program::Instruction instruction = instructions_[index].view;
  if (const auto call = instruction.instr_args_as_KernelCall()) {
    if (preparation.alias(index)) {
      return {};
    }
    if (preparation.begin_result(index)) {
      const bool is_constant = bind_constant(index, call);
      preparation.end_result(index, is_constant);
      if (is_constant) {
        return {};
      }
    }
    return bind_kernel(index, call);
  }
  if (const auto call = instruction.instr_args_as_DelegateCall()) {
    return bind_delegate(index, call);
  }
  if (const auto move = instruction.instr_args_as_MoveCall()) {
    Step step(Step::Kind::kMove, index);
    step.from = &(*state_.values)[checked(move.move_from())];
    step.to = &(*state_.values)[checked(move.move_to())];
    state_.steps.push_back(step);
    return {};
  }
  const auto jump = instruction.instr_args_as_JumpFalseCall();
  // What is freed is planned memory, which stays until the method goes.
  return jump ? bind_jump(index, jump) : Status();
}

Span<const KernelArgument> Binder::kernel_arguments(schema::Vector<std::int32_t> arguments) {
  kernel_arguments_.clear();
  for (const std::int32_t argument : arguments) {
    const std::size_t value = checked(argument);
    kernel_arguments_.push_back(
        {&(*state_.values)[value], facts_.is_fixed(value), facts_.is_constant(value)});
  }
  return kernel_arguments_;
}

Step& Binder::add_call(std::size_t index, Step::Kind kind, schema::Vector<std::int32_t> arguments) {
  Step step(kind, index);
  const std::size_t begin = state_.arguments.size();
  for (const std::int32_t argument : arguments) {
    const std::size_t value = checked(argument);
    state_.arguments.push_back(&(*state_.values)[value]);
    step.is_checked |= facts_.may_lack_memory(value);
  }
  step.arguments = {state_.arguments.data() + begin, arguments.size()};
  step.written = static_cast<std::uint32_t>(arguments.size());
  step.points = step.written;
  state_.steps.push_back(step);
  return state_.steps.back();
}

Status Binder::bind_kernel(std::size_t index, const program::KernelCall& call) {
  const auto op = checked(call.op_index());
  const Span<const KernelArgument> arguments = kernel_arguments(call.args());
  Result<std::unique_ptr<BoundKernel>> bound = state_.kernels[op]->bind(arguments);
  if (!bound.ok()) {
    return std::move(bound).error();
  }
  if (bound.value() == nullptr) {
    return Error{ErrorCode::INTERNAL, "the kernel gave nothing to run"};
  }
  state_.bound_kernels.push_back(std::move(bound).value());
  Step& step = add_call(index, Step::Kind::kKernel, call.args());
  step.kernel = state_.bound_kernels.back().get();
  if (operators_[op].points_last && step.written != 0) {
    step.points = step.written - 1;
  } else if (operators_[op].writes == Writes::kLast && step.written != 0) {
    step.written -= 1;
  } else if (operators_[op].writes == Writes::kFirst) {
    step.written = 0;
  }
  return {};
}

bool Binder::bind_constant(std::size_t index, const program::KernelCall& call) {
  const Span<const KernelArgument> arguments = kernel_arguments(call.args());
  Result<std::unique_ptr<BoundKernel>> bound =
      state_.kernels[checked(call.op_index())]->bind(arguments);
  if (!bound.ok() || bound.value() == nullptr) {
    return false;
  }
  state_.bound_kernels.push_back(std::move(bound).value());
  state_.constant_calls.push_back({static_cast<std::uint32_t>(index),
                                   state_.bound_kernels.back().get(),
                                   arguments[arguments.size() - 1].value->tensor()});
  return true;
}

Status Binder::bind_delegate(std::size_t index, const program::DelegateCall& call) {
  const std::size_t delegate = checked(call.delegate_index());
  if (state_.delegates[delegate] == nullptr) {
    if (Status status = load_delegate(delegate, kernel_arguments(call.args())); !status.ok()) {
      return status;
    }
  }
  add_call(index, Step::Kind::kDelegate, call.args()).delegate = state_.delegates[delegate].get();
  return {};
}

Status Binder::load_delegate(std::size_t delegate, Span<const KernelArgument> arguments) {
  const program::BackendDelegate from = state_.meta.plan().delegates()[delegate];
  std::vector<CompileOption> options;
  for (const program::CompileSpec spec : from.compile_specs()) {
    options.push_back({spec.key(), spec.value().bytes()});
  }
  DelegateDescription description;
  description.blob = state_.program->delegate_blob(from.processed());
  description.options = options;
  description.device = mapped(options_.device_map, target_device(from));
  description.named_data = lookup_in(state_.program);
  description.arguments = arguments;
  description.method = state_.meta.name();
  Result<std::unique_ptr<Delegate>> loaded = state_.backends[delegate]->load(description);
  if (!loaded.ok()) {
    return std::move(loaded).error();
  }
  if (loaded.value() == nullptr) {
    return Error{ErrorCode::INTERNAL, "the backend gave nothing to run"};
  }
  state_.delegates[delegate] = std::move(loaded).value();
  return {};
}

Status Binder::bind_jump(std::size_t index, const program::JumpFalseCall& jump) {
  const std::size_t value = checked(jump.cond_value_index());
  const TensorImpl* const tensor = (*state_.values)[value].tensor();
  if (tensor != nullptr && !tensor->device().is_cpu()) {
    return Error{ErrorCode::NOT_SUPPORTED, "the condition is " + to_string(*tensor) +
                                               ", but the host decides: copy it there first"};
  }
  Step step(Step::Kind::kJumpFalse, index);
  step.from = &(*state_.values)[value];
  step.target = static_cast<std::uint32_t>(instructions_[index].begin) +
                static_cast<std::uint32_t>(jump.destination_instruction());
  state_.steps.push_back(step);
  return {};
}

}  // namespace placewire
