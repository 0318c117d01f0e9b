// One call of Python, with its arguments made.
#include "bound_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

Error with_argument(Error error, std::size_t index, const OperatorArgument& argument) {
  std::string where = "argument " + std::to_string(index);
  if (!argument.name.empty()) {
    where += " (" + argument.name + ")";
  }
  error.message = where + ": " + error.message;
  return error;
}

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

bool are_equal(Span<const std::int64_t> left, Span<const std::int64_t> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

std::string text_of(const std::vector<std::int64_t>& sizes) {
  std::string text = "[";
  for (const std::int64_t size : sizes) {
    text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  }
  return text + "]";
}

/// Lays the elements of a tensor of torch's out as the program's tensor has them.
///
/// torch chose the strides when it found out the sizes; only few operators choose others.
Status lay_out(PyObject* object, const TensorImpl& tensor) {
  try {
    const nb::handle array(object);
    const nb::tuple found(array.attr("stride")());
    nb::list wanted;
    bool is_wrong = false;
    for (std::size_t i = 0; i < tensor.rank(); ++i) {
      wanted.append(tensor.strides()[i]);
      is_wrong |= tensor.sizes()[i] > 1 && !nb::object(found[i]).equal(nb::object(wanted[i]));
    }
    if (is_wrong && tensor.numel() != 0) {
      const nb::object copy = array.attr("clone")();
      array.attr("as_strided_")(array.attr("shape"), wanted);
      array.attr("copy_")(copy);
    }
    return {};
  } catch (nb::python_error& error) {
    error.restore();
    return take_exception(ErrorCode::INTERNAL);
  }
}

}  // namespace

PreparedCall::PreparedCall(std::shared_ptr<const PythonOperator> operator_description,
                           Span<const KernelArgument> arguments)
    : operator_(std::move(operator_description)),
      arguments_(arguments.begin(), arguments.end()),
      objects_(operator_->library) {
  for (std::size_t i = 0; i < schema().size(); ++i) {
    is_fixed_ &= arguments_[i].is_fixed;
  }
}

Status PreparedCall::check() const {
  for (std::size_t i = 0; i < schema().size(); ++i) {
    Status status;
    const bool is_viewable =
        !arguments_[i].is_fixed || each_tensor(*arguments_[i].value, [&](const TensorImpl& tensor) {
          status = check_viewable(operator_->library, tensor);
          return status.ok();
        });
    if (!is_viewable) {
      return with_argument(std::move(status).error(), i, schema()[i]);
    }
  }
  if (Status status = check_writable(); !status) {
    return status;
  }
  return check_same_sizes(wanted_plan());
}

Status PreparedCall::prepare() {
  changing_.clear();
  converted_.resize(schema().size());
  for (std::size_t i = 0; i < schema().size(); ++i) {
    const Refresh refresh = refresh_of(i);
    if (refresh != Refresh::kNever) {
      changing_.emplace_back(i, refresh);
    }
    if (Status status = convert(i, Refresh::kObject, refresh != Refresh::kNever); !status) {
      return status;
    }
  }
  const CallPlan* plan = &wanted_plan();
  if (plan->source.is_valid()) {
    if (use_source(*plan)) {
      plan_ = plan;
      return {};
    }
    plan = plan->general.get();
  }
  plan_ = plan;
  return build_call();
}

PreparedCall::Refresh PreparedCall::refresh_of(std::size_t index) const {
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

Status PreparedCall::convert(std::size_t index, Refresh refresh, bool allow_missing) {
  const OperatorArgument& argument = schema()[index];
  const EValue& value = *arguments_[index].value;
  Result<nb::object> object = refresh == Refresh::kRoom ? objects_.room_of(value)
                                                        : objects_.object_of(value, allow_missing);
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

Status PreparedCall::check_writable() const {
  for (std::size_t i = 0; i < schema().size(); ++i) {
    if (!schema()[i].is_written) {
      continue;
    }
    const TensorImpl* constant = nullptr;
    each_tensor(*arguments_[i].value, [&](const TensorImpl& tensor) {
      constant = arguments_[i].is_constant || tensor.is_read_only() ? &tensor : nullptr;
      return constant == nullptr;
    });
    if (constant != nullptr) {
      return with_argument(
          {ErrorCode::INVALID_ARGUMENT,
           "the operator writes to it, but " + to_string(*constant) + " is a constant"},
          i, schema()[i]);
    }
  }
  return {};
}

Status PreparedCall::check_same_sizes(const CallPlan& plan) const {
  if (!plan.same_sizes) {
    return {};
  }
  const TensorImpl* const left = arguments_[plan.same_sizes->first].value->tensor();
  const TensorImpl* const right = arguments_[plan.same_sizes->second].value->tensor();
  if (left != nullptr && right != nullptr && !are_equal(left->sizes(), right->sizes())) {
    return Error{ErrorCode::INVALID_PROGRAM,
                 "it copies " + to_string(*right) + " to " + to_string(*left)};
  }
  return {};
}

bool PreparedCall::use_source(const CallPlan& plan) {
  const auto out = static_cast<std::size_t>(
      std::find_if(schema().begin(), schema().end(),
                   [](const OperatorArgument& argument) { return argument.is_out; }) -
      schema().begin());
  std::vector<PyObject*> given;
  for (std::size_t i = 0; i < out; ++i) {
    given.push_back(converted_[i].ptr());
  }
  const nb::object source =
      nb::steal(PyObject_Vectorcall(plan.source.ptr(), given.data(), given.size(), nullptr));
  if (!source.is_valid()) {
    PyErr_Clear();
    return false;
  }
  const Result<std::vector<std::int64_t>> sizes = sizes_of(source.ptr());
  const TensorImpl* const tensor = arguments_[out].value->tensor();
  if (!sizes || tensor == nullptr || !are_equal(sizes.value(), tensor->sizes())) {
    return false;
  }
  function_ = plan.function;
  positional_ = nb::steal(PyTuple_Pack(2, converted_[out].ptr(), source.ptr()));
  must_check_ = false;
  return positional_.is_valid();
}

bool PreparedCall::is_left_out(std::size_t index) const {
  const nb::object& default_value = schema()[index].default_value;
  return default_value.is_valid() && arguments_[index].is_fixed &&
         is_equal(default_value, converted_[index]);
}

nb::object PreparedCall::object_at(const Place& place) const {
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

Status PreparedCall::build_call() {
  function_ = plan_->function;
  const auto count = static_cast<Py_ssize_t>(plan_->positional.size());
  positional_ = nb::steal(PyTuple_New(count));
  for (Py_ssize_t i = 0; positional_.is_valid() && i < count; ++i) {
    nb::object object = object_at(plan_->positional[static_cast<std::size_t>(i)]);
    PyTuple_SET_ITEM(positional_.ptr(), i, object.release().ptr());
  }
  keywords_ = nb::object();
  for (const auto& [name, place] : plan_->keywords) {
    if (!place.is_tuple && is_left_out(place.arguments.front())) {
      continue;
    }
    if (!keywords_.is_valid()) {
      keywords_ = nb::steal(PyDict_New());
    }
    const nb::object object = object_at(place);
    if (!keywords_.is_valid() || !object.is_valid() ||
        PyDict_SetItem(keywords_.ptr(), name.ptr(), object.ptr()) != 0) {
      return take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
    }
  }
  return positional_.is_valid() ? Status() : take_exception(ErrorCode::MEMORY_ALLOCATION_FAILED);
}

Status PreparedCall::refresh_arguments() {
  bool has_changed = false;
  for (const auto& [index, refresh] : changing_) {
    const PyObject* const before = converted_[index].ptr();
    if (Status status = convert(index, refresh, /*allow_missing=*/false); !status) {
      return status;
    }
    has_changed |= converted_[index].ptr() != before;
  }
  if (Status status = check_writable(); !status) {
    return status;
  }
  return has_changed ? build_call() : Status();
}

Status PreparedCall::run() {
  if (plan_ == nullptr) {
    if (Status status = prepare(); !status) {
      return status;
    }
  }
  if (!changing_.empty()) {
    if (Status status = refresh_arguments(); !status) {
      return status;
    }
  }
  const nb::object returned =
      nb::steal(PyObject_Call(function_.ptr(), positional_.ptr(), keywords_.ptr()));
  if (!returned.is_valid()) {
    forget_results();
    return take_exception(ErrorCode::INTERNAL);
  }
  return must_check_ ? finish(returned.ptr()) : Status();
}

void PreparedCall::forget_results() {
  for (const auto& [index, refresh] : changing_) {
    if (refresh == Refresh::kRoom) {
      each_tensor(*arguments_[index].value, [this](TensorImpl& tensor) {
        objects_.view(tensor).forget();
        return true;
      });
    }
  }
}

Status PreparedCall::finish(PyObject* returned) {
  const bool writes = std::any_of(schema().begin(), schema().end(),
                                  [](const OperatorArgument& a) { return a.is_written; });
  if (!writes) {
    if (arguments_.size() > schema().size()) {
      const Result<EValue> value = value_of_number(returned);
      if (!value) {
        return value.error();
      }
      *arguments_[schema().size()].value = value.value();
    }
    return {};
  }
  return operator_->library == ArrayLibrary::kTorch && operator_->has_schema ? check_results()
                                                                             : take_sizes(returned);
}

Status PreparedCall::check_results() {
  for (std::size_t i = 0; i < schema().size(); ++i) {
    Status status;
    const bool is_right =
        !schema()[i].is_out || each_tensor(*arguments_[i].value, [&](TensorImpl& tensor) {
          status = check_result(tensor);
          return status.ok();
        });
    if (!is_right) {
      return with_argument(std::move(status).error(), i, schema()[i]);
    }
  }
  must_check_ = !is_fixed_ || operator_->has_data_dependent_sizes;
  return {};
}

Status PreparedCall::check_result(TensorImpl& tensor) {
  TensorView& view = objects_.view(tensor);
  if (!tensor.is_static()) {
    Status status = view.adopt_sizes();
    const Result<PyObject*> object = status ? view.object() : Result<PyObject*>(nullptr);
    return status && object ? lay_out(object.value(), tensor) : status;
  }
  const Result<PyObject*> object = view.object();
  if (!object) {
    return object.error();
  }
  const Result<std::vector<std::int64_t>> sizes = sizes_of(object.value());
  if (!sizes) {
    return sizes.error();
  }
  if (!are_equal(sizes.value(), tensor.sizes())) {
    view.forget();
    return Error{ErrorCode::INVALID_PROGRAM, "the result has sizes " + text_of(sizes.value()) +
                                                 ", but it goes to " + to_string(tensor)};
  }
  return {};
}

Status PreparedCall::take_sizes(PyObject* returned) {
  if (returned == Py_None) {
    return {};
  }
  TensorImpl* tensor = nullptr;
  for (std::size_t i = 0; i < schema().size(); ++i) {
    tensor = schema()[i].is_out && tensor == nullptr ? arguments_[i].value->tensor() : tensor;
    if (schema()[i].is_out && returned == converted_[i].ptr()) {
      return {};
    }
  }
  if (!PyTuple_Check(returned) || tensor == nullptr) {
    return Error{ErrorCode::INVALID_TYPE,
                 std::string("the function returned a ") + Py_TYPE(returned)->tp_name +
                     "; a kernel writes to the arguments that it is given, and returns nothing or "
                     "the sizes of its result"};
  }
  std::vector<std::int64_t> sizes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(returned); ++i) {
    sizes.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(returned, i)));
    if (PyErr_Occurred() != nullptr) {
      return take_exception(ErrorCode::INVALID_TYPE);
    }
  }
  return tensor->resize(sizes);
}

}  // namespace placewire::bindings
