// Tensors: sizes, strides, and how they are spelled.
#include "placewire/runtime/tensor.h"

#include <algorithm>
#include <utility>

namespace placewire {
namespace {

Error cannot_resize(const TensorImpl& tensor, const std::string& why) {
  return {ErrorCode::INVALID_ARGUMENT, "cannot resize " + to_string(tensor) + ": " + why};
}

std::string at_dimension(std::size_t dimension, std::int64_t size) {
  return "size " + std::to_string(size) + " at dimension " + std::to_string(dimension);
}

/// The Error of sizes that a tensor cannot take; success if it can.
Status check_sizes(const TensorImpl& tensor, Span<const std::int64_t> sizes) {
  for (std::size_t dimension = 0; dimension < sizes.size(); ++dimension) {
    const std::int64_t size = sizes[dimension];
    if (size < 0) {
      return cannot_resize(tensor, at_dimension(dimension, size) + " is negative");
    }
    if (tensor.is_static() && size != tensor.sizes()[dimension]) {
      return cannot_resize(tensor,
                           at_dimension(dimension, size) + " is another, and the shape is static");
    }
    if (size > tensor.bounds()[dimension]) {
      return cannot_resize(tensor, at_dimension(dimension, size) + " is beyond the bound " +
                                       std::to_string(tensor.bounds()[dimension]));
    }
  }
  return {};
}

}  // namespace

TensorImpl::TensorImpl(ScalarType scalar_type, std::size_t rank, TensorShape shape,
                       TensorShapeDynamism dynamism, Device device, void* data) noexcept
    : data_(data),
      shape_(shape),
      scalar_type_(scalar_type),
      rank_(static_cast<std::uint8_t>(rank)),
      dynamism_(dynamism),
      device_type_(device.type),
      device_index_(device.index) {
  update_strides();
}

std::size_t TensorImpl::element_size() const noexcept {
  return static_cast<std::size_t>(schema::program::bytes(scalar_type_));
}

Status TensorImpl::resize(Span<const std::int64_t> sizes) {
  if (sizes.size() != rank_) {
    return cannot_resize(*this, "it has " + std::to_string(rank_) + " dimensions, not " +
                                    std::to_string(sizes.size()));
  }
  if (std::equal(sizes.begin(), sizes.end(), shape_.sizes)) {
    return {};
  }
  if (Status status = check_sizes(*this, sizes); !status.ok()) {
    return status;
  }
  std::copy(sizes.begin(), sizes.end(), shape_.sizes);
  update_strides();
  return {};
}

void TensorImpl::update_strides() noexcept {
  // Unsigned, because what a size of 0 makes meaningless may overflow. As in PyTorch, a dimension
  // of size 0 counts as 1 for the strides of those around it.
  std::uint64_t stride = 1;
  std::uint64_t numel = 1;
  for (std::size_t place = rank_; place-- > 0;) {
    const std::size_t dimension = shape_.dim_order[place];
    const auto size = static_cast<std::uint64_t>(shape_.sizes[dimension]);
    shape_.strides[dimension] = static_cast<std::int64_t>(stride);
    stride *= std::max<std::uint64_t>(size, 1);
    numel *= size;
  }
  numel_ = static_cast<std::int64_t>(numel);
}

std::string to_string(const TensorImpl& tensor) {
  const ScalarType type = tensor.scalar_type();
  std::string text = is_valid(type) ? std::string(schema::program::torch(type))
                                    : "element type " + std::to_string(static_cast<int>(type));
  text += '[';
  for (std::size_t dimension = 0; dimension < tensor.rank(); ++dimension) {
    text += (dimension == 0 ? "" : ", ") + std::to_string(tensor.sizes()[dimension]);
  }
  return text + "] on " + to_string(tensor.device());
}

}  // namespace placewire
