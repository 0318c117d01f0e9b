// The values of a method: made from the program's, in one block of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "placewire/runtime/evalue.h"
#include "placewire/runtime/program.h"
#include "placewire/runtime/span.h"

namespace placewire {

/// All values of a method, with the tensors and lists that they refer to.
///
/// Tensors are on the devices that they are given, and have no data at first.
class Values {
 public:
  /// Makes the values of a method of a validated program, whose texts and orders of dimensions are
  /// used where they are. `devices` has one entry for each value. Throws std::bad_alloc.
  Values(const schema::program::ExecutionPlan& plan, Span<const Device> devices);

  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] EValue& operator[](std::size_t index) const noexcept { return values_[index]; }

  /// Number of the value that a pointer to one of them points to.
  [[nodiscard]] std::size_t index_of(const EValue* value) const noexcept {
    return static_cast<std::size_t>(value - values_.data());
  }
  /// Number of the value that was made for a tensor, which must be one of this method's.
  [[nodiscard]] std::size_t index_of(const TensorImpl* tensor) const noexcept {
    return owners_[static_cast<std::size_t>(tensor - tensors_.data())];
  }
  /// The bounds of a tensor of this method, which its memory must have room for.
  [[nodiscard]] Span<std::int64_t> bounds(const TensorImpl& tensor) const noexcept {
    // The tensor's own pointer to them is to constants.
    const std::ptrdiff_t offset = tensor.bounds().data() - integers_.data();
    return {integers_.data() + offset, tensor.rank()};
  }
  /// The tensor that was made for a value, whatever that refers to now; null if it was none.
  [[nodiscard]] TensorImpl* tensor(std::size_t value) const noexcept { return own_tensors_[value]; }

 private:
  class Layout;
  class Filling;

  std::unique_ptr<std::byte[]> memory_;
  Span<EValue> values_;
  Span<TensorImpl> tensors_;
  /// Sizes, strides and bounds of all tensors.
  Span<std::int64_t> integers_;
  /// Number of the value of each tensor.
  Span<std::uint32_t> owners_;
  /// The tensor of each value.
  Span<TensorImpl*> own_tensors_;
};

}  // namespace placewire
