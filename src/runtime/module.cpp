// Programs whose methods are loaded when they are first used.
#include "placewire/runtime/module.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "method/device_choice.h"
#include "method/state.h"

namespace placewire {

struct Module::State {
  State(std::shared_ptr<const Program> from, ModuleOptions with)
      : program(std::move(from)), options(std::move(with)) {}

  [[nodiscard]] Result<Method*> method(std::string_view name);
  [[nodiscard]] Result<std::shared_ptr<PlannedMemory>> shared_memory();

  const std::shared_ptr<const Program> program;
  const ModuleOptions options;
  std::mutex mutex;
  /// Null until the first method is loaded, and always unless it is shared.
  std::shared_ptr<PlannedMemory> memory;
  std::map<std::string, std::unique_ptr<Method>, std::less<>> methods;
};

/// The memory of all methods, allocated if it is not yet.
Result<std::shared_ptr<PlannedMemory>> Module::State::shared_memory() {
  if (!options.share_memory_arenas || memory != nullptr) {
    return memory;
  }
  std::vector<std::size_t> sizes;
  std::vector<Device> devices;
  std::vector<std::size_t> alignments;
  for (const std::string_view name : program->method_names()) {
    const MethodMeta meta = program->method_meta(name).value();
    const DeviceChoice choice = choose_devices(*program, meta, options.device_map);
    for (std::size_t i = 0; i < choice.buffers.size(); ++i) {
      const std::size_t size = meta.memory_planned_buffer_size(i).value();
      if (i == sizes.size()) {
        sizes.push_back(0);
        devices.push_back(choice.buffers[i]);
        alignments.push_back(0);
      }
      if (size == 0) {
        continue;
      }
      if (sizes[i] == 0) {
        devices[i] = choice.buffers[i];
      } else if (!share_memory(devices[i], choice.buffers[i])) {
        return Error{ErrorCode::INVALID_ARGUMENT,
                     "the methods cannot share memory: planned buffer " + std::to_string(i) +
                         " is on " + to_string(devices[i]) + " in one, and on " +
                         to_string(choice.buffers[i]) + " in " + std::string(name)};
      }
      sizes[i] = std::max(sizes[i], size);
      alignments[i] = std::max(alignments[i], choice.alignments[i]);
    }
  }
  Result<std::shared_ptr<PlannedMemory>> created =
      PlannedMemory::create(sizes, devices, alignments);
  if (created.ok()) {
    memory = created.value();
  }
  return created;
}

Result<Method*> Module::State::method(std::string_view name) {
  const std::lock_guard lock(mutex);
  if (const auto found = methods.find(name); found != methods.end()) {
    return found->second.get();
  }
  if (Result<MethodMeta> meta = program->method_meta(name); !meta.ok()) {
    return std::move(meta).error();
  }
  Result<std::shared_ptr<PlannedMemory>> shared = shared_memory();
  if (!shared.ok()) {
    return std::move(shared).error();
  }
  MethodOptions chosen;
  chosen.device_map = options.device_map;
  chosen.backends = options.backends;
  chosen.kernel_sources = options.kernel_sources;
  chosen.prepare = options.prepare;
  chosen.planned_memory = std::move(shared).value();
  Result<std::unique_ptr<Method>> loaded = Method::load(program, name, std::move(chosen));
  if (!loaded.ok()) {
    return std::move(loaded).error();
  }
  return methods.emplace(name, std::move(loaded).value()).first->second.get();
}

Result<std::unique_ptr<Module>> Module::open(const std::string& path, ModuleOptions options) {
  try {
    Result<std::shared_ptr<const Program>> program = Program::open(path);
    if (!program.ok()) {
      return std::move(program).error();
    }
    return create(std::move(program).value(), std::move(options));
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

std::unique_ptr<Module> Module::create(std::shared_ptr<const Program> program,
                                       ModuleOptions options) {
  return std::unique_ptr<Module>(
      new Module(std::make_unique<State>(std::move(program), std::move(options))));
}

Module::Module(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Module::~Module() = default;

const std::shared_ptr<const Program>& Module::program() const noexcept { return state_->program; }

Result<Method*> Module::method(std::string_view name) {
  try {
    return state_->method(name);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::vector<EValue>> Module::execute(std::string_view name, Span<const EValue> inputs) {
  try {
    Result<Method*> found = method(name);
    if (!found.ok()) {
      return std::move(found).error();
    }
    Method& method = *found.value();
    if (Status status = method.execute(inputs); !status.ok()) {
      return std::move(status).error();
    }
    std::vector<EValue> outputs;
    for (std::size_t i = 0; i < method.meta().output_count(); ++i) {
      outputs.push_back(*method.output(i).value());
    }
    return outputs;
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<std::vector<EValue>> Module::forward(Span<const EValue> inputs) {
  return execute("forward", inputs);
}

}  // namespace placewire
