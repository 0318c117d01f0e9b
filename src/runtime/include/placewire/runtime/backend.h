// Backends: who runs the delegates of a program, and the process-wide registry of them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/kernel.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"
#include "placewire/schema/wire.h"

namespace placewire {

/// One option that a delegate was compiled with. The texts are the program's.
struct CompileOption {
  std::string_view key;
  schema::Bytes value;
};

/// Looks up a program's named data; nothing if it has none of that name.
using NamedDataLookup = std::function<std::optional<schema::Bytes>(std::string_view key)>;

/// One delegate of a method, as a backend gets to know it at load.
struct DelegateDescription {
  /// What the backend made of the subgraph when it was exported. Belongs to the program, which
  /// outlives the delegate.
  schema::Bytes blob;
  /// In the order in which they were given. Belong to the program.
  Span<const CompileOption> options;
  /// Where it is to run: what `target_device` among the options names, after the method's
  /// `device_map`; cpu:0 if they name none.
  Device device;
  /// Valid as long as the delegate.
  NamedDataLookup named_data;
  /// The values of its first call: the inputs, then the outputs. The tensors have their memory.
  Span<const KernelArgument> arguments;
  /// Name of the method, for messages.
  std::string_view method;
};

/// A delegate that is loaded. It is destroyed before the memory of its method.
///
/// Threads: a method runs one call at a time, not necessarily always on the same thread.
class Delegate {
 public:
  Delegate() = default;
  Delegate(const Delegate&) = delete;
  Delegate& operator=(const Delegate&) = delete;
  virtual ~Delegate() = default;

  /// Computes the outputs: `arguments` are the inputs, then the outputs, as in the instruction. The
  /// tensors lie where they say; an output whose sizes may change is resized here.
  /// It must neither throw nor abort; an error ends the execution of the method.
  virtual Status execute(Span<EValue* const> arguments) = 0;
};

/// Runs the delegates whose `id` in the program is its own.
///
/// Threads: `load` may be called from any number of threads.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// The name that programs call it by, such as `placewire.torch`; always the same.
  [[nodiscard]] virtual std::string_view id() const noexcept = 0;

  /// Prepares one delegate. Errors should be DELEGATE_INVALID_COMPATIBILITY for a blob that it
  /// cannot run, DELEGATE_MEMORY_ALLOCATION_FAILED if memory ran out.
  [[nodiscard]] virtual Result<std::unique_ptr<Delegate>> load(
      const DelegateDescription& description) = 0;
};

// The registry. Backends of a method's own (MethodOptions) come before it. It shares ownership with
// methods. Threads: all functions may be called from any number of threads.

/// Registers a backend.
///
/// Errors: INVALID_ARGUMENT for null and for an empty id; REGISTRATION_ALREADY_REGISTERED if there
/// is one of that id, which then stays.
PLACEWIRE_API Status register_backend(std::shared_ptr<Backend> backend);

/// Takes a backend out of the registry, and gives it back. Errors: NOT_FOUND if there is none.
PLACEWIRE_API Result<std::shared_ptr<Backend>> unregister_backend(std::string_view id);

/// The registered backend; null if there is none.
[[nodiscard]] PLACEWIRE_API std::shared_ptr<Backend> find_backend(std::string_view id);

/// The ids of all registered backends, sorted, for messages.
[[nodiscard]] PLACEWIRE_API std::vector<std::string> backend_ids();

}  // namespace placewire
