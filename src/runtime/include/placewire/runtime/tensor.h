// A tensor as the runtime passes it around: what its elements are, how they lie, and where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "placewire/runtime/api.h"
#include "placewire/runtime/device.h"
#include "placewire/runtime/result.h"
#include "placewire/runtime/span.h"
#include "placewire/schema/program/enums.h"

namespace placewire {

using schema::program::ScalarType;
using schema::program::TensorShapeDynamism;

/// Most dimensions that a tensor may have; a fact of ExecuTorch's runtime.
inline constexpr std::size_t kMaximumRank = 16;

/// The lists that describe a tensor's shape, each with one entry for each dimension.
///
/// `sizes` and `strides` are in elements, and 64-bit, so that they are DLPack's `shape` and
/// `strides` as they stand. `bounds` are the largest sizes that the memory allows. `dim_order` has
/// the dimensions from outermost to innermost in memory.
struct TensorShape {
  std::int64_t* sizes = nullptr;
  std::int64_t* strides = nullptr;
  const std::int64_t* bounds = nullptr;
  const std::uint8_t* dim_order = nullptr;
};

/// Describes a tensor and points to its data. Owns neither the data nor the lists.
///
/// The device is fixed when it is made, as are element type, rank and order of dimensions. Whoever
/// makes one (a Method, `make_tensor_ptr`) keeps the lists alive; the data may be set later.
/// Threads: as any value.
class TensorImpl {
 public:
  /// `rank` is at most kMaximumRank, `shape.dim_order` a permutation of 0..rank-1 and
  /// `shape.sizes` within `shape.bounds`; the strides are written here.
  PLACEWIRE_API TensorImpl(ScalarType scalar_type, std::size_t rank, TensorShape shape,
                           TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC,
                           Device device = {}, void* data = nullptr) noexcept;

  [[nodiscard]] ScalarType scalar_type() const noexcept { return scalar_type_; }
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] Span<const std::int64_t> sizes() const noexcept { return {shape_.sizes, rank_}; }
  [[nodiscard]] Span<const std::int64_t> strides() const noexcept {
    return {shape_.strides, rank_};
  }
  [[nodiscard]] Span<const std::int64_t> bounds() const noexcept { return {shape_.bounds, rank_}; }
  [[nodiscard]] Span<const std::uint8_t> dim_order() const noexcept {
    return {shape_.dim_order, rank_};
  }
  [[nodiscard]] TensorShapeDynamism dynamism() const noexcept { return dynamism_; }
  [[nodiscard]] bool is_static() const noexcept { return dynamism_ == TensorShapeDynamism::STATIC; }

  /// Number of elements now; 1 for a scalar.
  [[nodiscard]] std::int64_t numel() const noexcept { return numel_; }
  /// Bytes of one element.
  [[nodiscard]] PLACEWIRE_API std::size_t element_size() const noexcept;
  /// Bytes of all elements now.
  [[nodiscard]] std::size_t nbytes() const noexcept {
    return static_cast<std::size_t>(numel_) * element_size();
  }

  [[nodiscard]] Device device() const noexcept { return {device_type_, device_index_}; }

  /// First element, on `device()`: the host may follow the pointer only if that is a CPU. Null if
  /// the tensor has no memory (yet).
  [[nodiscard]] void* data() const noexcept { return data_; }
  /// Points the tensor to memory on `device()`, with room for its bounds.
  void set_data(void* data) noexcept { data_ = data; }

  /// Whether nobody may write to the data: it belongs to the program's file, or to a caller who
  /// lent it for reading. Default: no. Who points one tensor to another's data hands this on.
  [[nodiscard]] bool is_read_only() const noexcept { return is_read_only_; }
  void set_read_only(bool is_read_only) noexcept { is_read_only_ = is_read_only; }

  /// Changes the sizes; the strides follow, the data stays. Sizes that are there already always
  /// succeed.
  ///
  /// Errors, after which nothing has changed: INVALID_ARGUMENT for another rank, a negative size,
  /// a size beyond its bound, or any change of a tensor whose shape is static. The message names
  /// the dimension.
  PLACEWIRE_API Status resize(Span<const std::int64_t> sizes);

 private:
  void update_strides() noexcept;

  void* data_;
  TensorShape shape_;
  std::int64_t numel_ = 1;
  ScalarType scalar_type_;
  std::uint8_t rank_;
  TensorShapeDynamism dynamism_;
  // The device and the flag fit into what would be padding: a tensor is no larger than without.
  DeviceType device_type_;
  DeviceIndex device_index_;
  bool is_read_only_ = false;
};

/// `float32[2, 3] on cuda:0`, for messages.
[[nodiscard]] PLACEWIRE_API std::string to_string(const TensorImpl& tensor);

}  // namespace placewire
