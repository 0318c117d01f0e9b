// Kernels and delegates that stand in for whatever a file calls: they read all that they are given
// and write all that they return, so that a sanitizer sees every place that does not belong to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placewire/runtime/backend.h"
#include "placewire/runtime/kernel.h"
#include "placewire/runtime/tensor_ptr.h"

namespace placewire::tests {

/// Sum of all bytes that were read, so that no read can be left out.
inline std::uint64_t bytes_read = 0;
/// Calls that were run, of which one execution may make only so many.
inline std::uint64_t calls_run = 0;
inline constexpr std::uint64_t kMostCalls = 200;
/// More bytes are not touched, to save time.
inline constexpr std::size_t kMostBytes = std::size_t{1} << 16;

/// Reads the first and last bytes of a tensor, wherever it lies.
inline Status read(const TensorImpl& tensor) {
  const std::size_t nbytes = tensor.nbytes();
  if (nbytes == 0) {
    return {};
  }
  if (tensor.data() == nullptr) {
    return Error{ErrorCode::INVALID_STATE, "a tensor without memory"};
  }
  if (!tensor.device().is_cpu()) {
    const Result<TensorPtr> copy = clone_tensor_ptr_to(tensor, {});
    return copy.ok() ? read(*copy.value()) : Status(copy.error());
  }
  const auto* const bytes = static_cast<const std::uint8_t*>(tensor.data());
  for (std::size_t i = 0; i < std::min(nbytes, kMostBytes); ++i) {
    bytes_read += bytes[i] + bytes[nbytes - 1 - i];
  }
  return {};
}

/// Makes a tensor as large as it may be, and writes to it.
inline Status write(TensorImpl& tensor) {
  if (tensor.is_read_only()) {
    return Error{ErrorCode::INVALID_PROGRAM, "a tensor that is read-only"};
  }
  if (Status status = tensor.resize(tensor.bounds()); !status.ok()) {
    return status;
  }
  const std::size_t nbytes = tensor.nbytes();
  if (nbytes == 0) {
    return {};
  }
  if (tensor.data() == nullptr) {
    return Error{ErrorCode::INVALID_STATE, "a tensor without memory"};
  }
  if (!tensor.device().is_cpu()) {
    if (nbytes > kMostBytes) {
      return {};
    }
    const std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
    std::vector<std::uint8_t> bytes(nbytes, 1);
    const Result<TensorPtr> host =
        make_tensor_ptr(sizes, tensor.scalar_type(), bytes.data(), {}, tensor.dim_order());
    return host.ok() ? copy_tensor_data(*host.value(), tensor) : Status(host.error());
  }
  auto* const bytes = static_cast<std::uint8_t*>(tensor.data());
  for (std::size_t i = 0; i < std::min(nbytes, kMostBytes); ++i) {
    bytes[i] = 1;
    bytes[nbytes - 1 - i] = 1;
  }
  return {};
}

/// Calls `visit` with every tensor in a value.
template <typename Visit>
Status each_tensor(const EValue& value, Visit visit) {
  if (TensorImpl* const tensor = value.tensor()) {
    return visit(*tensor);
  }
  Span<EValue* const> items;
  if (const TensorList* list = value.get_if<TensorList>()) {
    items = list->items;
  } else if (const OptionalTensorList* optional = value.get_if<OptionalTensorList>()) {
    items = optional->items;
  }
  for (const EValue* const item : items) {
    if (item != nullptr && item->tensor() != nullptr) {
      if (Status status = visit(*item->tensor()); !status.ok()) {
        return status;
      }
    }
  }
  return {};
}

/// Reads lists and texts to their ends.
inline void read_plain(const EValue& value) {
  if (const auto* text = value.get_if<std::string_view>()) {
    for (const char character : *text) {
      bytes_read += static_cast<std::uint8_t>(character);
    }
  } else if (const auto* list = value.get_if<IntList>()) {
    for (const EValue* const item : list->items) {
      bytes_read += item->is_none() ? 0u : 1u;
    }
  } else if (const auto* floats = value.get_if<Span<const double>>()) {
    bytes_read += static_cast<std::uint64_t>(std::count(floats->begin(), floats->end(), 0.0));
  } else if (const auto* bools = value.get_if<Span<const bool>>()) {
    bytes_read += static_cast<std::uint64_t>(std::count(bools->begin(), bools->end(), true));
  }
}

/// Reads all arguments, then writes those from `first_written` on.
inline Status touch(Span<EValue* const> arguments, std::size_t first_written) {
  if (++calls_run > kMostCalls) {
    return Error{ErrorCode::OUT_OF_RESOURCES, "enough calls for one execution"};
  }
  for (const EValue* const argument : arguments) {
    read_plain(*argument);
    if (Status status = each_tensor(*argument, read); !status.ok()) {
      return status;
    }
  }
  for (std::size_t i = first_written; i < arguments.size(); ++i) {
    if (Status status = each_tensor(*arguments[i], write); !status.ok()) {
      return status;
    }
  }
  return {};
}

/// A kernel for any operator, which writes to its last argument.
class AnyKernel final : public Kernel {
 public:
  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override {
    if (!arguments.empty() && arguments[arguments.size() - 1].is_constant) {
      return Error{ErrorCode::INVALID_PROGRAM, "it writes to a constant"};
    }
    auto call = std::make_unique<Call>();
    for (const KernelArgument& argument : arguments) {
      call->arguments.push_back(argument.value);
    }
    return std::unique_ptr<BoundKernel>(std::move(call));
  }

 private:
  struct Call final : BoundKernel {
    Status run() override {
      return touch(Span<EValue* const>(arguments), arguments.empty() ? 0 : arguments.size() - 1);
    }
    std::vector<EValue*> arguments;
  };
};

/// Has a kernel for every operator.
class AnyKernelSource final : public KernelSource {
 public:
  std::shared_ptr<Kernel> find(std::string_view) override { return kernel_; }

 private:
  std::shared_ptr<Kernel> kernel_ = std::make_shared<AnyKernel>();
};

/// A backend of any name; its delegates read everything, and write to their last argument.
class AnyBackend final : public Backend {
 public:
  explicit AnyBackend(std::string name) : name_(std::move(name)) {}

  [[nodiscard]] std::string_view id() const noexcept override { return name_; }

  [[nodiscard]] Result<std::unique_ptr<Delegate>> load(
      const DelegateDescription& description) override {
    for (const std::uint8_t byte : description.blob) {
      bytes_read += byte;
    }
    for (const CompileOption& option : description.options) {
      bytes_read += option.key.size() + option.value.size();
      bytes_read += description.named_data(option.key).has_value() ? 1u : 0u;
    }
    return std::unique_ptr<Delegate>(std::make_unique<Call>());
  }

 private:
  struct Call final : Delegate {
    Status execute(Span<EValue* const> arguments) override {
      return touch(arguments, arguments.empty() ? 0 : arguments.size() - 1);
    }
  };

  const std::string name_;
};

}  // namespace placewire::tests
