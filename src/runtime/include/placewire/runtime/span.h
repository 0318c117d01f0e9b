// A pointer and a count: how the core passes lists that somebody else owns.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace placewire {

/// `size` objects of type T in a row, owned by somebody else, who must keep them where they are.
template <typename T>
class Span {
 public:
  constexpr Span() noexcept = default;
  constexpr Span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  Span(std::vector<std::remove_const_t<T>>& vector) noexcept
      : data_(vector.data()), size_(vector.size()) {}
  /// A span of constants may view what is constant.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(const std::vector<std::remove_const_t<U>>& vector) noexcept
      : data_(vector.data()), size_(vector.size()) {}
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  constexpr Span(Span<std::remove_const_t<U>> other) noexcept
      : data_(other.data()), size_(other.size()) {}

  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr T* begin() const noexcept { return data_; }
  [[nodiscard]] constexpr T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] constexpr T& operator[](std::size_t index) const noexcept { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace placewire
