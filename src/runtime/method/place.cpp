// Says in messages where in a method something happened.
#include <string>
#include <utility>

#include "method/state.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

/// What an instruction does, in a few words.
std::string activity(program::ExecutionPlan plan, program::Instruction instruction) {
  if (const auto call = instruction.instr_args_as_KernelCall()) {
    const auto op = plan.operators()[static_cast<std::size_t>(call.op_index())];
    return printable(kernel_name(op.name(), op.overload()));
  }
  if (const auto call = instruction.instr_args_as_DelegateCall()) {
    const auto delegate = plan.delegates()[static_cast<std::size_t>(call.delegate_index())];
    return "delegate " + std::to_string(call.delegate_index()) + " (" + printable(delegate.id()) +
           ')';
  }
  if (instruction.instr_args_as_MoveCall()) {
    return "move";
  }
  return instruction.instr_args_as_JumpFalseCall() ? "jump" : "free";
}

}  // namespace

std::string place_of(const MethodMeta& meta, std::size_t instruction) {
  const program::ExecutionPlan plan = meta.plan();
  const auto chains = plan.chains();
  std::string place = printable(meta.name());
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const auto instructions = chains[i].instructions();
    if (instruction < instructions.size()) {
      place += chains.size() > 1 ? ", chain " + std::to_string(i) : std::string();
      return place + ", instruction " + std::to_string(instruction) + ", " +
             activity(plan, instructions[instruction]);
    }
    instruction -= instructions.size();
  }
  return place;
}

Error at(const MethodMeta& meta, std::size_t instruction, Error error) {
  error.message = place_of(meta, instruction) + ": " + error.message;
  return error;
}

Error out_of_memory() noexcept { return {ErrorCode::MEMORY_ALLOCATION_FAILED, "out of memory"}; }

}  // namespace placewire
