// Makes the call of Python for one instruction, and makes it again when its arguments change.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "call_arguments.h"
#include "placewire/runtime/kernel.h"
#include "python_call.h"
#include "python_operator.h"

namespace placewire::bindings {

/// The objects of a call while they may change. The interpreter lock must be held.
class CallBuilder {
 public:
  /// Refers to an operator and to arguments of it, which have been checked.
  CallBuilder(const PythonOperator& operator_, Span<const KernelArgument> arguments)
      : operator_(&operator_), arguments_(arguments), objects_(operator_.library) {}

  /// Makes all arguments, and chooses by `plan` what is called. Errors: what has no object.
  Status prepare(const CallPlan& plan);
  /// Makes those arguments again that may have changed. Errors: as above.
  Status refresh();
  /// Whether arguments may change.
  [[nodiscard]] bool has_changing() const noexcept { return !changing_.empty(); }

  [[nodiscard]] const PythonCall& call() const noexcept { return call_; }
  /// Hands the call over.
  [[nodiscard]] PythonCall release() && noexcept { return std::move(call_); }
  /// Whether it is known that results have the sizes that the program says.
  [[nodiscard]] bool has_right_sizes() const noexcept { return is_special_; }

  /// What was made of an argument.
  [[nodiscard]] PyObject* given(std::size_t index) const noexcept {
    return converted_[index].ptr();
  }
  /// The view of a tensor whose sizes may change.
  [[nodiscard]] TensorView& view(TensorImpl& tensor) { return objects_.view(tensor); }
  /// Makes good what a call that failed may have done to objects, but for elements.
  void restore_objects();

 private:
  enum class Refresh { kNever, kObject, kRoom };

  [[nodiscard]] const std::vector<OperatorArgument>& schema() const noexcept {
    return operator_->arguments;
  }
  [[nodiscard]] Refresh refresh_of(std::size_t index) const;
  Status convert(std::size_t index, Refresh refresh, Memory memory);
  /// Whether there is a call for just these arguments, which then is the one.
  [[nodiscard]] bool specialize();
  [[nodiscard]] bool is_left_out(std::size_t index) const;
  [[nodiscard]] nanobind::object object_at(const Place& place) const;
  Status build_call();

  const PythonOperator* operator_;
  Span<const KernelArgument> arguments_;
  ArgumentObjects objects_;
  /// One for each argument of the operator.
  std::vector<nanobind::object> converted_;
  /// Which arguments may change, and how they are made again.
  std::vector<std::pair<std::size_t, Refresh>> changing_;
  const CallPlan* plan_ = nullptr;
  PythonCall call_;
  bool is_special_ = false;
};

/// Says which argument of an operator an error is about.
[[nodiscard]] Error with_argument(Error error, std::size_t index, const OperatorArgument& argument);

}  // namespace placewire::bindings
