// Native kernels that say what arguments they take, so that one place checks them.
#include "kernels/checked_kernel.h"

#include <string>
#include <utility>
#include <vector>

namespace placewire {
namespace {

bool is_number(const EValue& value) noexcept {
  return value.get_if<std::int64_t>() != nullptr || value.get_if<double>() != nullptr ||
         value.get_if<bool>() != nullptr;
}

/// What an argument should be and is not; null if it is.
const char* missing(Takes takes, const EValue& value) noexcept {
  const TensorImpl* const tensor = value.tensor();
  switch (takes) {
    case Takes::kTensor:
    case Takes::kMovedTensor:
      return tensor != nullptr ? nullptr : "a tensor";
    case Takes::kHostTensor:
    case Takes::kWrittenHostTensor:
      if (tensor == nullptr || !tensor->device().is_cpu()) {
        return "a tensor on the CPU";
      }
      return takes == Takes::kWrittenHostTensor && tensor->is_read_only()
                 ? "a tensor that may be written to"
                 : nullptr;
    case Takes::kInt:
      return value.get_if<std::int64_t>() != nullptr ? nullptr : "an int";
    case Takes::kNumber:
      return is_number(value) ? nullptr : "a number";
    case Takes::kIntList:
      return value.get_if<IntList>() != nullptr ? nullptr : "a list of ints";
    case Takes::kResult:
      return is_number(value) ? nullptr : "a number, for the result";
  }
  return "known";
}

Status check(std::size_t number, Takes takes, const EValue& value) {
  if (const char* const expected = missing(takes, value)) {
    return Error{ErrorCode::INVALID_PROGRAM, "argument " + std::to_string(number) + " is " +
                                                 describe(value) + ", expected " + expected};
  }
  return {};
}

/// Checks an argument when its call is bound.
Status check_bound(std::size_t number, Takes takes, const KernelArgument& argument) {
  if (takes == Takes::kWrittenHostTensor && argument.is_constant) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "argument " + std::to_string(number) + " is a constant, and is written to"};
  }
  if (takes == Takes::kMovedTensor && argument.is_fixed) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "argument " + std::to_string(number) +
                     " has a place of its own, and is pointed to another's data"};
  }
  return argument.is_fixed ? check(number, takes, *argument.value) : Status();
}

class CheckedKernel final : public Kernel, public std::enable_shared_from_this<CheckedKernel> {
 public:
  CheckedKernel(std::initializer_list<Takes> takes, CheckedFunction function)
      : takes_(takes), function_(function) {}

  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override;

  Status run(Span<EValue* const> arguments) const {
    for (std::size_t number = 0; number < takes_.size(); ++number) {
      if (Status status = check(number, takes_[number], *arguments[number]); !status.ok()) {
        return status;
      }
    }
    return function_(arguments);
  }

 private:
  const std::vector<Takes> takes_;
  const CheckedFunction function_;
};

class CheckedCall final : public BoundKernel {
 public:
  CheckedCall(std::shared_ptr<const CheckedKernel> kernel, Span<const KernelArgument> arguments)
      : kernel_(std::move(kernel)) {
    values_.reserve(arguments.size());
    for (const KernelArgument& argument : arguments) {
      values_.push_back(argument.value);
    }
  }

  Status run() override { return kernel_->run(Span<EValue* const>(values_)); }

 private:
  const std::shared_ptr<const CheckedKernel> kernel_;
  std::vector<EValue*> values_;
};

Result<std::unique_ptr<BoundKernel>> CheckedKernel::bind(Span<const KernelArgument> arguments) {
  if (arguments.size() != takes_.size()) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "the kernel takes " + std::to_string(takes_.size()) +
                     " arguments, the returned values included; the call has " +
                     std::to_string(arguments.size())};
  }
  for (std::size_t number = 0; number < takes_.size(); ++number) {
    if (Status status = check_bound(number, takes_[number], arguments[number]); !status.ok()) {
      return std::move(status).error();
    }
  }
  return std::unique_ptr<BoundKernel>(std::make_unique<CheckedCall>(shared_from_this(), arguments));
}

}  // namespace

std::shared_ptr<Kernel> checked_kernel(std::initializer_list<Takes> takes,
                                       CheckedFunction function) {
  return std::make_shared<CheckedKernel>(takes, function);
}

}  // namespace placewire
