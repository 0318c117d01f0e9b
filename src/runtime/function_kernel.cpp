// Kernels that are functions of the instruction's values.
#include <string>
#include <utility>
#include <vector>

#include "placewire/runtime/kernel.h"

namespace placewire {
namespace {

class BoundFunction final : public BoundKernel {
 public:
  /// The kernel that owns the function outlives what was bound of it only if this shares it.
  BoundFunction(std::shared_ptr<const KernelFunction> function,
                Span<const KernelArgument> arguments)
      : function_(std::move(function)) {
    values_.reserve(arguments.size());
    for (const KernelArgument& argument : arguments) {
      values_.push_back(argument.value);
    }
  }

  Status run() override { return (*function_)(Span<EValue* const>(values_)); }

 private:
  std::shared_ptr<const KernelFunction> function_;
  std::vector<EValue*> values_;
};

class FunctionKernel final : public Kernel {
 public:
  FunctionKernel(std::size_t argument_count, KernelFunction function)
      : argument_count_(argument_count),
        function_(std::make_shared<const KernelFunction>(std::move(function))) {}

  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override {
    if (arguments.size() != argument_count_) {
      return Error{ErrorCode::INVALID_PROGRAM,
                   "the kernel takes " + std::to_string(argument_count_) +
                       " arguments, the returned values included; the call has " +
                       std::to_string(arguments.size())};
    }
    return std::unique_ptr<BoundKernel>(std::make_unique<BoundFunction>(function_, arguments));
  }

 private:
  std::size_t argument_count_;
  std::shared_ptr<const KernelFunction> function_;
};

}  // namespace

std::shared_ptr<Kernel> function_kernel(std::size_t argument_count, KernelFunction function) {
  return std::make_shared<FunctionKernel>(argument_count, std::move(function));
}

}  // namespace placewire
