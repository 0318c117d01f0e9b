// One call of Python, with its arguments made.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "call_builder.h"
#include "interpreter_lock.h"
#include "placewire/runtime/kernel.h"
#include "python_call.h"
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
  /// What must be held for `run`.
  [[nodiscard]] KernelLock* lock() const noexcept;

 private:
  [[nodiscard]] const std::vector<OperatorArgument>& schema() const noexcept {
    return operator_->arguments;
  }
  [[nodiscard]] const CallPlan& wanted_plan() const noexcept {
    return is_fixed_ ? operator_->fixed_call : operator_->changing_call;
  }
  [[nodiscard]] Status check_same_sizes(const CallPlan& plan) const;
  [[nodiscard]] Status check_writable() const;
  /// Makes the call, or makes it again. Errors: what has no object.
  Status build();
  [[nodiscard]] bool writes() const;
  /// Whether the call stays as it is after it has run well once, with no need to look at what it
  /// returns.
  [[nodiscard]] bool can_settle() const;
  Status finish(PyObject* returned);
  Status check_results();
  Status check_result(TensorImpl& tensor, PyObject* object);
  Status take_sizes(PyObject* returned);

  std::shared_ptr<const PythonOperator> operator_;
  std::vector<KernelArgument> arguments_;
  /// Null before the first run, and once the call is settled.
  std::unique_ptr<CallBuilder> builder_;
  /// Null until then.
  std::shared_ptr<const SettledCall> settled_;
  bool is_fixed_ = true;
};

/// The same as a kernel of the core.
class BoundCall final : public BoundKernel {
 public:
  /// As `PreparedCall`.
  BoundCall(std::shared_ptr<const PythonOperator> operator_, Span<const KernelArgument> arguments)
      : call_(std::in_place, std::move(operator_), arguments) {}

  [[nodiscard]] Status check() const { return call_->check(); }

  Status run() override { return call_->run(); }
  [[nodiscard]] KernelLock* lock() const noexcept override { return call_->lock(); }

 private:
  HeldByCore<PreparedCall> call_;
};

}  // namespace placewire::bindings
