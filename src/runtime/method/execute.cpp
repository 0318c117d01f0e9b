// Executes methods.
#include <new>
#include <string>
#include <utility>

#include "method/device_choice.h"
#include "method/memory_use.h"
#include "method/state.h"
#include "text.h"

namespace placewire {
namespace {

/// Whether every element of a condition is true.
Result<bool> is_true(const EValue& condition) {
  if (const bool* value = condition.get_if<bool>()) {
    return *value;
  }
  const TensorImpl* const tensor = condition.tensor();
  if (tensor == nullptr || tensor->scalar_type() != ScalarType::BOOL ||
      !tensor->device().is_cpu() || (tensor->data() == nullptr && tensor->numel() != 0)) {
    return Error{
        ErrorCode::INVALID_PROGRAM,
        "the condition must be a bool or a tensor of bools on the CPU, with memory; it is " +
            describe(condition)};
  }
  const auto* const elements = static_cast<const std::uint8_t*>(tensor->data());
  for (std::int64_t i = 0; i < tensor->numel(); ++i) {
    if (elements[i] == 0) {
      return false;
    }
  }
  return true;
}

/// The lock that the kernels of the current stretch need, given back in the end.
class StretchLock {
 public:
  StretchLock() = default;
  StretchLock(const StretchLock&) = delete;
  StretchLock& operator=(const StretchLock&) = delete;
  ~StretchLock() { change_to(nullptr); }

  /// Takes another lock; null is none.
  void change_to(KernelLock* lock) noexcept {
    if (lock == lock_) {
      return;
    }
    if (lock_ != nullptr) {
      lock_->release(acquired_);
    }
    lock_ = lock;
    if (lock_ != nullptr) {
      acquired_ = lock_->acquire();
    }
  }

 private:
  KernelLock* lock_ = nullptr;
  int acquired_ = 0;
};

}  // namespace

Error busy(const MethodMeta& meta) {
  return {ErrorCode::BUSY, printable(meta.name()) +
                               ": another thread uses the method, or one that "
                               "shares its planned memory"};
}

Status Method::State::run() {
  for (const Replaced& each : replaced) {
    *each.value = each.original;
  }
  for (TensorImpl* const tensor : pointed) {
    tensor->set_data(nullptr);
    tensor->set_read_only(false);
  }
  if (Status status = check_inputs(); !status.ok()) {
    return status;
  }
  if (Status status = compute_constants(); !status.ok()) {
    return status;
  }
  return run_steps();
}

Status Method::State::compute_constants() {
  StretchLock lock;
  for (; computed < constant_calls.size(); ++computed) {
    const ConstantCall& call = constant_calls[computed];
    lock.change_to(call.kernel->lock());
    call.result->set_read_only(false);
    Status status = call.kernel->run();
    call.result->set_read_only(true);
    if (!status.ok()) {
      return at(meta, call.instruction, std::move(status).error());
    }
  }
  return {};
}

Status Method::State::check_inputs() const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = inputs[i];
    if (port.tensor != nullptr && !port.has_memory && !port.is_set) {
      return Error{ErrorCode::INVALID_STATE,
                   printable(meta.name()) + ": input " + std::to_string(i) +
                       " was never set, and is no part of the planned memory"};
    }
  }
  return {};
}

Status Method::State::run_steps() {
  const std::size_t count = steps.size();
  std::uint64_t executed = 0;
  StretchLock lock;
  for (std::size_t next = 0; next < count;) {
    const Step& step = steps[next++];
    if (++executed > kMaximumInstructions) {
      return at(meta, step.instruction,
                {ErrorCode::INVALID_PROGRAM, "the execution was ended after " +
                                                 std::to_string(kMaximumInstructions) +
                                                 " instructions: its jumps seem to go on forever"});
    }
    if (step.is_checked) {
      if (Status status = check(step); !status.ok()) {
        return at(meta, step.instruction, std::move(status).error());
      }
    }
    Status status;
    switch (step.kind) {
      case Step::Kind::kKernel:
        lock.change_to(step.kernel->lock());
        status = step.kernel->run();
        break;
      case Step::Kind::kDelegate:
        lock.change_to(nullptr);
        status = step.delegate->execute(step.arguments);
        break;
      case Step::Kind::kMove:
        *step.to = *step.from;
        break;
      case Step::Kind::kJumpFalse: {
        const Result<bool> condition = is_true(*step.from);
        if (!condition.ok()) {
          status = condition.error();
        } else if (!condition.value()) {
          next = step.target;
        }
        break;
      }
    }
    if (!status.ok()) {
      return at(meta, step.instruction, std::move(status).error());
    }
  }
  return {};
}

Status Method::State::check(const Step& step) const {
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const EValue& value = *step.arguments[i];
    // An out variant has what it writes among its arguments twice.
    const bool is_written =
        step.written < step.arguments.size() && &value == step.arguments[step.written];
    const bool is_pointed =
        step.points < step.arguments.size() && &value == step.arguments[step.points];
    if (is_pointed) {
      continue;
    }
    if (value.tensor() != nullptr) {
      if (Status status = check_tensor(value, is_written); !status.ok()) {
        return status;
      }
      continue;
    }
    Span<EValue* const> items;
    if (const TensorList* list = value.get_if<TensorList>()) {
      items = list->items;
    } else if (const OptionalTensorList* optional = value.get_if<OptionalTensorList>()) {
      items = optional->items;
    }
    for (const EValue* item : items) {
      if (item != nullptr && item->tensor() != nullptr) {
        if (Status status = check_tensor(*item, is_written); !status.ok()) {
          return status;
        }
      }
    }
  }
  return {};
}

Status Method::State::check_tensor(const EValue& value, bool is_written) const {
  const TensorImpl& tensor = *value.tensor();
  const std::size_t owner = values->index_of(&tensor);
  if (tensor.data() == nullptr && tensor.numel() != 0) {
    return lacks_memory(owner);
  }
  if (!is_written) {
    return {};
  }
  if (tensor.is_read_only()) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "it writes value " + std::to_string(owner) + ", which is read-only"};
  }
  return {};
}

Error Method::State::lacks_memory(std::size_t value) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].value == value) {
      return {ErrorCode::INVALID_STATE,
              "output " + std::to_string(i) +
                  " has no memory, for it is not planned: give it some with set_output_memory"};
    }
  }
  return {ErrorCode::INVALID_PROGRAM, "value " + std::to_string(value) +
                                          " has no memory: it is neither planned nor a constant"};
}

Status Method::execute() {
  try {
    MemoryUse use(*state_->memory);
    return use.ok() ? state_->run() : busy(state_->meta);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Status Method::execute(Span<const EValue> inputs) {
  try {
    MemoryUse use(*state_->memory);
    if (!use.ok()) {
      return busy(state_->meta);
    }
    if (inputs.size() != state_->inputs.size()) {
      return Error{ErrorCode::INVALID_ARGUMENT,
                   printable(state_->meta.name()) + ": there are " + std::to_string(inputs.size()) +
                       " inputs, expected " + std::to_string(state_->inputs.size())};
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (Status status = state_->set_input(i, inputs[i]); !status.ok()) {
        return status;
      }
    }
    return state_->run();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

const MethodMeta& Method::meta() const noexcept { return state_->meta; }

const std::shared_ptr<const Program>& Method::program() const noexcept { return state_->program; }

const PlannedMemory& Method::planned_memory() const noexcept { return *state_->memory; }

}  // namespace placewire
