// What can be done once when a method is loaded instead of in each execution.
#include "method/prepare.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace placewire {
namespace {

namespace program = schema::program;

std::size_t checked(std::int32_t index) noexcept { return static_cast<std::size_t>(index); }

/// Operators whose result has the elements of their first argument in the same order.
constexpr std::array<std::string_view, 13> kCopies = {
    "aten::alias_copy.out",
    "aten::clone.out",
    "aten::detach_copy.out",
    "aten::lift_fresh_copy.out",
    "aten::squeeze_copy.dim_out",
    "aten::squeeze_copy.dims_out",
    "aten::squeeze_copy.out",
    "aten::unsqueeze_copy.out",
    "aten::view_copy.out",
    "aten::_reshape_copy.out",
    "aten::_unsafe_view.out",
    "dim_order_ops::_clone_dim_order.out",
    "dim_order_ops::_to_dim_order_copy.out",
};

bool is_contiguous(const TensorImpl& tensor) noexcept {
  return std::is_sorted(tensor.dim_order().begin(), tensor.dim_order().end());
}

}  // namespace

Status Preparation::plan() {
  if (jumps_back()) {
    return {};
  }
  is_active_ = true;
  uses_.resize(state_.values->size());
  places_.assign(instructions_.size(), kNever);
  note_uses();
  std::vector<bool> results(state_.values->size(), false);
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    if (is_computable(i, results)) {
      const std::size_t result = *result_of(i);
      const TensorImpl& tensor = *state_.values->tensor(result);
      places_[i] = storage_.request(tensor.device(), tensor.nbytes());
      results[result] = true;
    }
  }
  return storage_.allocate(state_.blocks);
}

bool Preparation::jumps_back() const noexcept {
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const auto jump = instructions_[i].view.instr_args_as_JumpFalseCall();
    if (jump && instructions_[i].begin + checked(jump.destination_instruction()) <= i) {
      return true;
    }
  }
  return false;
}

void Preparation::note_uses() {
  const auto values = state_.meta.plan().values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    regions_.emplace_back();
    if (const auto at = values[i].val_as_Tensor().allocation_info()) {
      const std::uint64_t begin =
          std::uint64_t{at.memory_offset_high()} << 32 | at.memory_offset_low();
      regions_[i] = Region{at.memory_id(), begin, begin + state_.values->tensor(i)->nbytes()};
    }
  }
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const program::Instruction instruction = instructions_[i].view;
    if (const auto call = instruction.instr_args_as_KernelCall()) {
      note_call(i, call.args(), operators_[checked(call.op_index())].writes);
    } else if (const auto delegate = instruction.instr_args_as_DelegateCall()) {
      note_call(i, delegate.args(), Writes::kUnknown);
    } else if (const auto move = instruction.instr_args_as_MoveCall()) {
      for (const std::int32_t value : {move.move_from(), move.move_to()}) {
        note_use(i, checked(value), true);
        facts_.each_part(checked(value), [this](std::size_t part) {
          uses_[part].is_entangled = true;
          return true;
        });
      }
    } else if (const auto jump = instruction.instr_args_as_JumpFalseCall()) {
      note_use(i, checked(jump.cond_value_index()), false);
    }
  }
}

void Preparation::note_call(std::size_t index, schema::Vector<std::int32_t> arguments,
                            Writes writes) {
  if (arguments.empty()) {
    return;
  }
  const std::int32_t written = writes == Writes::kFirst ? arguments.front() : arguments.back();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    // An out variant has what it writes among its arguments again.
    if (arguments[i] != written || i + 1 == arguments.size() || writes != Writes::kLast) {
      note_use(index, checked(arguments[i]), writes == Writes::kUnknown || arguments[i] == written);
    }
    if (writes == Writes::kUnknown) {
      facts_.each_part(checked(arguments[i]), [this](std::size_t part) {
        uses_[part].is_entangled = true;
        return true;
      });
    }
  }
}

void Preparation::note_use(std::size_t index, std::size_t value, bool is_written) {
  facts_.each_part(value, [&](std::size_t part) {
    uses_[part].last = index;
    if (is_written) {
      ++uses_[part].writes;
      writes_.push_back({index, part});
    }
    return true;
  });
}

std::optional<std::size_t> Preparation::result_of(std::size_t index) const {
  const auto call = instructions_[index].view.instr_args_as_KernelCall();
  if (!call || call.args().size() < 2 ||
      operators_[checked(call.op_index())].writes != Writes::kLast) {
    return std::nullopt;
  }
  const std::size_t result = checked(call.args().back());
  const TensorImpl* const tensor = (*state_.values)[result].tensor();
  const ValueFacts& facts = facts_[result];
  const bool is_own = tensor != nullptr && tensor->is_static() && facts.is_planned &&
                      !facts.is_input && !facts.is_replaced && !facts.is_pointed &&
                      uses_[result].writes == 1;
  return is_own ? std::optional(result) : std::nullopt;
}

bool Preparation::is_computable(std::size_t index, const std::vector<bool>& results) const {
  const std::optional<std::size_t> result = result_of(index);
  // The caller may write to an output, and a delegate to what it does not say it only reads.
  if (!result || facts_[*result].is_output || uses_[*result].is_entangled) {
    return false;
  }
  const auto call = instructions_[index].view.instr_args_as_KernelCall();
  if (!state_.kernels[checked(call.op_index())]->is_pure()) {
    return false;
  }
  for (const std::int32_t argument : call.args()) {
    const std::size_t value = checked(argument);
    const bool is_known = facts_.each_part(value, [&](std::size_t part) {
      const bool is_tensor = state_.values->tensor(part) != nullptr;
      return !facts_[part].is_replaced && (!is_tensor || facts_[part].is_constant || results[part]);
    });
    if (value != *result && !is_known) {
      return false;
    }
  }
  return true;
}

bool Preparation::begin_result(std::size_t index) {
  if (!is_active_ || places_[index] == kNever) {
    return false;
  }
  const auto arguments = instructions_[index].view.instr_args_as_KernelCall().args();
  for (const std::int32_t argument : arguments) {
    // What was to be computed before may have failed.
    if (argument != arguments.back() && !facts_.is_constant(checked(argument))) {
      return false;
    }
  }
  TensorImpl& tensor = *state_.values->tensor(checked(arguments.back()));
  planned_data_ = tensor.data();
  tensor.set_data(storage_.data(places_[index]));
  return true;
}

void Preparation::end_result(std::size_t index, bool is_computed) {
  const auto arguments = instructions_[index].view.instr_args_as_KernelCall().args();
  const std::size_t result = checked(arguments.back());
  TensorImpl& tensor = *state_.values->tensor(result);
  if (is_computed) {
    tensor.set_read_only(true);
    facts_[result].is_constant = true;
    facts_[result].is_planned = false;
    regions_[result].reset();
  } else {
    tensor.set_data(planned_data_);
  }
}

bool Preparation::is_copy(std::size_t index, std::size_t source, std::size_t result) const {
  const auto call = instructions_[index].view.instr_args_as_KernelCall();
  const std::string& name = operators_[checked(call.op_index())].name;
  if (std::find(kCopies.begin(), kCopies.end(), name) == kCopies.end()) {
    return false;
  }
  const TensorImpl& from = *state_.values->tensor(source);
  const TensorImpl& to = *state_.values->tensor(result);
  return from.scalar_type() == to.scalar_type() && from.device() == to.device() &&
         from.numel() == to.numel() && is_contiguous(from) && is_contiguous(to) &&
         from.data() != nullptr;
}

bool Preparation::alias(std::size_t index) {
  const std::optional<std::size_t> result = is_active_ ? result_of(index) : std::nullopt;
  if (!result || uses_[*result].is_entangled) {
    return false;
  }
  const std::size_t source =
      checked(instructions_[index].view.instr_args_as_KernelCall().args().front());
  const TensorImpl* const from = (*state_.values)[source].tensor();
  if (from == nullptr || source == *result || !facts_.is_fixed(source) ||
      uses_[source].is_entangled || !is_copy(index, source, *result)) {
    return false;
  }
  const bool is_constant = facts_.is_constant(source);
  const bool is_output = facts_[*result].is_output;
  // Outputs keep memory of their own if their source is more than a step on the way: the caller may
  // write to them, and reads them when the source may have changed.
  if (is_output && (is_constant || !is_temporary(index, *regions_[source]))) {
    return false;
  }
  if (!is_constant &&
      is_written_between(index, is_output ? instructions_.size() : uses_[*result].last,
                         *regions_[source])) {
    return false;
  }
  TensorImpl& to = *state_.values->tensor(*result);
  to.set_data(from->data());
  to.set_read_only(from->is_read_only());
  facts_[*result].is_constant = is_constant;
  facts_[*result].is_planned = !is_constant;
  regions_[*result] = regions_[source];
  return true;
}

bool Preparation::overlap(const Region& left, const Region& right) noexcept {
  return left.buffer == right.buffer && left.begin < right.end && right.begin < left.end;
}

bool Preparation::is_temporary(std::size_t index, const Region& region) {
  bool is_written = false;
  for (const Write& write : writes_) {
    if (!spend()) {
      return false;
    }
    const auto& written = regions_[write.value];
    is_written |= write.instruction < index && written && overlap(*written, region);
  }
  const auto values = state_.meta.plan().values();
  for (std::size_t value = 0; is_written && value < values.size(); ++value) {
    const program::Tensor tensor = values[value].val_as_Tensor();
    // Initial values are what buffers of the model have, and they are kept between executions.
    const bool is_kept =
        tensor.data_buffer_idx() != 0 || tensor.extra_tensor_info().has_fully_qualified_name();
    const bool is_visible = facts_[value].is_input || facts_[value].is_output || is_kept;
    if (!spend() || (is_visible && regions_[value] && overlap(*regions_[value], region))) {
      return false;
    }
  }
  return is_written;
}

bool Preparation::is_written_between(std::size_t after, std::size_t until, const Region& region) {
  const auto first = std::upper_bound(
      writes_.begin(), writes_.end(), after,
      [](std::size_t instruction, const Write& write) { return instruction < write.instruction; });
  for (auto write = first; write != writes_.end() && write->instruction <= until; ++write) {
    if (!spend() || (regions_[write->value] && overlap(*regions_[write->value], region))) {
      return true;
    }
  }
  return false;
}

}  // namespace placewire
