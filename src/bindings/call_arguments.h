// Arguments of a call, turned into what Python gets.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fixed_tensors.h"
#include "placewire/runtime/evalue.h"
#include "placewire/runtime/kernel.h"
#include "python_operator.h"
#include "tensor_views.h"

namespace placewire::bindings {

/// Where the tensors of a value lie.
enum class Memory {
  /// Where they will always lie, and their sizes do not change either.
  kFixed,
  /// Somewhere.
  kThere,
  /// Perhaps nowhere as yet.
  kMaybe,
};

/// Makes Python objects of the values of one call, and keeps the views of its tensors.
///
/// The interpreter lock must be held.
class ArgumentObjects {
 public:
  explicit ArgumentObjects(ArrayLibrary library) noexcept : library_(library) {}

  /// The value as an object; `None` for a tensor that may have no memory, and has none.
  [[nodiscard]] Result<nanobind::object> object_of(const EValue& value, Memory memory);
  /// The same for an argument that receives results: a tensor whose sizes may change is empty, so
  /// that torch finds room for any, or has its largest sizes for others.
  [[nodiscard]] Result<nanobind::object> room_of(const EValue& value);
  /// Keeps the view of a tensor, and gives it.
  [[nodiscard]] TensorView& view(TensorImpl& tensor);
  /// The tensors at fixed places that objects were made of.
  [[nodiscard]] const std::vector<std::shared_ptr<FixedTensor>>& fixed() const noexcept {
    return fixed_;
  }

 private:
  template <typename List, typename Convert>
  Result<nanobind::object> list_of(const List& list, const Convert& convert);
  Result<nanobind::object> tensor_object(TensorImpl& tensor, Memory memory);
  Result<nanobind::object> tensor_room(TensorImpl& tensor);

  ArrayLibrary library_;
  std::vector<std::shared_ptr<FixedTensor>> fixed_;
  std::vector<std::shared_ptr<TensorView>> views_;
};

/// The value as a number, a string or None; null with an exception set if memory ran out, without
/// one if the value is a tensor or a list.
[[nodiscard]] nanobind::object scalar_object(const EValue& value);

/// Calls `visit` with each tensor that a value refers to, for as long as it returns true. Returns
/// whether it always did.
template <typename Visit>
bool each_tensor(const EValue& value, Visit visit) {
  const auto visit_items = [&](Span<EValue* const> items) {
    return std::all_of(items.begin(), items.end(), [&](const EValue* item) {
      return item == nullptr || item->tensor() == nullptr || visit(*item->tensor());
    });
  };
  if (TensorImpl* const tensor = value.tensor()) {
    return visit(*tensor);
  }
  if (const auto* const list = value.get_if<TensorList>()) {
    return visit_items(list->items);
  }
  const auto* const list = value.get_if<OptionalTensorList>();
  return list == nullptr || visit_items(list->items);
}

/// Makes a value of a number that Python returned. Errors: INVALID_TYPE for anything else.
[[nodiscard]] Result<EValue> value_of_number(PyObject* number);

}  // namespace placewire::bindings
