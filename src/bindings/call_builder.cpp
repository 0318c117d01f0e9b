// Makes the call of Python for one instruction, and makes it again when its arguments change.
#include "call_builder.h"

#include <algorithm>
#include <utility>

#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

bool refers_to(const EValue& value, const TensorImpl& tensor) {
  return !each_tensor(value, [&](const TensorImpl& other) { return &other != &tensor; });
}

bool is_equal(const nb::object& left, const nb::object& right) {
  if (Py_TYPE(left.ptr()) != Py_TYPE(right.ptr())) {
    return false;
  }
  const int equal = PyObject_RichCompareBool(left.ptr(), right.ptr(), Py_EQ);
  PyErr_Clear();
  return equal == 1;
}

}  // namespace

Error with_argument(Error error, std::size_t index, const OperatorArgument& argument) {
  std::string where = "argument " + std::to_string(index);
  if (!argument.name.empty()) {
    where += " (" + argument.name + ")";
  }
  error.message = where + ": " + error.message;
  return error;
}

Status CallBuilder::prepare(const CallPlan& plan) {
  converted_.resize(schema().size());
  for (std::size_t i = 0; i < schema().size(); ++i) {
    const Refresh refresh = refresh_of(i);
    if (refresh != Refresh::kNever) {
      changing_.emplace_back(i, refresh);
    }
    const Memory memory = arguments_[i].is_fixed ? Memory::kFixed : Memory::kMaybe;
    if (Status status = convert(i, Refresh::kObject, memory); !status) {
      return status;
    }
  }
  plan_ = &plan;
  return specialize() ? Status() : build_call();
}

CallBuilder::Refresh CallBuilder::refresh_of(std::size_t index) const {
  if (arguments_[index].is_fixed) {
    return Refresh::kNever;
  }
  if (!schema()[index].is_out) {
    return Refresh::kObject;
  }
  const bool is_only_written = each_tensor(*arguments_[index].value, [&](const TensorImpl& tensor) {
    for (std::size_t other = 0; other < schema().size(); ++other) {
      if (!schema()[other].is_out && refers_to(*arguments_[other].value, tensor)) {
        return false;
      }
    }
    return true;
  });
  // The elements of what is read as well must stay in sight.
  return is_only_written ? Refresh::kRoom : Refresh::kObject;
}

Status CallBuilder::convert(std::size_t index, Refresh refresh, Memory memory) {
  const OperatorArgument& argument = schema()[index];
  const EValue& value = *arguments_[index].value;
  Result<nb::object> object =
      refresh == Refresh::kRoom ? objects_.room_of(value) : objects_.object_of(value, memory);
  if (object && argument.converter.is_valid() && !object.value().is_none()) {
    nb::object made =
        nb::steal(PyObject_CallOneArg(argument.converter.ptr(), object.value().ptr()));
    object = made.is_valid() ? Result<nb::object>(std::move(made))
                             : take_exception(ErrorCode::INVALID_PROGRAM);
  }
  if (!object) {
    return with_argument(std::move(object).error(), index, argument);
  }
  converted_[index] = std::move(object).value();
  return {};
}

bool CallBuilder::specialize() {
  if (!plan_->specialize.is_valid()) {
    return false;
  }
  std::vector<PyObject*> given;
  for (const nb::object& object : converted_) {
    given.push_back(object.ptr());
  }
  const nb::object special =
      nb::steal(PyObject_Vectorcall(plan_->specialize.ptr(), given.data(), given.size(), nullptr));
  PyErr_Clear();
  if (!special.is_valid() || !PyTuple_Check(special.ptr()) ||
      PyTuple_GET_SIZE(special.ptr()) != 3) {
    return false;
  }
  call_.function = nb::borrow(PyTuple_GET_ITEM(special.ptr(), 0));
  call_.positional = nb::borrow(PyTuple_GET_ITEM(special.ptr(), 1));
  call_.keywords = nb::borrow(PyTuple_GET_ITEM(special.ptr(), 2));
  call_.tensors = objects_.fixed();
  is_special_ = true;
  return true;
}

bool CallBuilder::is_left_out(std::size_t index) const {
  const nb::object& default_value = schema()[index].default_value;
  return default_value.is_valid() && arguments_[index].is_fixed &&
         is_equal(default_value, converted_[index]);
}

nb::object CallBuilder::object_at(const Place& place) const {
  if (!place.is_tuple) {
    return converted_[place.arguments.front()];
  }
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(place.arguments.size())));
  for (std::size_t i = 0; tuple.is_valid() && i < place.arguments.size(); ++i) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i),
                     nb::object(converted_[place.arguments[i]]).release().ptr());
  }
  return tuple;
}

Status CallBuilder::build_call() {
  call_.function = plan_->function;
  call_.tensors = objects_.fixed();
  const auto count = static_cast<Py_ssize_t>(plan_->positional.size());
  call_.positional = nb::steal(PyTuple_New(count));
  for (Py_ssize_t i = 0; call_.positional.is_valid() && i < count; ++i) {
    nb::object object = object_at(plan_->positional[static_cast<std::size_t>(i)]);
    PyTuple_SET_ITEM(call_.positional.ptr(), i, object.release().ptr());
  }
  call_.keywords = nb::object();
  for (const auto& [name, place] : plan_->keywords) {
    if (!place.is_tuple && is_left_out(place.arguments.front())) {
      continue;
    }
    if (!call_.keywords.is_valid()) {
      call_.keywords = nb::steal(PyDict_New());
    }
    const nb::object object = object_at(place);
    if (!call_.keywords.is_valid() || !object.is_valid() ||
        PyDict_SetItem(call_.keywords.ptr(), name.ptr(), object.ptr()) != 0) {
      return take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
    }
  }
  return call_.positional.is_valid() ? Status()
                                     : take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
}

Status CallBuilder::refresh() {
  bool has_changed = false;
  for (const auto& [index, refresh] : changing_) {
    const PyObject* const before = given(index);
    if (Status status = convert(index, refresh, Memory::kThere); !status) {
      return status;
    }
    has_changed |= given(index) != before;
  }
  return has_changed ? build_call() : Status();
}

void CallBuilder::restore_objects() {
  call_.restore_tensors();
  for (std::size_t i = 0; i < schema().size(); ++i) {
    each_tensor(*arguments_[i].value, [this](TensorImpl& tensor) {
      objects_.view(tensor).restore();
      return true;
    });
  }
}

}  // namespace placewire::bindings
