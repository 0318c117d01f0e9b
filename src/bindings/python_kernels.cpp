// Kernels whose code is Python's: torch's operators, and functions that users register.
#include "python_kernels.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "argument_types.h"
#include "bound_call.h"
#include "errors.h"
#include "interpreter_lock.h"
#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

bool is_list(const EValue& value) {
  return value.get_if<IntList>() != nullptr || value.get_if<TensorList>() != nullptr ||
         value.get_if<OptionalTensorList>() != nullptr ||
         value.get_if<Span<const double>>() != nullptr ||
         value.get_if<Span<const bool>>() != nullptr;
}

bool is_of_kind(const EValue& value, const OperatorArgument& argument) {
  if (value.is_none()) {
    return argument.is_optional;
  }
  switch (argument.kind) {
    case ArgumentKind::kTensor:
      return value.tensor() != nullptr;
    case ArgumentKind::kList:
      return is_list(value);
    case ArgumentKind::kScalar:
      return value.tensor() == nullptr && !is_list(value);
    case ArgumentKind::kAny:
      return true;
  }
  return false;
}

const char* name_of(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::kTensor:
      return "a tensor";
    case ArgumentKind::kList:
      return "a list";
    default:
      return "a number or a string";
  }
}

/// Whether an out variant returns what it writes: one argument, or a list of them all.
bool returns_outs(const PythonOperator& description, Span<const KernelArgument> arguments) {
  const std::vector<OperatorArgument>& wanted = description.arguments;
  std::vector<const EValue*> outs;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is_out) {
      outs.push_back(arguments[i].value);
    }
  }
  const EValue* const returned = arguments[arguments.size() - 1].value;
  const auto* const list = returned->get_if<TensorList>();
  return outs.empty() || (outs.size() == 1 && outs.front() == returned) ||
         (list != nullptr &&
          std::equal(outs.begin(), outs.end(), list->items.begin(), list->items.end()));
}

Status check_arguments(const PythonOperator& description, Span<const KernelArgument> arguments) {
  const std::vector<OperatorArgument>& wanted = description.arguments;
  const std::size_t count = wanted.size() + 1;
  // Operators that write a list return nothing; exporters repeat the list all the same.
  const bool returns_nothing = description.returns == 0 && arguments.size() == wanted.size();
  if (arguments.size() != count && !returns_nothing) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "it has " + std::to_string(arguments.size()) + " arguments; " + description.name +
                     " takes " + std::to_string(count) + ", what it returns included"};
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_of_kind(*arguments[i].value, wanted[i])) {
      return Error{ErrorCode::INVALID_PROGRAM,
                   "argument " + std::to_string(i) + " (" + wanted[i].name + ") is " +
                       describe(*arguments[i].value) + "; it must be " + name_of(wanted[i].kind)};
    }
  }
  if (description.returns != 0 && !returns_outs(description, arguments)) {
    return Error{
        ErrorCode::INVALID_PROGRAM,
        "what it returns is not what it writes; the last argument must be the out argument, "
        "or a list of all"};
  }
  return {};
}

/// Whether the value that is returned is this argument, or one of several that are.
bool is_returned(const EValue* argument, const EValue* returned) {
  if (argument == returned) {
    return true;
  }
  const auto* const list = returned->get_if<TensorList>();
  return list != nullptr && std::count(list->items.begin(), list->items.end(), argument) != 0;
}

/// What a function without a schema takes: whatever the instruction has, but for what it returns.
///
/// An argument that is also returned is an out argument.
PythonOperator with_arguments(const PythonOperator& function, Span<const KernelArgument> given) {
  PythonOperator result = function;
  const std::size_t count = given.empty() ? 0 : given.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    OperatorArgument argument;
    argument.is_out = is_returned(given[i].value, given[count].value);
    argument.is_written = argument.is_out;
    result.arguments.push_back(std::move(argument));
    result.changing_call.positional.push_back({{i}, false});
  }
  result.fixed_call = result.changing_call;
  return result;
}

class PythonKernel final : public Kernel {
 public:
  explicit PythonKernel(PythonOperator description)
      : operator_(std::in_place, std::make_shared<const PythonOperator>(std::move(description))) {}

  [[nodiscard]] bool is_pure() const noexcept override { return (*operator_)->is_pure; }
  [[nodiscard]] bool writes_inputs() const noexcept override { return (*operator_)->writes_inputs; }

  Result<std::unique_ptr<BoundKernel>> bind(Span<const KernelArgument> arguments) override {
    // Nothing here makes or frees a Python object, unless the operator has no schema.
    std::shared_ptr<const PythonOperator> description = *operator_;
    if (!description->has_schema) {
      const InterpreterLock lock;
      description = std::make_shared<const PythonOperator>(with_arguments(*description, arguments));
    }
    if (Status status = check_arguments(*description, arguments); !status) {
      return std::move(status).error();
    }
    auto bound = std::make_unique<BoundCall>(std::move(description), arguments);
    if (Status status = bound->check(); !status) {
      return std::move(status).error();
    }
    return std::unique_ptr<BoundKernel>(std::move(bound));
  }

 private:
  HeldByCore<std::shared_ptr<const PythonOperator>> operator_;
};

/// A source whose operators a function of Python's describes.
class PythonKernelSource final : public KernelSource {
 public:
  explicit PythonKernelSource(nb::callable find)
      : content_(std::in_place, Content{std::move(find), {}}) {}

  std::shared_ptr<Kernel> find(std::string_view name) override {
    const InterpreterLock lock;
    std::string key(name);
    const auto known = content_->kernels.find(key);
    if (known != content_->kernels.end()) {
      return known->second;
    }
    std::shared_ptr<Kernel> kernel;
    try {
      const nb::object description = content_->find(key);
      if (!description.is_none()) {
        kernel = python_kernel(read_operator(key, description));
      }
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("placewire.KernelSource.find");  // to its caller there is none
      return nullptr;
    }
    return content_->kernels.emplace(std::move(key), std::move(kernel)).first->second;
  }

 private:
  struct Content {
    nb::callable find;
    std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels;
  };
  HeldByCore<Content> content_;
};

/// `_runtime.KernelSource`: a source as an object of Python's.
struct SourceObject {
  explicit SourceObject(nb::handle find)
      : source(std::make_shared<PythonKernelSource>(checked_function(find))) {}
  std::shared_ptr<PythonKernelSource> source;

  [[nodiscard]] bool has(nb::handle name) const {
    return source->find(text_argument("name", name)) != nullptr;
  }

 private:
  static nb::callable checked_function(nb::handle find) {
    if (PyCallable_Check(find.ptr()) == 0) {
      raise({ErrorCode::INVALID_TYPE, "find is " + described(find) +
                                          "; expected a function that takes the name of an "
                                          "operator, and gives what calls it, or None"});
    }
    return nb::borrow<nb::callable>(find);
  }
};

std::shared_ptr<Kernel> function_of(std::string name, nb::callable function, bool torch) {
  PythonOperator description;
  description.name = std::move(name);
  description.has_schema = false;
  description.library = torch ? ArrayLibrary::kTorch : ArrayLibrary::kNumpy;
  description.changing_call.function = std::move(function);
  return python_kernel(std::move(description));
}

/// A kernel of Python's that is in the registry as long as it is entered.
class KernelScope {
 public:
  KernelScope(std::string name, nb::callable function, bool torch)
      : name_(std::move(name)), kernel_(function_of(name_, std::move(function), torch)) {}

  void install() {
    if (scope_) {
      raise({ErrorCode::INVALID_STATE, "this kernel for " + name_ + " is installed already"});
    }
    scope_.emplace(value_or_raise(ScopedKernel::install(name_, kernel_)));
  }
  void remove() { scope_.reset(); }

 private:
  std::string name_;
  std::shared_ptr<Kernel> kernel_;
  std::optional<ScopedKernel> scope_;
};

}  // namespace

std::shared_ptr<Kernel> python_kernel(PythonOperator operator_) {
  return std::make_shared<PythonKernel>(std::move(operator_));
}

std::shared_ptr<KernelSource> kernel_source_of(nb::handle source) {
  return nb::cast<SourceObject&>(source).source;
}

void bind_kernels(nb::module_& module) {
  nb::class_<SourceObject>(module, "KernelSource")
      .def(nb::init<nb::handle>(), nb::arg("find").none())
      .def("has", &SourceObject::has, nb::arg("name").none())
      .def("__reduce_ex__", [](nb::handle self, nb::handle /*protocol*/) {
        refuse_copy(self, "make another one of the same function");
      });
  nb::class_<KernelScope>(module, "KernelScope")
      .def(nb::init<std::string, nb::callable, bool>(), nb::arg("name"), nb::arg("function"),
           nb::arg("torch"))
      .def("install", &KernelScope::install)
      .def("remove", &KernelScope::remove);
  module.def(
      "register_kernel",
      [](std::string name, nb::callable function, bool torch) {
        std::shared_ptr<Kernel> kernel = function_of(name, std::move(function), torch);
        raise_if_failed(register_kernel(std::move(name), std::move(kernel)));
      },
      nb::arg("name"), nb::arg("function"), nb::arg("torch"));
  module.def(
      "unregister_kernel", [](std::string_view name) { value_or_raise(unregister_kernel(name)); },
      nb::arg("name"));
}

}  // namespace placewire::bindings
