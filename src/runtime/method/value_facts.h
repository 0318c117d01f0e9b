// What is known of each value of a method before anything runs.
#pragma once

#include <cstddef>
#include <vector>

#include "method/instructions.h"
#include "method/values.h"

namespace placewire {

/// What is known of one value.
struct ValueFacts {
  bool is_input = false;
  bool is_output = false;
  /// A constant of the program, or what became one when the method was loaded.
  bool is_constant = false;
  /// A tensor in planned memory.
  bool is_planned = false;
  /// Instructions replace what it refers to, or which number it is.
  bool is_replaced = false;
  /// A tensor that instructions point to other data.
  bool is_pointed = false;
};

/// The facts of all values of a method.
class AllValueFacts {
 public:
  AllValueFacts(const schema::program::ExecutionPlan& plan, const Values& values,
                const std::vector<Instruction>& instructions,
                const std::vector<OperatorFacts>& operators);

  [[nodiscard]] ValueFacts& operator[](std::size_t value) noexcept { return facts_[value]; }
  [[nodiscard]] const ValueFacts& operator[](std::size_t value) const noexcept {
    return facts_[value];
  }

  /// See KernelArgument.
  [[nodiscard]] bool is_fixed(std::size_t value) const;
  [[nodiscard]] bool is_constant(std::size_t value) const;
  /// Whether it is, or has in it, a tensor whose memory is not there from the start.
  [[nodiscard]] bool may_lack_memory(std::size_t value) const;

  /// Calls `visit` with the number of a value, or with those of the items if it is a list of
  /// values, for as long as it returns true. Returns whether it always did.
  template <typename Visit>
  bool each_part(std::size_t value, Visit visit) const {
    const EValue& content = values_[value];
    if (content.tensor() != nullptr) {  // as most are
      return visit(value);
    }
    if (const IntList* list = content.get_if<IntList>()) {
      return each_item(list->items, visit);
    }
    if (const TensorList* list = content.get_if<TensorList>()) {
      return each_item(list->items, visit);
    }
    if (const OptionalTensorList* list = content.get_if<OptionalTensorList>()) {
      return each_item(list->items, visit);
    }
    return visit(value);
  }

 private:
  template <typename Visit>
  bool each_item(Span<EValue* const> items, Visit visit) const {
    for (const EValue* item : items) {
      if (item != nullptr && !visit(values_.index_of(item))) {
        return false;
      }
    }
    return true;
  }

  void note_kernel_call(const schema::program::KernelCall& call, const OperatorFacts& op);

  const Values& values_;
  std::vector<ValueFacts> facts_;
};

}  // namespace placewire
