// Kernels that read or change a tensor's shape, or move whole tensors on the host.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/checked_kernel.h"
#include "kernels/native_kernels.h"

namespace placewire {
namespace {

Error refused(ErrorCode code, const TensorImpl& tensor, const std::string& why) {
  return {code, to_string(tensor) + ' ' + why};
}

/// The value of an argument that was checked to be an integer.
std::int64_t integer_in(const EValue& value) noexcept { return *value.get_if<std::int64_t>(); }

// What is known of a tensor, as an integer: tensor, dimension, result.

template <Span<const std::int64_t> (TensorImpl::*list)() const noexcept>
Status entry_of(Span<EValue* const> values) {
  const TensorImpl& tensor = *values[0]->tensor();
  const std::int64_t wanted = integer_in(*values[1]);
  const auto rank = static_cast<std::int64_t>(tensor.rank());
  if (wanted < -rank || wanted >= rank) {
    return refused(ErrorCode::INVALID_ARGUMENT, tensor,
                   "has no dimension " + std::to_string(wanted));
  }
  *values[2] = (tensor.*list)()[static_cast<std::size_t>(wanted < 0 ? wanted + rank : wanted)];
  return {};
}

Status numel(Span<EValue* const> values) {
  *values[1] = values[0]->tensor()->numel();
  return {};
}

// The one element of a tensor, as a number.

template <typename T>
T element(const void* data) noexcept {
  T value;
  std::memcpy(&value, data, sizeof value);  // what a file places need not be aligned
  return value;
}

float from_bits(std::uint32_t bits) noexcept { return element<float>(&bits); }

/// A number with 5 bits of exponent and 10 of mantissa.
double from_half(std::uint16_t bits) noexcept {
  const std::uint32_t magnitude = bits & 0x7fffu;
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  if (magnitude >= 0x7c00u) {  // infinities and NaN: all bits of the wider exponent are set too
    return static_cast<double>(from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13));
  }
  // Scaled as if it had the exponents of a float, whose bias is larger by 112.
  const float scaled = from_bits(sign | magnitude << 13);
  return static_cast<double>(scaled) * 0x1p112;
}

Status read_element(const TensorImpl& tensor, EValue& result) {
  const void* const data = tensor.data();
  switch (tensor.scalar_type()) {
    case ScalarType::BOOL:
      result = element<std::uint8_t>(data) != 0;
      return {};
    case ScalarType::BYTE:
      result = std::int64_t{element<std::uint8_t>(data)};
      return {};
    case ScalarType::CHAR:
      result = std::int64_t{element<std::int8_t>(data)};
      return {};
    case ScalarType::SHORT:
      result = std::int64_t{element<std::int16_t>(data)};
      return {};
    case ScalarType::UINT16:
      result = std::int64_t{element<std::uint16_t>(data)};
      return {};
    case ScalarType::INT:
      result = std::int64_t{element<std::int32_t>(data)};
      return {};
    case ScalarType::UINT32:
      result = std::int64_t{element<std::uint32_t>(data)};
      return {};
    case ScalarType::LONG:
      result = element<std::int64_t>(data);
      return {};
    case ScalarType::UINT64: {
      const auto value = element<std::uint64_t>(data);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return refused(ErrorCode::INVALID_ARGUMENT, tensor,
                       "holds " + std::to_string(value) + ", which does not fit an int");
      }
      result = static_cast<std::int64_t>(value);
      return {};
    }
    case ScalarType::HALF:
      result = from_half(element<std::uint16_t>(data));
      return {};
    case ScalarType::BFLOAT16:
      result = double{from_bits(std::uint32_t{element<std::uint16_t>(data)} << 16)};
      return {};
    case ScalarType::FLOAT:
      result = double{element<float>(data)};
      return {};
    case ScalarType::DOUBLE:
      result = element<double>(data);
      return {};
    default:
      return refused(ErrorCode::NOT_SUPPORTED, tensor, "has elements that are no numbers");
  }
}

/// Tensor, result.
Status local_scalar_dense(Span<EValue* const> values) {
  const TensorImpl& tensor = *values[0]->tensor();
  if (tensor.numel() != 1) {
    return refused(ErrorCode::INVALID_ARGUMENT, tensor, "has not exactly one element");
  }
  if (tensor.data() == nullptr) {
    return refused(ErrorCode::INVALID_STATE, tensor, "has no data");
  }
  return read_element(tensor, *values[1]);
}

// Views of dynamic tensors.

bool is_contiguous(const TensorImpl& tensor) noexcept {
  const auto order = tensor.dim_order();
  return std::is_sorted(order.begin(), order.end());
}

/// Elements that a tensor's memory has room for.
std::uint64_t capacity(const TensorImpl& tensor) noexcept {
  std::uint64_t elements = 1;
  for (const std::int64_t bound : tensor.bounds()) {
    elements *= static_cast<std::uint64_t>(bound);
  }
  return elements;
}

using Sizes = std::array<std::int64_t, kMaximumRank>;

/// Reads the sizes that a view is to have; one may be -1, and is what remains.
Result<Sizes> view_sizes(const TensorImpl& source, Span<EValue* const> wanted) {
  const auto refuse = [&source](const std::string& why) {
    return refused(ErrorCode::INVALID_ARGUMENT, source, "cannot be viewed: " + why);
  };
  if (wanted.size() > kMaximumRank) {
    return refuse("there are " + std::to_string(wanted.size()) + " sizes");
  }
  Sizes sizes{};
  std::int64_t known = 1;
  std::int64_t* unknown = nullptr;
  for (std::size_t dimension = 0; dimension < wanted.size(); ++dimension) {
    const std::int64_t* const size = wanted[dimension]->get_if<std::int64_t>();
    if (size == nullptr || *size < -1 || (*size == -1 && unknown != nullptr)) {
      return refuse("size " + std::to_string(dimension) + " is " +
                    (size == nullptr ? describe(*wanted[dimension]) : std::to_string(*size)));
    }
    sizes[dimension] = *size;
    if (*size == -1) {
      unknown = &sizes[dimension];
    } else if (__builtin_mul_overflow(known, *size, &known)) {
      return refuse("the sizes multiply to more than 64 bits can count");
    }
  }
  if (unknown != nullptr && known != 0 && source.numel() % known == 0) {
    *unknown = source.numel() / known;
  } else if (unknown != nullptr || known != source.numel()) {
    return refuse("the sizes multiply to " + std::to_string(known) +
                  (unknown == nullptr ? "" : " without the unknown one"));
  }
  return sizes;
}

/// What has to be so of a tensor and its view, whatever their sizes are.
Status check_view(const TensorImpl& source, const TensorImpl& view) {
  const char* why = nullptr;
  if (source.scalar_type() != view.scalar_type() || source.device() != view.device()) {
    why = "it has another element type or device";
  } else if (!is_contiguous(source) || !is_contiguous(view)) {
    why = "both must be contiguous";
  } else if (capacity(view) > capacity(source)) {
    why = "it could be resized to more than the memory holds";
  }
  return why == nullptr ? Status()
                        : refused(ErrorCode::INVALID_PROGRAM, view,
                                  "cannot be a view of " + to_string(source) + ": " + why);
}

/// Tensor, sizes, view: gives the view other sizes over the tensor's data.
Status view(Span<EValue* const> values) {
  const TensorImpl& source = *values[0]->tensor();
  TensorImpl& result = *values[2]->tensor();
  if (Status status = check_view(source, result); !status.ok()) {
    return status;
  }
  const Span<EValue* const> wanted = values[1]->get_if<IntList>()->items;
  const Result<Sizes> sizes = view_sizes(source, wanted);
  if (!sizes.ok()) {
    return sizes.error();
  }
  if (Status status = result.resize({sizes.value().data(), wanted.size()}); !status.ok()) {
    return status;
  }
  result.set_data(source.data());
  result.set_read_only(source.is_read_only());
  return {};
}

// Results of loops, which grow by one entry with each round.

/// Checks that `part` is one entry of `whole`.
Status check_entry(const TensorImpl& whole, const TensorImpl& part) {
  const bool fits = whole.scalar_type() == part.scalar_type() && whole.rank() == part.rank() + 1 &&
                    is_contiguous(whole) && is_contiguous(part) &&
                    std::equal(part.sizes().begin(), part.sizes().end(), whole.sizes().begin() + 1);
  return fits ? Status()
              : refused(ErrorCode::INVALID_ARGUMENT, part, "is no entry of " + to_string(whole));
}

/// The whole, the part, the index: copies the part to an entry of the whole, and makes that its
/// last one if the whole can be resized.
Status copy_index(Span<EValue* const> values) {
  TensorImpl& whole = *values[0]->tensor();
  const TensorImpl& part = *values[1]->tensor();
  const std::int64_t index = integer_in(*values[2]);
  if (whole.rank() == 0 || index < 0 || index >= whole.bounds()[0]) {
    return refused(ErrorCode::INVALID_ARGUMENT, whole, "has no entry " + std::to_string(index));
  }
  if (!whole.is_static() && whole.rank() == part.rank() + 1) {
    Sizes sizes{};
    sizes[0] = index + 1;
    std::copy(part.sizes().begin(), part.sizes().end(), sizes.begin() + 1);
    if (Status status = whole.resize({sizes.data(), whole.rank()}); !status.ok()) {
      return status;
    }
  }
  if (Status status = check_entry(whole, part); !status.ok()) {
    return status;
  }
  const std::size_t nbytes = part.nbytes();
  if (nbytes == 0) {
    return {};
  }
  if (whole.data() == nullptr || part.data() == nullptr) {
    return refused(ErrorCode::INVALID_STATE, whole.data() == nullptr ? whole : part,
                   "has no memory");
  }
  std::memmove(static_cast<unsigned char*>(whole.data()) + static_cast<std::size_t>(index) * nbytes,
               part.data(), nbytes);
  return {};
}

}  // namespace

void add_tensor_kernels(NamedKernels& kernels) {
  kernels.emplace_back(
      "aten::sym_size.int",
      checked_kernel({Takes::kTensor, Takes::kInt, Takes::kResult}, entry_of<&TensorImpl::sizes>));
  kernels.emplace_back("aten::sym_stride.int",
                       checked_kernel({Takes::kTensor, Takes::kInt, Takes::kResult},
                                      entry_of<&TensorImpl::strides>));
  kernels.emplace_back("aten::sym_numel", checked_kernel({Takes::kTensor, Takes::kResult}, numel));
  kernels.emplace_back("aten::_local_scalar_dense",
                       checked_kernel({Takes::kHostTensor, Takes::kResult}, local_scalar_dense));
  kernels.emplace_back(
      "executorch_prim::et_view.default",
      checked_kernel({Takes::kTensor, Takes::kIntList, Takes::kMovedTensor}, view));
  kernels.emplace_back(
      "executorch_prim::et_copy_index.tensor",
      checked_kernel({Takes::kWrittenHostTensor, Takes::kHostTensor, Takes::kInt}, copy_index));
}

}  // namespace placewire
