// One call of Python, with its arguments made.
#include "bound_call.h"

#include <algorithm>
#include <string>
#include <utility>

#include "inference_stretch.h"
#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {
namespace {

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
    : operator_(std::move(operator_description)), arguments_(arguments.begin(), arguments.end()) {
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

Status PreparedCall::build() {
  if (builder_ == nullptr) {
    auto builder = std::make_unique<CallBuilder>(*operator_, arguments_);
    if (Status status = builder->prepare(wanted_plan()); !status) {
      return status;
    }
    builder_ = std::move(builder);
  }
  if (!builder_->has_changing()) {
    return {};
  }
  Status status = builder_->refresh();
  return status ? check_writable() : status;
}

Status PreparedCall::run() {
  if (settled_ != nullptr) {
    const PythonCall& call = **settled_;
    if (call().is_valid()) {
      return {};
    }
    Error error = take_exception(ErrorCode::INTERNAL);
    call.restore_tensors();
    return error;
  }
  if (Status status = build(); !status) {
    return status;
  }
  const nb::object returned = builder_->call()();
  Status status =
      returned.is_valid() ? finish(returned.ptr()) : Status(take_exception(ErrorCode::INTERNAL));
  if (!status) {
    builder_->restore_objects();
    builder_.reset();
  } else if (can_settle()) {
    settled_ = SettledCall::of(std::move(*builder_).release());
    builder_.reset();
  }
  return status;
}

KernelLock* PreparedCall::lock() const noexcept {
  return operator_->library == ArrayLibrary::kTorchInference
             ? static_cast<KernelLock*>(InferenceStretch::instance())
             : InterpreterStretch::instance();
}

bool PreparedCall::writes() const {
  return std::any_of(schema().begin(), schema().end(),
                     [](const OperatorArgument& argument) { return argument.is_written; });
}

bool PreparedCall::can_settle() const {
  return is_fixed_ && operator_->has_known_sizes && writes();
}

Status PreparedCall::finish(PyObject* returned) {
  if (writes()) {
    return operator_->has_schema ? check_results() : take_sizes(returned);
  }
  if (arguments_.size() > schema().size()) {
    const Result<EValue> value = value_of_number(returned);
    if (!value) {
      return value.error();
    }
    *arguments_[schema().size()].value = value.value();
  }
  return {};
}

Status PreparedCall::check_results() {
  if (builder_->has_right_sizes()) {
    return {};
  }
  for (std::size_t i = 0; i < schema().size(); ++i) {
    if (!schema()[i].is_out) {
      continue;
    }
    Status status;
    Py_ssize_t item = 0;
    each_tensor(*arguments_[i].value, [&](TensorImpl& tensor) {
      PyObject* const given = builder_->given(i);
      status = check_result(tensor, PyList_Check(given) ? PyList_GET_ITEM(given, item++) : given);
      return status.ok();
    });
    if (!status) {
      return with_argument(std::move(status).error(), i, schema()[i]);
    }
  }
  return {};
}

Status PreparedCall::check_result(TensorImpl& tensor, PyObject* object) {
  if (!tensor.is_static()) {
    TensorView& view = builder_->view(tensor);
    Status status = view.adopt_sizes();
    const Result<PyObject*> shown = status ? view.object() : Result<PyObject*>(nullptr);
    return status && shown ? lay_out(shown.value(), tensor) : status;
  }
  const Result<std::vector<std::int64_t>> sizes = sizes_of(object);
  if (!sizes) {
    return sizes.error();
  }
  if (!are_equal(sizes.value(), tensor.sizes())) {
    return Error{ErrorCode::INVALID_PROGRAM, "the result has sizes " + text_of(sizes.value()) +
                                                 ", but it goes to " + to_string(tensor)};
  }
  return {};
}

Status PreparedCall::take_sizes(PyObject* returned) {
  TensorImpl* tensor = nullptr;
  bool is_out = returned == Py_None;
  for (std::size_t i = 0; i < schema().size(); ++i) {
    tensor = schema()[i].is_out && tensor == nullptr ? arguments_[i].value->tensor() : tensor;
    is_out |= schema()[i].is_out && returned == builder_->given(i);
  }
  if (is_out) {
    // torch has resized what it has written to; a view of numpy's has kept its size.
    return operator_->library == ArrayLibrary::kNumpy ? Status() : check_results();
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
