// Arguments of a call, turned into what Python gets.
#include "call_arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

nb::object borrowed(const Result<PyObject*>& object) { return nb::borrow(object.value()); }

}  // namespace

template <typename List, typename Convert>
Result<nb::object> ArgumentObjects::list_of(const List& list, const Convert& convert) {
  nb::object result = nb::steal(PyList_New(static_cast<Py_ssize_t>(list.size())));
  for (std::size_t i = 0; result.is_valid() && i < list.size(); ++i) {
    Result<nb::object> item = convert(list[i]);
    if (!item) {
      return item;
    }
    PyList_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), item.value().release().ptr());
  }
  return result.is_valid() ? Result<nb::object>(std::move(result))
                           : take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
}

TensorView& ArgumentObjects::view(TensorImpl& tensor) {
  const auto is_its = [&](const auto& view) { return &view->tensor() == &tensor; };
  const auto found = std::find_if(views_.begin(), views_.end(), is_its);
  return found != views_.end() ? **found : *views_.emplace_back(view_of(library_, tensor));
}

Result<nb::object> ArgumentObjects::tensor_object(TensorImpl& tensor, Memory memory) {
  if (memory == Memory::kMaybe && tensor.data() == nullptr && tensor.numel() != 0) {
    return nb::object(nb::none());
  }
  // Functions of users could do anything with a tensor that others have, too.
  const bool shares = library_ == ArrayLibrary::kTorchInference;
  if (memory == Memory::kFixed && shares && tensor.is_static() && tensor.data() != nullptr) {
    Result<std::shared_ptr<FixedTensor>> fixed = FixedTensor::of(tensor);
    if (!fixed) {
      return std::move(fixed).error();
    }
    if (std::find(fixed_.begin(), fixed_.end(), fixed.value()) == fixed_.end()) {
      fixed_.push_back(fixed.value());
    }
    return nb::borrow(fixed.value()->object());
  }
  const Result<PyObject*> object = view(tensor).object();
  return object ? Result<nb::object>(borrowed(object)) : object.error();
}

Result<nb::object> ArgumentObjects::tensor_room(TensorImpl& tensor) {
  if (tensor.is_static()) {
    return tensor_object(tensor, Memory::kThere);
  }
  if (library_ != ArrayLibrary::kNumpy) {
    const Result<PyObject*> object = view(tensor).empty_object();
    return object ? Result<nb::object>(borrowed(object)) : object.error();
  }
  if (Status status = tensor.resize(tensor.bounds()); !status) {
    return std::move(status).error();
  }
  return tensor_object(tensor, Memory::kThere);
}

Result<nb::object> ArgumentObjects::object_of(const EValue& value, Memory memory) {
  const auto item_object = [&](const EValue* item) -> Result<nb::object> {
    return item == nullptr ? nb::object(nb::none()) : object_of(*item, memory);
  };
  const auto number_object = [](auto item) -> Result<nb::object> {
    nb::object number = scalar_object(EValue(item));
    return number.is_valid() ? Result<nb::object>(std::move(number))
                             : take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
  };
  if (TensorImpl* const tensor = value.tensor()) {
    return tensor_object(*tensor, memory);
  }
  if (const auto* const list = value.get_if<IntList>()) {
    return list_of(list->items, item_object);
  }
  if (const auto* const list = value.get_if<TensorList>()) {
    return list_of(list->items, item_object);
  }
  if (const auto* const list = value.get_if<OptionalTensorList>()) {
    return list_of(list->items, item_object);
  }
  if (const auto* const list = value.get_if<Span<const double>>()) {
    return list_of(*list, number_object);
  }
  if (const auto* const list = value.get_if<Span<const bool>>()) {
    return list_of(*list, number_object);
  }
  nb::object scalar = scalar_object(value);
  return scalar.is_valid() ? Result<nb::object>(std::move(scalar))
                           : take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
}

Result<nb::object> ArgumentObjects::room_of(const EValue& value) {
  if (TensorImpl* const tensor = value.tensor()) {
    return tensor_room(*tensor);
  }
  if (const auto* const list = value.get_if<TensorList>()) {
    return list_of(list->items, [&](const EValue* item) { return room_of(*item); });
  }
  return object_of(value, Memory::kThere);
}

nb::object scalar_object(const EValue& value) {
  if (value.is_none()) {
    return nb::none();
  }
  if (const auto* const number = value.get_if<std::int64_t>()) {
    return nb::steal(PyLong_FromLongLong(*number));
  }
  if (const auto* const truth = value.get_if<bool>()) {
    return nb::borrow(*truth ? Py_True : Py_False);
  }
  if (const auto* const number = value.get_if<double>()) {
    return nb::steal(PyFloat_FromDouble(*number));
  }
  if (const auto* const text = value.get_if<std::string_view>()) {
    return nb::steal(
        PyUnicode_FromStringAndSize(text->data(), static_cast<Py_ssize_t>(text->size())));
  }
  return {};
}

Result<EValue> value_of_number(PyObject* number) {
  if (PyBool_Check(number)) {
    return EValue(number == Py_True);
  }
  if (PyFloat_Check(number)) {
    return EValue(PyFloat_AS_DOUBLE(number));
  }
  if (PyLong_Check(number)) {
    const long long value = PyLong_AsLongLong(number);
    if (value == -1 && PyErr_Occurred() != nullptr) {
      return take_exception(ErrorCode::INVALID_ARGUMENT);
    }
    return EValue(static_cast<std::int64_t>(value));
  }
  return Error{ErrorCode::INVALID_TYPE, std::string("it returned a ") + Py_TYPE(number)->tp_name +
                                            ", not a bool, int or float of Python's"};
}

}  // namespace placewire::bindings
