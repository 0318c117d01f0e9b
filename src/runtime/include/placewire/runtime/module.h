// A program with its methods loaded when they are first used: the simple way to run a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/evalue.h"
#include "placewire/runtime/method.h"
#include "placewire/runtime/program.h"
#include "placewire/runtime/result.h"

namespace placewire {

/// What a caller may choose when a file is opened.
struct ModuleOptions {
  DeviceMap device_map;
  std::vector<std::shared_ptr<Backend>> backends;
  std::vector<std::shared_ptr<KernelSource>> kernel_sources;
  /// Whether all methods use the same planned memory, each buffer as large as the largest of the
  /// methods' and on the same device: for methods that share mutable buffers (a KV cache), and to
  /// save memory. Methods whose buffers of one number are on different devices are
  /// INVALID_ARGUMENT.
  bool share_memory_arenas = false;
  /// As in `MethodOptions`.
  bool prepare = true;
};

/// Methods of one program.
///
/// Threads: different methods may execute at the same time, unless they share memory; then they
/// are BUSY for each other. Loading is safe from any number of threads; while it lasts, other calls
/// of the module wait, so backends and kernels must not call the module that loads them.
class Module {
 public:
  /// Opens and validates a file; nothing is allocated for methods yet. Errors: those of
  /// `Program::open`.
  [[nodiscard]] PLACEWIRE_API static Result<std::unique_ptr<Module>> open(
      const std::string& path, ModuleOptions options = {});
  /// The same for a program that is loaded.
  [[nodiscard]] PLACEWIRE_API static std::unique_ptr<Module> create(
      std::shared_ptr<const Program> program, ModuleOptions options = {});

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  PLACEWIRE_API ~Module();

  [[nodiscard]] PLACEWIRE_API const std::shared_ptr<const Program>& program() const noexcept;

  /// The method, loaded if it is not yet. It belongs to the module. Errors: those of Method::load.
  [[nodiscard]] PLACEWIRE_API Result<Method*> method(std::string_view name);

  /// Sets all inputs, executes, and gives the outputs, which are valid until the next execution.
  /// Errors: INVALID_ARGUMENT for another number of inputs; those of the calls.
  [[nodiscard]] PLACEWIRE_API Result<std::vector<EValue>> execute(std::string_view method,
                                                                  Span<const EValue> inputs);
  /// The same for the method `forward`.
  [[nodiscard]] PLACEWIRE_API Result<std::vector<EValue>> forward(Span<const EValue> inputs);

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace placewire
