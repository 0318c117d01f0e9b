// Modules and methods for Python: loading, inputs, execution, outputs.
#include "modules.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "errors.h"
#include "placewire/runtime/module.h"
#include "python_backend.h"
#include "python_kernels.h"
#include "tensors.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// From which device to which: type, index, type, index.
using DevicePair = std::tuple<std::int8_t, std::int8_t, std::int8_t, std::int8_t>;

/// A module as long as somebody can still execute it. What backends and delegates of Python's keep
/// of it refers to the module alone, and is let go when this goes.
class UsableModule {
 public:
  UsableModule(std::shared_ptr<Module> module, std::vector<std::shared_ptr<PythonBackend>> backends)
      : module_(std::move(module)), backends_(std::move(backends)) {
    for (const auto& backend : backends_) {
      backend->set_module(module_);
    }
  }
  UsableModule(const UsableModule&) = delete;
  UsableModule& operator=(const UsableModule&) = delete;
  ~UsableModule() {
    for (const auto& backend : backends_) {
      backend->let_go();
    }
  }

  [[nodiscard]] Module& operator*() const noexcept { return *module_; }

 private:
  std::shared_ptr<Module> module_;
  std::vector<std::shared_ptr<PythonBackend>> backends_;
};

/// A method that is loaded, and what its inputs borrow. Keeps the module usable.
struct LoadedMethod {
  std::shared_ptr<UsableModule> module;
  Method* method;
  /// By input; only those that are used where they are.
  std::map<std::size_t, BorrowedTensor> borrowed;
  /// Memory of outputs that the method does not plan.
  std::vector<TensorPtr> outputs;
};

/// Gives memory to the outputs that have none, as large as they may become.
///
/// All of it is there before the method gets any, so that a failure leaves it with none.
Status allocate_outputs(LoadedMethod& loaded) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < loaded.method->meta().output_count(); ++i) {
    const Result<const EValue*> output = loaded.method->output(i);
    if (!output.ok()) {
      return output.error();
    }
    const TensorImpl* const tensor = output.value()->tensor();
    if (tensor == nullptr || tensor->data() != nullptr) {
      continue;
    }
    Result<TensorPtr> memory =
        empty_tensor_ptr(tensor->bounds(), tensor->scalar_type(), tensor->device());
    if (!memory.ok()) {
      return std::move(memory).error();
    }
    if (memory.value()->nbytes() != 0) {
      places.push_back(i);
      loaded.outputs.push_back(std::move(memory).value());
    }
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    const TensorImpl& made = *loaded.outputs[i];
    if (Status status = loaded.method->set_output_memory(places[i], made.data(), made.nbytes());
        !status.ok()) {
      return status;
    }
  }
  return {};
}

/// The class `Method`: several of them may stand for one method.
class PythonMethod {
 public:
  explicit PythonMethod(std::shared_ptr<LoadedMethod> loaded) : loaded_(std::move(loaded)) {}

  void set_input(std::size_t index, nb::handle value) const {
    const EValue& expected = *value_or_raise(method().input(index));
    if (expected.tensor() != nullptr) {
      set_tensor(index, value, *expected.tensor());
    } else {
      set_other(index, value);
    }
  }

  void execute() const {
    const Status status = run();
    raise_if_failed(status);
  }

  [[nodiscard]] nb::object input(std::size_t index) const {
    return to_python(*value_or_raise(method().input(index)), nb::find(*this));
  }
  [[nodiscard]] nb::object output(std::size_t index) const {
    return to_python(*value_or_raise(method().output(index)), owner());
  }

  [[nodiscard]] nb::tuple planned_buffers() const {
    const PlannedMemory& memory = method().planned_memory();
    nb::list list;
    for (std::size_t i = 0; i < memory.buffer_count(); ++i) {
      list.append(nb::make_tuple(memory.size(i), static_cast<int>(memory.device(i).type),
                                 static_cast<int>(memory.device(i).index)));
    }
    return nb::tuple(list);
  }

 private:
  [[nodiscard]] Method& method() const noexcept { return *loaded_->method; }

  /// What keeps outputs alive: the method, and the inputs that it uses where they are, for an
  /// output may be one of them, and the next call brings others.
  [[nodiscard]] nb::object owner() const {
    nb::object self = nb::find(*this);
    if (loaded_->borrowed.empty()) {
      return self;
    }
    nb::list owners;
    owners.append(self);
    for (const auto& [index, borrowed] : loaded_->borrowed) {
      owners.append(borrowed.owner);
    }
    return std::move(owners);
  }

  [[nodiscard]] Status run() const {
    const nb::gil_scoped_release unlocked;
    return method().execute();
  }

  void set_tensor(std::size_t index, nb::handle value, const TensorImpl& expected) const {
    Result<BorrowedTensor> borrowed = borrow_tensor(value, expected);
    if (!borrowed.ok()) {
      raise({borrowed.error().code,
             "input " + std::to_string(index) + ": " + borrowed.error().message});
    }
    raise_if_failed(method().set_input(index, EValue(borrowed.value().tensor.get())));
    const ValueMeta meta = value_or_raise(method().meta().input(index));
    if (meta.tensor && !meta.tensor->is_memory_planned) {
      loaded_->borrowed[index] = std::move(borrowed).value();
    }
  }

  void set_other(std::size_t index, nb::handle value) const {
    if (value.is_none()) {
      raise_if_failed(method().set_input(index, EValue()));
    } else if (PyBool_Check(value.ptr())) {
      raise_if_failed(method().set_input(index, EValue(nb::cast<bool>(value))));
    } else if (PyLong_Check(value.ptr())) {
      std::int64_t number = 0;
      if (!nb::try_cast(value, number)) {
        raise({ErrorCode::INVALID_ARGUMENT,
               "input " + std::to_string(index) + ": the integer has more than 64 bits"});
      }
      raise_if_failed(method().set_input(index, EValue(number)));
    } else if (PyFloat_Check(value.ptr())) {
      raise_if_failed(method().set_input(index, EValue(nb::cast<double>(value))));
    } else if (PyUnicode_Check(value.ptr())) {
      std::string_view text;
      if (!nb::try_cast(value, text)) {
        raise({ErrorCode::INVALID_ARGUMENT,
               "input " + std::to_string(index) + ": UTF-8 cannot hold the string"});
      }
      raise_if_failed(method().set_input(index, EValue(text)));
    } else {
      raise({ErrorCode::INVALID_TYPE, "input " + std::to_string(index) +
                                          ": a number, a string or "
                                          "None is expected, not " +
                                          std::string(nb::type_name(value.type()).c_str())});
    }
  }

  std::shared_ptr<LoadedMethod> loaded_;
};

/// The class `Module`.
class PythonModule {
 public:
  PythonModule(std::shared_ptr<const Program> program, const std::vector<DevicePair>& device_map,
               const std::vector<nb::object>& backends,
               const std::vector<nb::object>& kernel_sources, bool share_memory_arenas,
               bool prepare) {
    ModuleOptions options;
    for (const auto& [from_type, from_index, to_type, to_index] : device_map) {
      options.device_map.emplace_back(Device{static_cast<DeviceType>(from_type), from_index},
                                      Device{static_cast<DeviceType>(to_type), to_index});
    }
    std::vector<std::shared_ptr<PythonBackend>> from_python;
    for (const nb::object& backend : backends) {
      from_python.push_back(std::make_shared<PythonBackend>(backend));
    }
    options.backends.assign(from_python.begin(), from_python.end());
    for (const nb::object& source : kernel_sources) {
      options.kernel_sources.push_back(kernel_source_of(source));
    }
    options.share_memory_arenas = share_memory_arenas;
    options.prepare = prepare;
    module_ = std::make_shared<UsableModule>(Module::create(std::move(program), std::move(options)),
                                             std::move(from_python));
  }

  [[nodiscard]] PythonMethod method(std::string_view name) {
    const auto found = methods_.find(name);
    if (found != methods_.end()) {
      return PythonMethod(found->second);
    }
    const auto loaded =
        std::make_shared<LoadedMethod>(LoadedMethod{module_, value_or_raise(load(name)), {}, {}});
    raise_if_failed(allocate_outputs(*loaded));
    // Another thread may have been here meanwhile, and then the first one's counts.
    return PythonMethod(methods_.emplace(std::string(name), loaded).first->second);
  }

 private:
  [[nodiscard]] Result<Method*> load(std::string_view name) const {
    const nb::gil_scoped_release unlocked;
    return (**module_).method(name);
  }

  std::shared_ptr<UsableModule> module_;
  std::map<std::string, std::shared_ptr<LoadedMethod>, std::less<>> methods_;
};

}  // namespace

void bind_modules(nb::module_& module) {
  bind_backends(module);
  nb::class_<PythonMethod>(module, "Method")
      .def("set_input", &PythonMethod::set_input, nb::arg("index"), nb::arg("value").none())
      .def("execute", &PythonMethod::execute)
      .def("input", &PythonMethod::input, nb::arg("index"))
      .def("output", &PythonMethod::output, nb::arg("index"))
      .def_prop_ro("planned_buffers", &PythonMethod::planned_buffers);
  nb::class_<PythonModule>(module, "Module")
      .def(nb::init<std::shared_ptr<const Program>, const std::vector<DevicePair>&,
                    const std::vector<nb::object>&, const std::vector<nb::object>&, bool, bool>(),
           nb::arg("program"), nb::arg("device_map"), nb::arg("backends"),
           nb::arg("kernel_sources"), nb::arg("share_memory_arenas"), nb::arg("prepare"))
      .def("method", &PythonModule::method, nb::arg("name"));
}

}  // namespace placewire::bindings
