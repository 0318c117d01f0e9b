// Tensors between Python and the core, without copying: DLPack and the buffer protocol in, DLPack
// out.
#pragma once

#include <nanobind/nanobind.h>

#include "placewire/runtime/evalue.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/tensor.h"
#include "placewire/runtime/tensor_ptr.h"

namespace placewire::bindings {

/// A tensor of the core as Python sees it: the class `Tensor` of the module.
class PythonTensor {
 public:
  /// `owner` keeps the tensor alive; as long as the view, or what was made of it by DLPack, lives.
  PythonTensor(TensorImpl& tensor, nanobind::object owner)
      : tensor_(&tensor), owner_(std::move(owner)) {}

  [[nodiscard]] TensorImpl& tensor() const noexcept { return *tensor_; }
  [[nodiscard]] const nanobind::object& owner() const noexcept { return owner_; }

 private:
  TensorImpl* tensor_;
  nanobind::object owner_;
};

/// A tensor of Python code, where it lies, and the Python object that keeps its memory.
struct BorrowedTensor {
  TensorPtr tensor;
  nanobind::object owner;
};

/// Takes whatever has `__dlpack__` or a buffer; nothing is copied.
///
/// `like` says what is expected: dimensions of one element have no place of their own in memory, so
/// their order is taken from it. Errors: INVALID_TYPE for another kind of object, and for elements
/// that no program can have; INVALID_ARGUMENT for gaps between the elements, or a device that the
/// schema does not know. Throws what the object's own functions raise.
[[nodiscard]] Result<BorrowedTensor> borrow_tensor(nanobind::handle object, const TensorImpl& like);

/// A device as Python code knows it: a `placewire.Device`.
[[nodiscard]] nanobind::object device_object(Device device);

/// A value for Python: a PythonTensor, an int, a float, a bool, a string, None, or a list of these.
[[nodiscard]] nanobind::object to_python(const EValue& value, const nanobind::object& owner);

/// Adds the class `Tensor` to the module.
void bind_tensors(nanobind::module_& module);

}  // namespace placewire::bindings
