// Kernels: the code behind operators, and the process-wide registry in which methods find it.
//
// A kernel is bound once for each call of a method, when the method is loaded, and then run once
// for each execution. Who has a plain function registers it with `function_kernel`; who can prepare
// something per call (convert arguments, look a variant up) derives from Kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "placewire/runtime/api.h"
#include "placewire/runtime/evalue.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"

namespace placewire {

/// One argument of a kernel call: the value, and what is known of it when the method is loaded.
struct KernelArgument {
  /// Never null; lives as long as the method.
  EValue* value = nullptr;
  /// Whether nothing about it changes from one execution to the next but the elements of a tensor:
  /// not what the value refers to, not the tensor's sizes, not where its data lies.
  bool is_fixed = false;
  /// Whether its elements never change either, because it is a constant of the program, or computed
  /// from constants; then they are there when the call is run. A kernel must not write to it, nor
  /// to any other tensor that is read-only when the kernel runs.
  bool is_constant = false;
};

/// A lock that calls of kernels need, such as an interpreter's. A method takes it once for a
/// stretch of calls that need the same one.
///
/// Threads: any number; a thread may take it again while it has it.
class KernelLock {
 public:
  KernelLock() = default;
  KernelLock(const KernelLock&) = delete;
  KernelLock& operator=(const KernelLock&) = delete;
  virtual ~KernelLock() = default;

  /// Waits for the lock; what it gives belongs to the `release` of the same thread.
  [[nodiscard]] virtual int acquire() noexcept = 0;
  virtual void release(int acquired) noexcept = 0;
};

/// One call of a kernel, ready to run.
///
/// Threads: a method runs its calls one after the other, not necessarily always on the same thread.
class BoundKernel {
 public:
  BoundKernel() = default;
  BoundKernel(const BoundKernel&) = delete;
  BoundKernel& operator=(const BoundKernel&) = delete;
  virtual ~BoundKernel() = default;

  /// Computes. It must neither throw nor abort; an error ends the execution of the method.
  virtual Status run() = 0;

  /// The lock that whoever calls `run` must have; always the same. It outlives the kernel. Default:
  /// none.
  [[nodiscard]] virtual KernelLock* lock() const noexcept { return nullptr; }
};

/// The code behind an operator.
///
/// Threads: `bind` may be called from any number of threads.
class Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;

  /// Prepares one call. `arguments` are those of the instruction: every argument of the operator's
  /// schema in order, then what it returns (for an out variant: the out arguments again, several as
  /// one list). They are checked here, so that what a file gets wrong is an error at load.
  [[nodiscard]] virtual Result<std::unique_ptr<BoundKernel>> bind(
      Span<const KernelArgument> arguments) = 0;

  /// Whether equal arguments always give the same results, and nothing else happens: not so if it
  /// draws random numbers, counts, or prints. A call of a pure kernel whose arguments are all
  /// constant is computed once, when the method is first executed. Default: no.
  [[nodiscard]] virtual bool is_pure() const noexcept { return false; }

  /// Whether it may write to more than its name tells: an out variant to other arguments than those
  /// that it returns, an operator that works in place (`add_`) to others than the first. What such
  /// a kernel gets is not prepared. Default: no.
  [[nodiscard]] virtual bool writes_inputs() const noexcept { return false; }
};

/// A kernel that is a function of the instruction's values, called at each execution.
using KernelFunction = std::function<Status(Span<EValue* const> arguments)>;

/// Makes a kernel of a function. `argument_count` is how many arguments a call must have, the
/// returned values included; other calls fail at load with INVALID_PROGRAM.
[[nodiscard]] PLACEWIRE_API std::shared_ptr<Kernel> function_kernel(std::size_t argument_count,
                                                                    KernelFunction function);

/// Kernels for operators that are not registered one by one, such as all of a library's.
///
/// Threads: `find` may be called from any number of threads.
class KernelSource {
 public:
  KernelSource() = default;
  KernelSource(const KernelSource&) = delete;
  KernelSource& operator=(const KernelSource&) = delete;
  virtual ~KernelSource() = default;

  /// The kernel for an operator, named as in the registry; null if this source has none.
  [[nodiscard]] virtual std::shared_ptr<Kernel> find(std::string_view name) = 0;
};

// The registry. Operators are named `namespace::name.overload`, such as `aten::add.out`; without an
// overload `namespace::name`. What comes with the core is registered from the start: the copies
// between devices, `placewire::require` and ExecuTorch's `executorch_prim::*`.
// It shares ownership with methods: a kernel lives until it is unregistered and no method uses it.
// Threads: all functions may be called from any number of threads.

/// Registers a kernel.
///
/// Errors: INVALID_ARGUMENT for null and for an empty name; REGISTRATION_ALREADY_REGISTERED if the
/// operator has one, which then stays.
PLACEWIRE_API Status register_kernel(std::string name, std::shared_ptr<Kernel> kernel);

/// Takes a kernel out of the registry, and gives it back. Scoped kernels are not touched.
///
/// Errors: NOT_FOUND if none is registered.
PLACEWIRE_API Result<std::shared_ptr<Kernel>> unregister_kernel(std::string_view name);

/// The kernel for an operator: that of the youngest scope, else the registered one; null if there
/// is none.
[[nodiscard]] PLACEWIRE_API std::shared_ptr<Kernel> find_kernel(std::string_view name);

/// `aten::add.out`; the overload may be empty.
[[nodiscard]] PLACEWIRE_API std::string kernel_name(std::string_view name,
                                                    std::string_view overload);

/// Puts a kernel before the registered one, for as long as the object lives.
///
/// Scopes may end in any order. Moving hands the scope over; a moved-from object has none.
class ScopedKernel {
 public:
  /// Errors: INVALID_ARGUMENT for null and for an empty name.
  [[nodiscard]] PLACEWIRE_API static Result<ScopedKernel> install(std::string name,
                                                                  std::shared_ptr<Kernel> kernel);

  ScopedKernel(const ScopedKernel&) = delete;
  ScopedKernel& operator=(const ScopedKernel&) = delete;
  PLACEWIRE_API ScopedKernel(ScopedKernel&& other) noexcept;
  PLACEWIRE_API ScopedKernel& operator=(ScopedKernel&& other) noexcept;
  PLACEWIRE_API ~ScopedKernel();

 private:
  ScopedKernel(std::string name, std::uint64_t scope) noexcept
      : name_(std::move(name)), scope_(scope) {}

  std::string name_;
  /// Number of the scope in the registry; 0 is none.
  std::uint64_t scope_;
};

}  // namespace placewire
