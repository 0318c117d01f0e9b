// Tensors of torch's over memory that stays where it is: one for all tensors that lie there alike.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "placewire/runtime/result.h"
#include "placewire/runtime/tensor.h"

namespace placewire::bindings {

/// A tensor of torch's that shows every tensor of programs at one place, of the same type, sizes
/// and order of dimensions.
///
/// A memory plan puts the results of many instructions at the same place. What they share stays in
/// the processor's caches. It must not be used after the memory has gone.
/// All functions need the interpreter lock and torch's inference mode.
class FixedTensor {
 public:
  /// That of a tensor whose sizes and place never change; the same one as long as somebody keeps
  /// it. Errors: those of `array_over`.
  [[nodiscard]] static Result<std::shared_ptr<FixedTensor>> of(const TensorImpl& tensor);

  FixedTensor(const FixedTensor&) = delete;
  FixedTensor& operator=(const FixedTensor&) = delete;
  ~FixedTensor();

  [[nodiscard]] PyObject* object() const noexcept { return object_.ptr(); }

  /// Gives the object its sizes again, which an operator may have changed before it failed.
  void restore() const noexcept;

 private:
  /// Address, type, device, then sizes and strides.
  using Place = std::vector<std::int64_t>;
  /// Does not keep anything alive. Guarded by the interpreter lock.
  using All = std::map<Place, std::weak_ptr<FixedTensor>>;

  FixedTensor(nanobind::object object, All::iterator entry) noexcept
      : object_(std::move(object)), entry_(entry) {}
  [[nodiscard]] static All& all();
  [[nodiscard]] static Place place_of(const TensorImpl& tensor);

  nanobind::object object_;
  All::iterator entry_;
};

}  // namespace placewire::bindings
