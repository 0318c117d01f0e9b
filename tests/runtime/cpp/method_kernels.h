// Kernels for the tests of methods: operators on floats on the CPU, written for nothing else.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include "placewire/runtime/kernel.h"

namespace testing {

using placewire::BoundKernel;
using placewire::Error;
using placewire::ErrorCode;
using placewire::EValue;
using placewire::Kernel;
using placewire::KernelArgument;
using placewire::Result;
using placewire::ScopedKernel;
using placewire::Span;
using placewire::Status;
using placewire::TensorImpl;

/// A kernel that is a function of tensors, counts what becomes of it, and is pure if it is told so.
class TestKernel final : public Kernel {
 public:
  using Function = Status (*)(Span<EValue* const> arguments);

  TestKernel(Function function, bool is_pure) : function_(function), is_pure_(is_pure) {}

  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override {
    ++bindings;
    last_fixed = 0;
    last_constant = 0;
    for (const KernelArgument& argument : arguments) {
      last_fixed += argument.is_fixed ? 1 : 0;
      last_constant += argument.is_constant ? 1 : 0;
    }
    return std::unique_ptr<BoundKernel>(new Bound(*this, arguments));
  }

  [[nodiscard]] bool is_pure() const noexcept override { return is_pure_; }

  int bindings = 0;
  int runs = 0;
  /// The run that fails, counted from 1.
  int failing_run = 0;
  /// Of the last binding: how many arguments were fixed, how many constant.
  int last_fixed = 0;
  int last_constant = 0;

 private:
  class Bound final : public BoundKernel {
   public:
    Bound(TestKernel& kernel, Span<const KernelArgument> arguments) : kernel_(kernel) {
      for (const KernelArgument& argument : arguments) {
        if (count_ < kMost) values_[count_++] = argument.value;
      }
    }

    Status run() override {
      if (++kernel_.runs == kernel_.failing_run) {
        return Error{ErrorCode::INTERNAL, "it was told to fail"};
      }
      return kernel_.function_(Span<EValue* const>(values_, count_));
    }

   private:
    static constexpr std::size_t kMost = 8;
    TestKernel& kernel_;
    EValue* values_[kMost] = {};
    std::size_t count_ = 0;
  };

  Function function_;
  bool is_pure_;
};

inline float* floats(const EValue* value) { return static_cast<float*>(value->tensor()->data()); }

/// left + right, alpha, out, out.
inline Status add(Span<EValue* const> arguments) {
  const TensorImpl& left = *arguments[0]->tensor();
  TensorImpl& out = *arguments[3]->tensor();
  if (Status status = out.resize(left.sizes()); !status.ok()) return status;
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    floats(arguments[3])[i] = floats(arguments[0])[i] + floats(arguments[1])[i];
  }
  return {};
}

/// left * right, out, out.
inline Status multiply(Span<EValue* const> arguments) {
  for (std::int64_t i = 0; i < arguments[2]->tensor()->numel(); ++i) {
    floats(arguments[2])[i] = floats(arguments[0])[i] * floats(arguments[1])[0];
  }
  return {};
}

/// source, sizes, out, out.
inline Status view_copy(Span<EValue* const> arguments) {
  std::memcpy(floats(arguments[2]), floats(arguments[0]), arguments[0]->tensor()->nbytes());
  return {};
}

/// destination, source, non_blocking, destination.
inline Status copy(Span<EValue* const> arguments) {
  std::memcpy(floats(arguments[0]), floats(arguments[1]), arguments[0]->tensor()->nbytes());
  return {};
}

/// source, out, out: another number each time.
inline Status clock(Span<EValue* const> arguments) {
  static float now = 0;
  ++now;
  for (std::int64_t i = 0; i < arguments[1]->tensor()->numel(); ++i) floats(arguments[1])[i] = now;
  return {};
}

/// A kernel that is registered while the object lives.
class Registered {
 public:
  Registered(const char* name, TestKernel::Function function, bool is_pure = true)
      : kernel(std::make_shared<TestKernel>(function, is_pure)),
        scope_(ScopedKernel::install(name, kernel).value()) {}

  std::shared_ptr<TestKernel> kernel;

 private:
  ScopedKernel scope_;
};

/// All of the above.
struct Kernels {
  Registered add{"aten::add.out", &testing::add};
  Registered multiply{"aten::mul.out", &testing::multiply};
  Registered view_copy{"aten::view_copy.out", &testing::view_copy};
  Registered copy{"aten::copy_", &testing::copy, false};
  Registered clock{"test::clock.out", &testing::clock, false};
};

}  // namespace testing
