// Tensors of methods as Python sees them: one object for each, shared by all calls that use it.
#include "tensor_views.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "python_exceptions.h"

namespace nb = nanobind;

namespace placewire::bindings {

bool TensorView::is_current() const noexcept {
  return object_ != nullptr && data_ == tensor_->data() &&
         (tensor_->is_static() ||
          std::equal(sizes_.begin(), sizes_.end(), tensor_->sizes().begin()));
}

PyObject* TensorView::keep(nb::object made) {
  forget();
  object_ = made.release().ptr();
  data_ = tensor_->data();
  if (!tensor_->is_static()) {
    sizes_.assign(tensor_->sizes().begin(), tensor_->sizes().end());
  }
  return object_;
}

Result<PyObject*> TensorView::object() {
  if (is_current()) {
    return object_;
  }
  Result<nb::object> made = array_over(library_, *tensor_, tensor_->sizes());
  return made ? Result<PyObject*>(keep(std::move(made).value())) : std::move(made).error();
}

Result<PyObject*> TensorView::empty_object() {
  static PyObject* const resize = PyUnicode_InternFromString("resize_");
  const Result<nb::object> made = array_over(library_, *tensor_, tensor_->bounds());
  if (!made) {
    return made.error();
  }
  const nb::object none = nb::steal(Py_BuildValue("(i)", 0));
  nb::object resized = nb::steal(PyObject_CallMethodOneArg(made.value().ptr(), resize, none.ptr()));
  return resized.is_valid() ? Result<PyObject*>(keep(std::move(resized)))
                            : take_exception(ErrorCode::NOT_SUPPORTED);
}

Status TensorView::adopt_sizes() {
  const Result<std::vector<std::int64_t>> sizes = sizes_of(object_);
  if (!sizes) {
    return sizes.error();
  }
  if (Status status = tensor_->resize(sizes.value()); !status) {
    forget();
    return status;
  }
  sizes_ = sizes.value();
  return {};
}

void TensorView::forget() noexcept { Py_CLEAR(object_); }

void TensorView::restore() noexcept {
  if (object_ != nullptr && library_ != ArrayLibrary::kNumpy && tensor_->is_static()) {
    restore_layout(object_, tensor_->sizes(), tensor_->strides());
  } else {
    forget();
  }
}

namespace {

/// All views that somebody keeps. Guarded by the interpreter lock.
using Views = std::unordered_map<const TensorImpl*, std::weak_ptr<TensorView>>;

Views& views(ArrayLibrary library) {
  // Never destroyed, because kernels may outlive everything static.
  static auto* const all = new std::array<Views, 3>();
  return (*all)[static_cast<std::size_t>(library)];
}

}  // namespace

TensorView::~TensorView() {
  forget();
  Views& all = views(library_);
  const auto found = all.find(tensor_);
  if (found != all.end() && found->second.expired()) {
    all.erase(found);
  }
}

std::shared_ptr<TensorView> view_of(ArrayLibrary library, TensorImpl& tensor) {
  std::weak_ptr<TensorView>& known = views(library)[&tensor];
  std::shared_ptr<TensorView> view = known.lock();
  if (view == nullptr) {
    view = std::make_shared<TensorView>(library, tensor);
    known = view;
  }
  return view;
}

}  // namespace placewire::bindings
