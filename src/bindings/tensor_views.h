// Tensors of methods as Python sees them: one object for each, shared by all calls that use it.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "arrays.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/tensor.h"

namespace placewire::bindings {

/// One tensor as an object of a library, over the tensor's own memory.
///
/// The object must not be used after the tensor's memory has gone.
/// All functions need the interpreter lock.
class TensorView {
 public:
  TensorView(ArrayLibrary library, TensorImpl& tensor) noexcept
      : library_(library), tensor_(&tensor) {}
  TensorView(const TensorView&) = delete;
  TensorView& operator=(const TensorView&) = delete;
  ~TensorView();

  [[nodiscard]] TensorImpl& tensor() const noexcept { return *tensor_; }

  /// An object that shows the tensor as it is now; the same one as long as nothing but elements
  /// changes. It belongs to the view. Errors: NOT_SUPPORTED for an element type or device that the
  /// library does not have; INVALID_STATE for a tensor without memory.
  [[nodiscard]] Result<PyObject*> object();

  /// An object without elements, over all the memory that the tensor may take: what torch resizes
  /// when it writes a result whose sizes it finds out. Torch only; errors as above.
  [[nodiscard]] Result<PyObject*> empty_object();

  /// Takes over the sizes that the object has come to have. Errors: those of `TensorImpl::resize`.
  Status adopt_sizes();

  /// Makes good what a call that failed may have done to the object, but for elements: calls with
  /// arguments that never change keep it. One whose sizes may change is made anew.
  void restore() noexcept;

 private:
  [[nodiscard]] bool is_current() const noexcept;
  PyObject* keep(nanobind::object made);
  void forget() noexcept;

  ArrayLibrary library_;
  TensorImpl* tensor_;
  PyObject* object_ = nullptr;
  /// What the object was made of.
  void* data_ = nullptr;
  std::vector<std::int64_t> sizes_;
};

/// The view of a tensor, shared by all who ask while one of them keeps it.
///
/// The interpreter lock must be held.
[[nodiscard]] std::shared_ptr<TensorView> view_of(ArrayLibrary library, TensorImpl& tensor);

}  // namespace placewire::bindings
