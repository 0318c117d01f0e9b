// What is known of each value of a method before anything runs.
#include "method/value_facts.h"

#include "method/device_choice.h"

namespace placewire {

namespace program = schema::program;

AllValueFacts::AllValueFacts(const program::ExecutionPlan& plan, const Values& values,
                             const std::vector<Instruction>& instructions,
                             const std::vector<OperatorFacts>& operators)
    : values_(values), facts_(values.size()) {
  const auto from = plan.values();
  for (std::size_t i = 0; i < from.size(); ++i) {
    const program::Tensor tensor = from[i].val_as_Tensor();
    facts_[i].is_planned = tensor.has_allocation_info();
    facts_[i].is_constant = placewire::is_constant(tensor);
  }
  for (const std::int32_t input : plan.inputs()) {
    facts_[static_cast<std::size_t>(input)].is_input = true;
    each_part(static_cast<std::size_t>(input),
              [this](std::size_t part) { return facts_[part].is_input = true; });
  }
  for (const std::int32_t output : plan.outputs()) {
    facts_[static_cast<std::size_t>(output)].is_output = true;
    each_part(static_cast<std::size_t>(output),
              [this](std::size_t part) { return facts_[part].is_output = true; });
  }
  for (const Instruction& instruction : instructions) {
    if (const auto call = instruction.view.instr_args_as_KernelCall()) {
      note_kernel_call(call, operators[static_cast<std::size_t>(call.op_index())]);
    } else if (const auto delegate = instruction.view.instr_args_as_DelegateCall()) {
      // A delegate may give numbers, and does not say which of its arguments those are.
      for (const std::int32_t argument : delegate.args()) {
        facts_[static_cast<std::size_t>(argument)].is_replaced |=
            values[static_cast<std::size_t>(argument)].tensor() == nullptr;
      }
    } else if (const auto move = instruction.view.instr_args_as_MoveCall()) {
      facts_[static_cast<std::size_t>(move.move_to())].is_replaced = true;
    }
  }
}

void AllValueFacts::note_kernel_call(const program::KernelCall& call, const OperatorFacts& op) {
  const auto arguments = call.args();
  if (arguments.empty()) {
    return;
  }
  const auto last = static_cast<std::size_t>(arguments.back());
  const bool is_tensor = values_[last].tensor() != nullptr;
  // Where an operator gives a number, the number is its last argument.
  facts_[last].is_replaced |=
      !is_tensor && op.writes != Writes::kFirst && values_[last].get_if<TensorList>() == nullptr;
  facts_[last].is_pointed |= is_tensor && op.points_last;
}

bool AllValueFacts::is_fixed(std::size_t value) const {
  if (facts_[value].is_replaced) {
    return false;
  }
  return each_part(value, [this](std::size_t part) {
    const ValueFacts& facts = facts_[part];
    const TensorImpl* const tensor = values_[part].tensor();
    return !facts.is_replaced && !facts.is_pointed &&
           (tensor == nullptr || (tensor->is_static() && !may_lack_memory(part)));
  });
}

bool AllValueFacts::is_constant(std::size_t value) const {
  return !facts_[value].is_replaced && each_part(value, [this](std::size_t part) {
    const ValueFacts& facts = facts_[part];
    return !facts.is_replaced && (values_[part].tensor() == nullptr || facts.is_constant);
  });
}

bool AllValueFacts::may_lack_memory(std::size_t value) const {
  return !each_part(value, [this](std::size_t part) {
    const ValueFacts& facts = facts_[part];
    const bool has_memory = facts.is_planned || facts.is_constant;
    const bool is_tensor = values_.tensor(part) != nullptr;
    // A tensor without elements needs none, but a caller may give it some.
    const bool needs_none = is_tensor && !facts.is_input && !facts.is_output &&
                            values_.tensor(part)->is_static() && values_.tensor(part)->numel() == 0;
    return !facts.is_replaced && !facts.is_pointed && (!is_tensor || has_memory || needs_none);
  });
}

}  // namespace placewire
