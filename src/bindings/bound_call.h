// One call of Python, with its arguments made.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "call_arguments.h"
#include "interpreter_lock.h"
#include "placewire/runtime/kernel.h"
#include "python_operator.h"

namespace placewire::bindings {

/// What a call needs, all of it Python's or made for Python. The interpreter lock must be held.
class PreparedCall {
 public:
  /// `arguments` are those of the instruction, checked: as many as the operator has, then what it
  /// returns.
  PreparedCall(std::shared_ptr<const PythonOperator> operator_,
               Span<const KernelArgument> arguments);

  /// Finds what can be known to be wrong without making a Python object: writes to constants, sizes
  /// that must be equal and are not, tensors that Python cannot reach.
  [[nodiscard]] Status check() const;
  /// Calls. The first time it makes all arguments: that is most of the work, and a file that is
  /// only loaded, or runs only in part, does not need it.
  Status run();

 private:
  enum class Refresh { kNever, kObject, kRoom };

  [[nodiscard]] const std::vector<OperatorArgument>& schema() const noexcept {
    return operator_->arguments;
  }
  /// Makes arguments and chooses what is called. Errors: what has no object.
  Status prepare();
  [[nodiscard]] const CallPlan& wanted_plan() const noexcept {
    return is_fixed_ ? operator_->fixed_call : operator_->changing_call;
  }
  [[nodiscard]] Refresh refresh_of(std::size_t index) const;
  Status convert(std::size_t index, Refresh refresh, bool allow_missing);
  Status refresh_arguments();
  [[nodiscard]] Status check_same_sizes(const CallPlan& plan) const;
  [[nodiscard]] Status check_writable() const;
  [[nodiscard]] bool use_source(const CallPlan& plan);
  [[nodiscard]] bool is_left_out(std::size_t index) const;
  [[nodiscard]] nanobind::object object_at(const Place& place) const;
  Status build_call();
  Status finish(PyObject* returned);
  /// What a call that failed may have left as it should not be.
  void forget_results();
  Status check_results();
  Status check_result(TensorImpl& tensor);
  Status take_sizes(PyObject* returned);

  std::shared_ptr<const PythonOperator> operator_;
  std::vector<KernelArgument> arguments_;
  bool is_fixed_ = true;
  /// Whether the sizes of results have to be looked at after the next call.
  bool must_check_ = true;
  ArgumentObjects objects_;
  /// One for each argument of the operator, once the call is prepared.
  std::vector<nanobind::object> converted_;
  /// Which arguments may change, and how they are made again.
  std::vector<std::pair<std::size_t, Refresh>> changing_;
  /// Null until the call is prepared.
  const CallPlan* plan_ = nullptr;
  nanobind::object function_;
  nanobind::object positional_;
  /// Null without any.
  nanobind::object keywords_;
};

/// The same as a kernel of the core.
class BoundCall final : public BoundKernel {
 public:
  explicit BoundCall(std::unique_ptr<PreparedCall> call) : call_(std::move(call)) {}

  Status run() override { return (*call_)->run(); }
  [[nodiscard]] KernelLock* lock() const noexcept override {
    return InterpreterStretch::instance();
  }

 private:
  HeldByCore<std::unique_ptr<PreparedCall>> call_;
};

}  // namespace placewire::bindings
