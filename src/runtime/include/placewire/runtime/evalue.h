// One value of a method: what instructions read and write, and what kernels get as arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "placewire/runtime/api.h"
#include "placewire/runtime/span.h"
#include "placewire/runtime/tensor.h"

namespace placewire {

class EValue;

/// Integers that are values themselves, so that a size computed at run time can be one of them.
/// No entry is null, each holds an integer.
struct IntList {
  Span<EValue* const> items;
};

/// Tensors that are values themselves, so that aliases stay aliases. No entry is null.
struct TensorList {
  Span<EValue* const> items;
};

/// Like TensorList; null stands for `None`.
struct OptionalTensorList {
  Span<EValue* const> items;
};

/// A value: `None`, a number, a string, a tensor, or a list.
///
/// It owns nothing: tensors, strings and lists belong to the method (or to whoever made them) and
/// outlive it. Copying one copies the reference, which is what a MoveCall does.
class EValue {
 public:
  using Content =
      std::variant<std::monostate, std::int64_t, bool, double, TensorImpl*, std::string_view,
                   IntList, Span<const double>, Span<const bool>, TensorList, OptionalTensorList>;

  /// `None`.
  EValue() noexcept = default;
  /// Implicit, so that arguments can be written as they are.
  template <typename T, typename = std::enable_if_t<std::is_constructible_v<Content, T>>>
  EValue(T value) noexcept : content_(std::move(value)) {}

  [[nodiscard]] bool is_none() const noexcept { return content_.index() == 0; }

  /// The value if it is a T (one of the alternatives of Content), else null.
  template <typename T>
  [[nodiscard]] const T* get_if() const noexcept {
    return std::get_if<T>(&content_);
  }
  /// The tensor; null if the value is something else.
  [[nodiscard]] TensorImpl* tensor() const noexcept {
    TensorImpl* const* found = std::get_if<TensorImpl*>(&content_);
    return found == nullptr ? nullptr : *found;
  }

  [[nodiscard]] const Content& content() const noexcept { return content_; }

 private:
  Content content_;
};

/// `None`, `int`, `float32[2, 3] on cuda:0`, `list of 3 tensors`: what a value is, for messages.
[[nodiscard]] PLACEWIRE_API std::string describe(const EValue& value);

}  // namespace placewire
