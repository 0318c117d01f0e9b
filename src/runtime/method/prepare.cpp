// What can be done once when a method is loaded instead of in each execution.
#include "method/prepare.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace placewire {
namespace {

namespace program = schema::program;

/// Operators whose result has the elements of their first argument in the same order, if it has as
/// many of them: what only takes some or repeats some then takes each once.
constexpr std::array<std::string_view, 17> kCopies = {
    "aten::_reshape_copy.out",
    "aten::_to_copy.out",
    "aten::_unsafe_view.out",
    "aten::alias_copy.out",
    "aten::clone.out",
    "aten::detach_copy.out",
    "aten::expand_copy.out",
    "aten::lift_fresh_copy.out",
    "aten::select_copy.int_out",
    "aten::slice_copy.Tensor_out",
    "aten::squeeze_copy.dim_out",
    "aten::squeeze_copy.dims_out",
    "aten::squeeze_copy.out",
    "aten::unsqueeze_copy.out",
    "aten::view_copy.out",
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
  uses_.resize(state_.values->size());
  note_uses();
  const std::vector<bool> copying = copying_operators();
  std::vector<bool> computed(state_.values->size(), false);
  bool is_always_reached = true;  // what a branch computes may fail where it is not taken
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const program::Instruction instruction = instructions_[i].view;
    is_always_reached &= !instruction.instr_args_as_JumpFalseCall();
    const auto call = instruction.instr_args_as_KernelCall();
    if (!call || call.args().size() < 2) {
      continue;
    }
    const bool is_copy = copying[checked(call.op_index())];
    const bool is_computed = is_always_reached && is_computable(call, computed);
    std::optional<Result> result = is_copy || is_computed ? result_of(i) : std::nullopt;
    if (!result) {
      continue;
    }
    candidates_.push_back({i, std::move(*result), is_copy, kNever});
    if (is_computed) {
      Candidate& candidate = candidates_.back();
      const TensorImpl& tensor = *state_.values->tensor(candidate.result.value);
      candidate.place = storage_.request(tensor.device(), tensor.nbytes());
      computed[candidate.result.value] = true;
      for (const std::size_t view : candidate.result.views) {
        computed[view] = true;
      }
    }
  }
  return storage_.allocate(state_.blocks);
}

std::vector<bool> Preparation::copying_operators() const {
  std::vector<bool> copying;
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    // Somebody's own kernel may do anything else; what nothing calls has none.
    const std::shared_ptr<Kernel>& kernel = state_.kernels[i];
    copying.push_back(kernel != nullptr && kernel->is_pure() &&
                      std::find(kCopies.begin(), kCopies.end(), operators_[i].name) !=
                          kCopies.end());
  }
  return copying;
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
  planned_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const program::Tensor tensor = values[i].val_as_Tensor();
    if (const auto at = tensor.allocation_info()) {
      const std::uint64_t begin =
          std::uint64_t{at.memory_offset_high()} << 32 | at.memory_offset_low();
      planned_[i] = Region{at.memory_id(), begin, begin + state_.values->tensor(i)->nbytes()};
      // Buffers of the model have an initial value or a name, and keep what is in them.
      if (facts_[i].is_input || facts_[i].is_output || tensor.data_buffer_idx() != 0 ||
          tensor.extra_tensor_info().has_fully_qualified_name()) {
        visible_.push_back(i);
      }
    }
  }
  regions_ = planned_;
  touches_.reserve(4 * instructions_.size());
  for (std::size_t i = 0; i < instructions_.size(); ++i) {
    const program::Instruction instruction = instructions_[i].view;
    if (const auto call = instruction.instr_args_as_KernelCall()) {
      const std::size_t op = checked(call.op_index());
      note_call(i, call.args(),
                state_.kernels[op]->writes_inputs() ? Writes::kUnknown : operators_[op].writes);
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
  // An out variant has what it writes twice, at the end; before that it reads it.
  const std::size_t out = arguments.size() - std::min<std::size_t>(arguments.size(), 2);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] != written || writes != Writes::kLast || i < out) {
      note_use(index, checked(arguments[i]), false);
    }
  }
  if (writes != Writes::kUnknown) {
    note_use(index, checked(written), true);
    return;
  }
  for (const std::int32_t argument : arguments) {
    note_use(index, checked(argument), true);
    facts_.each_part(checked(argument), [this](std::size_t part) {
      uses_[part].is_entangled = true;
      return true;
    });
  }
}

void Preparation::note_use(std::size_t index, std::size_t value, bool is_written) {
  facts_.each_part(value, [&](std::size_t part) {
    Use& use = uses_[part];
    const auto instruction = static_cast<std::uint32_t>(index);
    use.first = std::min(use.first, instruction);
    use.last = instruction;
    use.writes += is_written ? 1 : 0;
    if (planned_[part]) {
      touches_.push_back({instruction, static_cast<std::uint32_t>(part), is_written});
    }
    return true;
  });
}

std::optional<Preparation::Result> Preparation::result_of(std::size_t index) {
  const auto call = instructions_[index].view.instr_args_as_KernelCall();
  if (operators_[checked(call.op_index())].writes != Writes::kLast) {
    return std::nullopt;
  }
  Result result{checked(call.args().back()), {}, index};
  const TensorImpl* const tensor = state_.values->tensor(result.value);
  const ValueFacts& facts = facts_[result.value];
  const bool is_own = tensor != nullptr && tensor->is_static() && tensor->nbytes() != 0 &&
                      facts.is_planned && !facts.is_input && !facts.is_replaced &&
                      !facts.is_pointed && uses_[result.value].writes == 1 &&
                      uses_[result.value].first == index && !uses_[result.value].is_entangled;
  return is_own && find_views(index, result) ? std::optional(std::move(result)) : std::nullopt;
}

/// Finds who reads what a call has written, until something else is written in its place.
bool Preparation::find_views(std::size_t index, Result& result) {
  const Region& region = planned_[result.value];
  const auto first = std::upper_bound(
      touches_.begin(), touches_.end(), index,
      [](std::size_t instruction, const Touch& touch) { return instruction < touch.instruction; });
  std::size_t until = kNever;
  for (auto touch = first; touch != touches_.end() && touch->instruction <= until; ++touch) {
    if (!spend()) {
      return false;
    }
    if (!overlap(planned_[touch->value], region)) {
      continue;
    }
    if (touch->value == result.value) {
      result.last = touch->instruction;
    } else if (touch->is_written) {
      if (same(planned_[touch->value], region) && uses_[touch->value].first < touch->instruction) {
        return false;  // it may be written in place, through a view
      }
      until = touch->instruction;
    } else if (is_view(index, result.value, touch->value)) {
      result.last = touch->instruction;
      if (std::find(result.views.begin(), result.views.end(), touch->value) == result.views.end()) {
        result.views.push_back(touch->value);
      }
    } else {
      return false;
    }
  }
  // What is read after its place was taken, at the end by the caller, is not what was written.
  if (uses_[result.value].last > result.last ||
      (facts_[result.value].is_output && until != kNever)) {
    return false;
  }
  for (const std::size_t view : result.views) {
    if (uses_[view].last > result.last) {
      return false;
    }
  }
  return until != kNever || !is_visible(region, result.value);
}

bool Preparation::is_view(std::size_t index, std::size_t result, std::size_t value) const {
  const TensorImpl* const tensor = state_.values->tensor(value);
  const ValueFacts& facts = facts_[value];
  const Use& use = uses_[value];
  return same(planned_[value], planned_[result]) && tensor->is_static() && !facts.is_input &&
         !facts.is_output && !facts.is_replaced && !facts.is_pointed && use.writes == 0 &&
         use.first > index && !use.is_entangled;
}

bool Preparation::is_visible(const Region& region, std::size_t except) {
  return std::any_of(visible_.begin(), visible_.end(), [&](std::size_t value) {
    return !spend() || (value != except && overlap(planned_[value], region));
  });
}

bool Preparation::is_computable(const program::KernelCall& call,
                                const std::vector<bool>& results) const {
  // The caller may write to an output.
  const std::int32_t result = call.args().back();
  if (facts_[checked(result)].is_output || !state_.kernels[checked(call.op_index())]->is_pure()) {
    return false;
  }
  for (const std::int32_t argument : call.args()) {
    const std::size_t value = checked(argument);
    const bool is_known = facts_.each_part(value, [&](std::size_t part) {
      const bool is_tensor = state_.values->tensor(part) != nullptr;
      return !facts_[part].is_replaced && (!is_tensor || facts_[part].is_constant || results[part]);
    });
    if (argument != result && !is_known) {
      return false;
    }
  }
  return true;
}

const Preparation::Candidate* Preparation::candidate_at(std::size_t index) noexcept {
  while (next_candidate_ < candidates_.size() && candidates_[next_candidate_].instruction < index) {
    ++next_candidate_;
  }
  const bool is_one =
      next_candidate_ < candidates_.size() && candidates_[next_candidate_].instruction == index;
  return is_one ? &candidates_[next_candidate_] : nullptr;
}

void Preparation::move(const Result& result, void* data, bool is_read_only, bool is_constant,
                       const Region& region) {
  const auto move_one = [&](std::size_t value) {
    TensorImpl& tensor = *state_.values->tensor(value);
    tensor.set_data(data);
    tensor.set_read_only(is_read_only);
    facts_[value].is_constant = is_constant;
    facts_[value].is_planned = !is_constant;
    regions_[value] = region;
  };
  move_one(result.value);
  std::for_each(result.views.begin(), result.views.end(), move_one);
}

bool Preparation::begin_result(std::size_t index) {
  const Candidate* const candidate = candidate_at(index);
  if (candidate == nullptr || candidate->place == kNever) {
    return false;
  }
  const auto arguments = instructions_[index].view.instr_args_as_KernelCall().args();
  for (const std::int32_t argument : arguments) {
    // What was to be constant may not be, because its call could not be bound.
    if (argument != arguments.back() && !facts_.is_constant(checked(argument))) {
      return false;
    }
  }
  TensorImpl& tensor = *state_.values->tensor(candidate->result.value);
  planned_data_ = tensor.data();
  tensor.set_data(storage_.data(candidate->place));
  return true;
}

void Preparation::end_result(std::size_t index, bool is_constant) {
  const Result& result = candidate_at(index)->result;
  TensorImpl& tensor = *state_.values->tensor(result.value);
  if (is_constant) {
    move(result, tensor.data(), true, true, Region());
  } else {
    tensor.set_data(planned_data_);
  }
}

bool Preparation::is_alike(std::size_t source, std::size_t result) const {
  const TensorImpl& from = *state_.values->tensor(source);
  const TensorImpl& to = *state_.values->tensor(result);
  return from.scalar_type() == to.scalar_type() && from.device() == to.device() &&
         from.numel() == to.numel() && is_contiguous(from) && is_contiguous(to) &&
         from.data() != nullptr;
}

bool Preparation::alias(std::size_t index) {
  const Candidate* const candidate = candidate_at(index);
  if (candidate == nullptr || !candidate->is_copy) {
    return false;
  }
  const Result& result = candidate->result;
  const std::size_t source =
      checked(instructions_[index].view.instr_args_as_KernelCall().args().front());
  const TensorImpl* const from = state_.values->tensor(source);
  if (from == nullptr || source == result.value || !facts_.is_fixed(source) ||
      uses_[source].is_entangled || !is_alike(source, result.value)) {
    return false;
  }
  const bool is_constant = facts_.is_constant(source);
  const bool is_output = facts_[result.value].is_output;
  // Outputs keep memory of their own if their source is more than a step on the way: the caller may
  // write to them, and reads them when the source may have changed.
  if (is_output && (is_constant || !is_temporary(index, regions_[source]))) {
    return false;
  }
  if (!is_constant &&
      is_written_between(index, is_output ? kNever : result.last, regions_[source])) {
    return false;
  }
  move(result, from->data(), from->is_read_only(), is_constant, regions_[source]);
  return true;
}

bool Preparation::overlap(const Region& left, const Region& right) noexcept {
  return left.buffer == right.buffer && left.begin < right.end && right.begin < left.end;
}

bool Preparation::same(const Region& left, const Region& right) noexcept {
  return left.buffer == right.buffer && left.begin == right.begin && left.end == right.end;
}

bool Preparation::is_temporary(std::size_t index, const Region& region) {
  const bool is_written = std::any_of(touches_.begin(), touches_.end(), [&](const Touch& touch) {
    return spend() && touch.is_written && touch.instruction < index && regions_[touch.value] &&
           overlap(regions_[touch.value], region);
  });
  return is_written && budget_ != 0 && !is_visible(region, kNever);
}

bool Preparation::is_written_between(std::size_t after, std::size_t until, const Region& region) {
  const auto first = std::upper_bound(
      touches_.begin(), touches_.end(), after,
      [](std::size_t instruction, const Touch& touch) { return instruction < touch.instruction; });
  for (auto touch = first; touch != touches_.end() && touch->instruction <= until; ++touch) {
    const Region& at = regions_[touch->value];
    if (!spend() || (touch->is_written && at && overlap(at, region))) {
      return true;
    }
  }
  return false;
}

}  // namespace placewire
