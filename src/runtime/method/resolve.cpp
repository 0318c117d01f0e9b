// Finds the kernels, backends and allocators that a method needs, before anything is allocated.
#include "method/resolve.h"

#include <algorithm>
#include <string>

#include "allocator_remedy.h"
#include "method/requirements.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

/// The ids of all backends that the method may use, and what to do if none of them is the one.
std::string known_backends(const MethodOptions& options) {
  std::vector<std::string> ids;
  for (const std::shared_ptr<Backend>& backend : options.backends) {
    if (backend != nullptr) {
      ids.push_back(printable(backend->id()));
    }
  }
  for (const std::string& id : backend_ids()) {
    ids.push_back(printable(id));
  }
  return " (known: " + joined(ids) +
         "): give one in `backends`, or to register_backend, or to placewire run with --backend";
}

/// What is missing, each thing once.
class Missing {
 public:
  void add(std::string name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      names_.push_back(std::move(name));
    }
  }

  [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

  /// `no kernel for a, b`; nothing if nothing is missing.
  void append_to(std::string& text, const char* what) const {
    if (names_.empty()) {
      return;
    }
    text += (text.empty() ? "no " : "; no ") + std::string(what) + ' ' + joined(names_);
  }

 private:
  std::vector<std::string> names_;
};

std::shared_ptr<Kernel> kernel_for(const std::string& name, const MethodOptions& options) {
  std::shared_ptr<Kernel> kernel = find_kernel(name);
  for (const std::shared_ptr<KernelSource>& source : options.kernel_sources) {
    if (kernel == nullptr && source != nullptr) {
      kernel = source->find(name);
    }
  }
  return kernel;
}

std::shared_ptr<Backend> backend_for(std::string_view id, const MethodOptions& options) {
  for (const std::shared_ptr<Backend>& backend : options.backends) {
    if (backend != nullptr && backend->id() == id) {
      return backend;
    }
  }
  return find_backend(id);
}

/// Devices that memory is needed on.
std::vector<Device> devices_needed(const Method::State& state, const DeviceChoice& choice) {
  std::vector<Device> devices;
  for (std::size_t i = 0; i < choice.buffers.size(); ++i) {
    if (state.meta.memory_planned_buffer_size(i).value() != 0) {
      devices.push_back(choice.buffers[i]);
    }
  }
  const auto values = state.meta.plan().values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (is_constant(values[i].val_as_Tensor())) {
      devices.push_back(choice.values[i]);
    }
  }
  return devices;
}

/// What a method needs and there is not.
struct MissingParts {
  Missing kernels;
  Missing backends;
  Missing allocators;

  /// All of it, with what to do; empty if nothing is missing.
  [[nodiscard]] std::string text(const MethodOptions& options) const {
    std::string text;
    kernels.append_to(text, "kernel for");
    backends.append_to(text, "backend");
    if (!backends.empty()) {
      text += known_backends(options);
    }
    allocators.append_to(text, "allocator for");
    if (!allocators.empty()) {
      text += kAllocatorRemedy;
      text += ", device_map takes another one (placewire run: --cuda, --simulate, --device-map)";
    }
    return text;
  }
};

}  // namespace

Status resolve(Method::State& state, const MethodOptions& options,
               const std::vector<Instruction>& instructions,
               const std::vector<OperatorFacts>& operators, const DeviceChoice& choice) {
  MissingParts parts;
  const auto delegates = state.meta.plan().delegates();
  state.kernels.resize(operators.size());
  state.backends.resize(delegates.size());
  for (const Instruction& instruction : instructions) {
    if (const auto call = instruction.view.instr_args_as_KernelCall()) {
      const auto index = static_cast<std::size_t>(call.op_index());
      if (state.kernels[index] == nullptr) {
        state.kernels[index] = kernel_for(operators[index].name, options);
        if (state.kernels[index] == nullptr) {
          parts.kernels.add(printable(operators[index].name));
        }
      }
    } else if (const auto delegate = instruction.view.instr_args_as_DelegateCall()) {
      const auto index = static_cast<std::size_t>(delegate.delegate_index());
      if (state.backends[index] == nullptr) {
        state.backends[index] = backend_for(delegates[index].id(), options);
        if (state.backends[index] == nullptr) {
          parts.backends.add(printable(delegates[index].id()));
        }
      }
    }
  }
  const std::vector<Device> devices = devices_needed(state, choice);
  for (const Device device : devices) {
    if (!device.is_cpu() && !find_allocator(device).ok()) {
      parts.allocators.add(to_string(device));
    }
  }
  std::string missing = parts.text(options);
  const ErrorCode code = !parts.kernels.empty() ? ErrorCode::OPERATOR_MISSING
                         : missing.empty()      ? ErrorCode::NOT_SUPPORTED
                                                : ErrorCode::NOT_FOUND;
  for (const std::string& lack : unmet_requirements(*state.program, options.device_map, devices)) {
    missing += (missing.empty() ? "" : "; ") + lack;
  }
  if (missing.empty()) {
    return {};
  }
  return Error{code, printable(state.meta.name()) + ": " + missing};
}

}  // namespace placewire
