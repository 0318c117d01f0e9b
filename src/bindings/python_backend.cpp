// A backend that is written in Python.
#include "python_backend.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <exception>
#include <utility>
#include <vector>

#include "argument_types.h"
#include "python_exceptions.h"
#include "tensors.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

/// Keeps a module alive for Python objects that point into it.
struct ModuleOwner {
  std::shared_ptr<Module> module;
};

/// What Python sees of a DelegateDescription. It is a copy, but for the blob and the named data,
/// which stay in the program.
struct PythonDescription {
  nb::object owner;
  schema::Bytes blob;
  nb::tuple options;
  Device device;
  NamedDataLookup named_data;
  nb::tuple arguments;
  std::string method;
};

/// A read-only view of bytes of the program.
nb::object view_of(schema::Bytes bytes, const nb::object& owner) {
  const std::size_t size = bytes.size();
  const nb::ndarray<const std::uint8_t, nb::memview> view(bytes.data(), 1, &size, owner);
  return nb::cast(view, nb::rv_policy::reference);
}

nb::object named_data_of(const PythonDescription& self, nb::handle key) {
  const auto data = self.named_data(text_argument("key", key));
  return data ? view_of(*data, self.owner) : nb::none();
}

nb::tuple options_of(const DelegateDescription& description) {
  nb::list options;
  for (const CompileOption& option : description.options) {
    options.append(nb::make_tuple(nb::str(option.key.data(), option.key.size()),
                                  nb::bytes(option.value.data(), option.value.size())));
  }
  return nb::tuple(options);
}

/// The delegate that a Python backend has loaded.
class PythonDelegate final : public Delegate {
 public:
  PythonDelegate(std::shared_ptr<nb::object> execute, std::weak_ptr<Module> module)
      : execute_(std::move(execute)), module_(std::move(module)) {}
  ~PythonDelegate() override {
    const nb::gil_scoped_acquire lock;
    execute_->reset();
  }

  Status execute(Span<EValue* const> arguments) override {
    const nb::gil_scoped_acquire lock;
    const nb::object function = *execute_;
    if (!function.is_valid()) {
      return Error{ErrorCode::INVALID_STATE, "the module that loaded the delegate is gone"};
    }
    try {
      const nb::object owner = nb::cast(ModuleOwner{module_.lock()});
      nb::list list;
      for (const EValue* const argument : arguments) {
        list.append(to_python(*argument, owner));
      }
      function(nb::tuple(list));
    } catch (nb::python_error& exception) {
      exception.restore();
      return take_exception(ErrorCode::INTERNAL);
    } catch (const std::exception& exception) {
      return Error{ErrorCode::INTERNAL, exception.what()};
    }
    return {};
  }

 private:
  std::shared_ptr<nb::object> execute_;
  std::weak_ptr<Module> module_;
};

}  // namespace

PythonBackend::PythonBackend(nb::object backend)
    : backend_(std::move(backend)), id_(nb::cast<std::string>(backend_.attr("id"))) {}

PythonBackend::~PythonBackend() {
  const nb::gil_scoped_acquire lock;
  backend_.reset();
}

void PythonBackend::let_go() {
  for (const auto& function : functions_) {
    function->reset();
  }
  backend_.reset();
}

Result<std::unique_ptr<Delegate>> PythonBackend::load(const DelegateDescription& description) {
  const nb::gil_scoped_acquire lock;
  const nb::object backend = backend_;
  if (!backend.is_valid()) {
    return Error{ErrorCode::INVALID_STATE, "the module that the backend was for is gone"};
  }
  try {
    const nb::object owner = nb::cast(ModuleOwner{module_.lock()});
    nb::list arguments;
    for (const KernelArgument& argument : description.arguments) {
      arguments.append(to_python(*argument.value, owner));
    }
    const PythonDescription seen{owner,
                                 description.blob,
                                 options_of(description),
                                 description.device,
                                 description.named_data,
                                 nb::tuple(arguments),
                                 std::string(description.method)};
    const nb::object delegate = backend.attr("load")(seen);
    const nb::object execute = nb::getattr(delegate, "execute", nb::none());
    if (PyCallable_Check(execute.ptr()) == 0) {
      return Error{ErrorCode::INVALID_TYPE,
                   "load gave " + described(delegate) +
                       "; expected a delegate, which is an object with execute(arguments)"};
    }
    const auto& function = functions_.emplace_back(std::make_shared<nb::object>(execute));
    return std::unique_ptr<Delegate>(std::make_unique<PythonDelegate>(function, module_));
  } catch (nb::python_error& exception) {
    exception.restore();
    // A backend that refuses a version says so by raising a DelegateVersionError.
    return take_exception(ErrorCode::INTERNAL);
  } catch (const std::exception& exception) {
    return Error{ErrorCode::INTERNAL, exception.what()};
  }
}

void bind_backends(nb::module_& module) {
  nb::class_<ModuleOwner>(module, "_ModuleOwner");
  nb::class_<PythonDescription>(module, "DelegateDescription")
      .def_prop_ro("blob",
                   [](const PythonDescription& self) { return view_of(self.blob, self.owner); })
      .def_ro("options", &PythonDescription::options)
      .def_prop_ro("device_type",
                   [](const PythonDescription& self) { return static_cast<int>(self.device.type); })
      .def_prop_ro(
          "device_index",
          [](const PythonDescription& self) { return static_cast<int>(self.device.index); })
      .def_prop_ro("device",
                   [](const PythonDescription& self) { return device_object(self.device); })
      .def("named_data", &named_data_of, nb::arg("key").none())
      .def_ro("arguments", &PythonDescription::arguments)
      .def_ro("method", &PythonDescription::method)
      .def("__reduce_ex__", [](nb::handle self, nb::handle /*protocol*/) {
        refuse_copy(self, "a backend gets another one when a method is loaded");
      });
}

}  // namespace placewire::bindings
