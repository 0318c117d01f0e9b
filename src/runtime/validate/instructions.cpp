// Checks the operators, delegates and chains of one method.
#include <optional>
#include <string_view>
#include <vector>

#include "validate/plan.h"

namespace placewire::validation {
namespace {

using program::InstructionArguments;
using program::KernelTypes;

/// What is certain about an operator from its name.
struct OperatorFacts {
  /// An out variant: its last argument is what it returns, and that is what it writes.
  bool writes_last = false;
  /// An in-place operator, such as `aten::copy_`: it writes its first argument.
  bool writes_first = false;
  /// A copy between host and device.
  bool is_host_to_device = false;
  bool is_device_to_host = false;
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

OperatorFacts facts_of(program::Operator op) {
  OperatorFacts facts;
  const std::string_view name = op.name();
  facts.writes_last = op.overload() == "out" || ends_with(op.overload(), "_out");
  facts.writes_first = !facts.writes_last && ends_with(name, "_") && !ends_with(name, "__");
  facts.is_host_to_device = name == "et_copy::_h2d_copy" && facts.writes_last;
  facts.is_device_to_host = name == "et_copy::_d2h_copy" && facts.writes_last;
  return facts;
}

/// Checks the instructions of one method, chain by chain.
class InstructionCheck {
 public:
  explicit InstructionCheck(PlanCheck& plan) : plan_(plan) {
    for (const program::Operator op : plan.plan.operators()) {
      operators_.push_back(facts_of(op));
    }
    const auto delegates = plan.plan.delegates();
    for (std::size_t i = 0; i < delegates.size(); ++i) {
      delegates_.push_back(check_delegate(plan, delegates[i], Path(plan.path, "delegates", i)));
    }
  }

  void check_chain(program::Chain chain, const Path& path) {
    plan_.check_values(chain.inputs(), path, "inputs");
    plan_.check_values(chain.outputs(), path, "outputs");
    const auto instructions = chain.instructions();
    for (std::size_t i = 0; i < instructions.size(); ++i) {
      const Path instruction(path, "instructions", i);
      check_instruction(instructions[i], i, instructions.size(), Path(instruction, "instr_args"));
    }
    if (chain.has_stacktrace() && chain.stacktrace().size() != instructions.size()) {
      plan_.report().add(Rule::STACK_TRACE_COUNT, Path(path, "stacktrace"),
                         plan_.context.offset_of(chain), "there are ", chain.stacktrace().size(),
                         " stack traces for ", instructions.size(), " instructions");
    }
  }

 private:
  void check_instruction(program::Instruction instruction, std::size_t index, std::size_t count,
                         const Path& path) {
    switch (instruction.instr_args_type()) {
      case InstructionArguments::KernelCall:
        return check_kernel(instruction.instr_args_as_KernelCall(), path);
      case InstructionArguments::DelegateCall:
        return check_delegate_call(instruction.instr_args_as_DelegateCall(), path);
      case InstructionArguments::MoveCall:
        return check_move(instruction.instr_args_as_MoveCall(), path);
      case InstructionArguments::JumpFalseCall:
        return check_jump(instruction.instr_args_as_JumpFalseCall(), index, count, path);
      case InstructionArguments::FreeCall:
        return check_free(instruction.instr_args_as_FreeCall(), path);
      default:
        return;  // absent or unknown, which has been reported
    }
  }

  void check_kernel(program::KernelCall call, const Path& path) const {
    const auto args = call.args();
    plan_.check_values(args, path, "args");
    const std::int32_t index = call.op_index();
    if (index < 0 || static_cast<std::size_t>(index) >= operators_.size()) {
      plan_.report().add(Rule::OPERATOR_INDEX_OUT_OF_RANGE, Path(path, "op_index"),
                         plan_.context.offset_of(call), "there is no operator ", index,
                         ": the method lists ", operators_.size(), ", counted from 0");
      return;
    }
    const OperatorFacts& facts = operators_[static_cast<std::size_t>(index)];
    if (!args.empty() && (facts.writes_last || facts.writes_first)) {
      const std::size_t written = facts.writes_last ? args.size() - 1 : 0;
      check_written(args[written], Path(path, "args", written),
                    plan_.context.offset_of(args, written));
    }
    if (facts.is_host_to_device || facts.is_device_to_host) {
      check_copy(args, facts.is_host_to_device, path);
    }
  }

  /// Reports a constant that an instruction changes; `what` says how.
  bool check_not_constant(std::int64_t index, const Path& at, std::uint64_t offset,
                          std::string_view what) const {
    const ValueFacts* const value = value_at(index);
    if (value == nullptr || !value->is_constant) {
      return true;
    }
    plan_.report().add(Rule::CONSTANT_WRITTEN, at, offset, what, " value ", index,
                       ", which is a constant");
    return false;
  }

  /// Reports a constant that a kernel writes, itself or as an item of a list.
  void check_written(std::int64_t index, const Path& at, std::uint64_t offset) const {
    const ValueFacts* const value = value_at(index);
    if (check_not_constant(index, at, offset, "the kernel writes") && value != nullptr &&
        value->first_constant_item >= 0) {
      plan_.report().add(Rule::CONSTANT_WRITTEN, at, offset,
                         "the kernel writes the tensors of list ", index, ", of which items[",
                         value->first_constant_item, "] is a constant");
    }
  }

  void check_copy(schema::Vector<std::int32_t> args, bool to_device, const Path& path) const {
    const ValueFacts* const from = args.empty() ? nullptr : value_at(args[0]);
    const ValueFacts* const to = args.empty() ? nullptr : value_at(args[args.size() - 1]);
    if (from == nullptr || to == nullptr || from->kind != KernelTypes::Tensor ||
        to->kind != KernelTypes::Tensor) {
      return;
    }
    if (from->device.is_cpu() != to_device || to->device.is_cpu() == to_device) {
      plan_.report().add(Rule::COPY_WITHOUT_DEVICE, Path(path, "args"),
                         plan_.context.offset_of(args, 0), "the copy is from ",
                         to_string(from->device), " to ", to_string(to->device), ", expected from ",
                         to_device ? "the CPU to a device" : "a device to the CPU",
                         ": ExecuTorch's kernel will refuse it");
    }
  }

  void check_delegate_call(program::DelegateCall call, const Path& path) const {
    const auto args = call.args();
    plan_.check_values(args, path, "args");
    const std::int32_t index = call.delegate_index();
    if (index < 0 || static_cast<std::size_t>(index) >= delegates_.size()) {
      plan_.report().add(Rule::DELEGATE_INDEX_OUT_OF_RANGE, Path(path, "delegate_index"),
                         plan_.context.offset_of(call), "there is no delegate ", index,
                         ": the method lists ", delegates_.size(), ", counted from 0");
      return;
    }
    const std::optional<Device>& device = delegates_[static_cast<std::size_t>(index)];
    for (std::size_t i = 0; device && i < args.size(); ++i) {
      const ValueFacts* const value = value_at(args[i]);
      if (value != nullptr && value->kind == KernelTypes::Tensor &&
          !share_memory(value->device, *device)) {
        plan_.report().add(Rule::DELEGATE_ARGUMENT_ELSEWHERE, Path(path, "args", i),
                           plan_.context.offset_of(args, i), "value ", args[i], " is on ",
                           to_string(value->device), ", but delegate ", index, " runs on ",
                           to_string(*device));
      }
    }
  }

  void check_move(program::MoveCall call, const Path& path) const {
    const std::uint64_t at = plan_.context.offset_of(call);
    plan_.check_value(call.move_from(), Path(path, "move_from"), at);
    plan_.check_value(call.move_to(), Path(path, "move_to"), at);
    check_not_constant(call.move_to(), Path(path, "move_to"), at, "the move replaces");
  }

  void check_jump(program::JumpFalseCall call, std::size_t index, std::size_t count,
                  const Path& path) const {
    const std::uint64_t at = plan_.context.offset_of(call);
    const ValueFacts* const condition = value_at(call.cond_value_index());
    if (condition == nullptr || !condition->is_bool_tensor) {
      plan_.check_kind(call.cond_value_index(), KernelTypes::Bool, Path(path, "cond_value_index"),
                       at, "a condition that is no tensor of booleans");
    }
    const std::int32_t target = call.destination_instruction();
    // The number of instructions itself is a target that writers use: it ends the chain.
    if (target < 0 || static_cast<std::size_t>(target) > count) {
      plan_.report().add(Rule::JUMP_OUT_OF_RANGE, Path(path, "destination_instruction"), at,
                         "the jump leads to instruction ", target, ", expected 0 to ", count);
    } else if (static_cast<std::size_t>(target) == index) {
      plan_.report().add(Rule::JUMP_TO_ITSELF, Path(path, "destination_instruction"), at,
                         "instruction ", index, " jumps to itself: the method would never end");
    }
  }

  void check_free(program::FreeCall call, const Path& path) const {
    const std::uint64_t at = plan_.context.offset_of(call);
    const Path index(path, "value_index");
    if (plan_.check_kind(call.value_index(), KernelTypes::Tensor, index, at, "what is freed")) {
      check_not_constant(call.value_index(), index, at, "the instruction frees");
    }
  }

  const ValueFacts* value_at(std::int64_t index) const {
    const bool is_in_range = index >= 0 && static_cast<std::uint64_t>(index) < plan_.values.size();
    return is_in_range ? &plan_.values[static_cast<std::size_t>(index)] : nullptr;
  }

  PlanCheck& plan_;
  std::vector<OperatorFacts> operators_;
  /// The device of each delegate; nothing where it cannot be told.
  std::vector<std::optional<Device>> delegates_;
};

}  // namespace

void check_instructions(PlanCheck& check) {
  InstructionCheck instructions(check);
  const auto chains = check.plan.chains();
  for (std::size_t i = 0; i < chains.size(); ++i) {
    instructions.check_chain(chains[i], Path(check.path, "chains", i));
  }
}

}  // namespace placewire::validation
