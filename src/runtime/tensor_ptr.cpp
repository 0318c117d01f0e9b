// Tensors that own their shape and their data.
#include "placewire/runtime/tensor_ptr.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "memory_block.h"
#include "transfer.h"

namespace placewire {
namespace {

/// A tensor with all that it refers to.
struct OwnedTensor {
  std::array<std::int64_t, kMaximumRank> sizes;
  std::array<std::int64_t, kMaximumRank> strides;
  std::array<std::int64_t, kMaximumRank> bounds;
  std::array<std::uint8_t, kMaximumRank> dim_order;
  MemoryBlock memory;
  std::optional<TensorImpl> impl;
};

/// What a tensor is to be. The lists are the caller's.
struct Description {
  Span<const std::int64_t> sizes;
  Span<const std::int64_t> bounds;
  Span<const std::uint8_t> dim_order;
  ScalarType scalar_type;
  Device device;
  TensorShapeDynamism dynamism;
};

Error invalid(std::string message) {
  return {ErrorCode::INVALID_ARGUMENT, "cannot make a tensor: " + std::move(message)};
}

Status check_dim_order(Span<const std::uint8_t> dim_order, std::size_t rank) {
  if (dim_order.size() != rank) {
    return invalid("dim_order has " + std::to_string(dim_order.size()) + " entries for " +
                   std::to_string(rank) + " dimensions");
  }
  std::array<bool, kMaximumRank> seen{};
  for (const std::uint8_t dimension : dim_order) {
    if (dimension >= rank || seen[dimension]) {
      return invalid("dim_order has " + std::to_string(dimension) +
                     (dimension >= rank ? ", but the dimensions are fewer" : " twice"));
    }
    seen[dimension] = true;
  }
  return {};
}

/// The bytes of a tensor at its bounds. As in the validator, dimensions of size 0 count as 1 for
/// the question whether they can be addressed, because strides are computed like that.
Result<std::size_t> bytes_at_bounds(const Description& wanted) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  auto bytes = static_cast<std::uint64_t>(schema::program::bytes(wanted.scalar_type));
  bool is_empty = false;
  for (std::size_t dimension = 0; dimension < wanted.bounds.size(); ++dimension) {
    const std::int64_t size = wanted.bounds[dimension];
    if (size < 0) {
      return invalid("size " + std::to_string(size) + " at dimension " + std::to_string(dimension) +
                     " is negative");
    }
    is_empty |= size == 0;
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
    if (bytes > kMost / factor) {
      return invalid("the sizes multiply to more than " + std::to_string(kMost) + " bytes");
    }
    bytes *= factor;
  }
  return is_empty ? 0 : static_cast<std::size_t>(bytes);
}

/// Checks a description, and gives the bytes of the tensor at its bounds.
Result<std::size_t> check(const Description& wanted) {
  if (!is_valid(wanted.scalar_type)) {
    return invalid("there is no element type " +
                   std::to_string(static_cast<int>(wanted.scalar_type)));
  }
  if (!is_valid(wanted.device.type) || wanted.device.index < 0) {
    return invalid("there is no device " + to_string(wanted.device));
  }
  if (wanted.sizes.size() > kMaximumRank) {
    return invalid(std::to_string(wanted.sizes.size()) + " dimensions are more than " +
                   std::to_string(kMaximumRank));
  }
  if (!wanted.dim_order.empty()) {
    if (Status status = check_dim_order(wanted.dim_order, wanted.sizes.size()); !status.ok()) {
      return std::move(status).error();
    }
  }
  return bytes_at_bounds(wanted);
}

TensorPtr make(const Description& wanted, MemoryBlock memory, void* data) {
  const auto owned = std::make_shared<OwnedTensor>();
  const std::size_t rank = wanted.sizes.size();
  std::copy(wanted.sizes.begin(), wanted.sizes.end(), owned->sizes.begin());
  std::copy(wanted.bounds.begin(), wanted.bounds.end(), owned->bounds.begin());
  for (std::size_t place = 0; place < rank; ++place) {
    owned->dim_order[place] =
        wanted.dim_order.empty() ? static_cast<std::uint8_t>(place) : wanted.dim_order[place];
  }
  owned->memory = std::move(memory);
  const TensorShape shape{owned->sizes.data(), owned->strides.data(), owned->bounds.data(),
                          owned->dim_order.data()};
  TensorImpl& impl =
      owned->impl.emplace(wanted.scalar_type, rank, shape, wanted.dynamism, wanted.device, data);
  return {owned, &impl};
}

Result<TensorPtr> make_empty(const Description& wanted) {
  const Result<std::size_t> nbytes = check(wanted);
  if (!nbytes.ok()) {
    return nbytes.error();
  }
  Result<MemoryBlock> memory = MemoryBlock::create(nbytes.value(), wanted.device);
  if (!memory.ok()) {
    return std::move(memory).error();
  }
  void* const data = memory.value().data();
  return make(wanted, std::move(memory).value(), data);
}

template <typename T>
bool equal(Span<const T> left, Span<const T> right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

Error cannot_copy(const TensorImpl& source, const TensorImpl& destination, const char* why) {
  return {ErrorCode::INVALID_ARGUMENT,
          "cannot copy " + to_string(source) + " to " + to_string(destination) + ": " + why};
}

}  // namespace

Result<TensorPtr> make_tensor_ptr(Span<const std::int64_t> sizes, ScalarType scalar_type,
                                  void* data, Device device, Span<const std::uint8_t> dim_order,
                                  TensorShapeDynamism dynamism) {
  const Description wanted{sizes, sizes, dim_order, scalar_type, device, dynamism};
  const Result<std::size_t> nbytes = check(wanted);
  if (!nbytes.ok()) {
    return nbytes.error();
  }
  if (data == nullptr && nbytes.value() != 0) {
    return invalid("the data is null, but has " + std::to_string(nbytes.value()) + " bytes");
  }
  return make(wanted, MemoryBlock(), data);
}

Result<TensorPtr> empty_tensor_ptr(Span<const std::int64_t> sizes, ScalarType scalar_type,
                                   Device device, Span<const std::uint8_t> dim_order,
                                   TensorShapeDynamism dynamism) {
  return make_empty({sizes, sizes, dim_order, scalar_type, device, dynamism});
}

Result<TensorPtr> clone_tensor_ptr_to(const TensorImpl& tensor, Device device) {
  Result<TensorPtr> clone = make_empty({tensor.sizes(), tensor.bounds(), tensor.dim_order(),
                                        tensor.scalar_type(), device, tensor.dynamism()});
  if (!clone.ok()) {
    return clone;
  }
  if (Status status = copy_tensor_data(tensor, *clone.value()); !status.ok()) {
    return std::move(status).error();
  }
  return clone;
}

Status copy_tensor_data(const TensorImpl& source, TensorImpl& destination) {
  if (source.scalar_type() != destination.scalar_type()) {
    return cannot_copy(source, destination, "the element types differ");
  }
  if (!equal(source.sizes(), destination.sizes())) {
    return cannot_copy(source, destination, "the sizes differ");
  }
  if (!equal(source.dim_order(), destination.dim_order())) {
    return cannot_copy(source, destination, "the orders of dimensions differ");
  }
  if (destination.is_read_only()) {
    return cannot_copy(source, destination, "the destination is read-only");
  }
  const std::size_t nbytes = source.nbytes();
  if (nbytes != 0 && (source.data() == nullptr || destination.data() == nullptr)) {
    return cannot_copy(
        source, destination,
        source.data() == nullptr ? "the source has no data" : "the destination has no memory");
  }
  const Result<Transfer> transfer = Transfer::find(source.device(), destination.device());
  if (!transfer.ok()) {
    return transfer.error();
  }
  return transfer.value().copy(destination.data(), source.data(), nbytes);
}

}  // namespace placewire
