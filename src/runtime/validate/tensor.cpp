// Checks one tensor: its shape, its device, and that its data is where it says.
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "validate/plan.h"

namespace placewire::validation {
namespace {

using program::DeviceType;
using program::ScalarType;
using program::Tensor;
using program::TensorDataLocation;
using program::TensorShapeDynamism;

/// Most dimensions that ExecuTorch's runtime and ours read.
constexpr std::size_t kHighestRank = 16;
constexpr std::uint64_t kMostBytes = std::numeric_limits<std::int64_t>::max();

/// Checks one tensor. Each member function is about one group of fields.
class TensorCheck {
 public:
  TensorCheck(PlanCheck& plan, Tensor tensor, const Path& path)
      : plan_(plan), tensor_(tensor), path_(path), offset_(plan.context.offset_of(tensor)) {}

  ValueFacts run() {
    check_unsupported();
    check_sizes();
    check_dim_order();
    check_device();
    if (is_external()) {
      report(Rule::EXTERNAL_TENSOR, "extra_tensor_info", "the data of tensor ", name(),
             " is in another file (.ptd), which cannot be read yet: export it into the program");
    } else {
      check_stored();
    }
    check_planned();
    ValueFacts facts;
    facts.kind = program::KernelTypes::Tensor;
    facts.is_constant = is_constant();
    facts.is_bool_tensor = tensor_.scalar_type() == ScalarType::BOOL;
    facts.device = device();
    return facts;
  }

 private:
  bool is_external() const {
    return tensor_.extra_tensor_info().location() == TensorDataLocation::EXTERNAL;
  }
  bool is_planned() const { return static_cast<bool>(tensor_.allocation_info()); }
  bool is_constant() const {
    return (tensor_.data_buffer_idx() != 0 || is_external()) && !is_planned();
  }
  bool has_known_device() const { return is_valid(device().type) && device().index >= 0; }
  Device device() const {
    return {tensor_.extra_tensor_info().device_type(), tensor_.extra_tensor_info().device_index()};
  }
  std::string name() const {
    const auto extra = tensor_.extra_tensor_info();
    return extra.has_fully_qualified_name() ? quoted(extra.fully_qualified_name())
                                            : std::string("without a name");
  }

  template <class... Parts>
  void report(Rule rule, std::string_view field, const Parts&... parts) const {
    plan_.report().add(rule, Path(path_, field), offset_, parts...);
  }

  void check_unsupported() const {
    if (tensor_.storage_offset() != 0) {
      report(Rule::STORAGE_OFFSET_UNSUPPORTED, "storage_offset", "the storage offset is ",
             tensor_.storage_offset(), ", only 0 can be read");
    }
    if (tensor_.layout() != 0) {
      report(Rule::LAYOUT_UNSUPPORTED, "layout", "the layout is ", int{tensor_.layout()},
             ", expected 0 (strided); readers take it for strided");
    }
    if (tensor_.shape_dynamism() == TensorShapeDynamism::DYNAMIC_UNBOUND) {
      report(Rule::SHAPE_UNBOUND, "shape_dynamism",
             "the shape has no upper bound, so no memory can be planned: export with a maximum "
             "for every dynamic dimension");
    }
  }

  /// Checks the sizes; sets `bytes_` if they make sense.
  void check_sizes() {
    const auto sizes = tensor_.sizes();
    if (sizes.size() > kHighestRank) {
      report(Rule::RANK_TOO_HIGH, "sizes", "the tensor has ", sizes.size(), " dimensions, at most ",
             kHighestRank, " can be read");
    }
    bool is_sound = tensor_.has_sizes() && is_valid(tensor_.scalar_type());
    bool is_empty = false;
    // Empty dimensions count as 1 here: strides are computed in the same way, and must fit too.
    std::uint64_t bytes = static_cast<std::uint64_t>(program::bytes(tensor_.scalar_type()));
    bool has_overflow = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::int32_t size = sizes[i];
      if (size < 0) {
        plan_.report().add(Rule::SIZE_NEGATIVE, Path(path_, "sizes", i),
                           plan_.context.offset_of(sizes, i), "the size is ", size,
                           ", expected 0 or more");
        is_sound = false;
      } else if (size == 0) {
        is_empty = true;
      } else {
        has_overflow |= bytes > kMostBytes / static_cast<std::uint64_t>(size);
        bytes *= static_cast<std::uint64_t>(size);
      }
    }
    if (is_sound && has_overflow) {
      report(Rule::SIZE_OVERFLOW, "sizes", "the sizes multiply to more than ", kMostBytes,
             " bytes: the file is damaged, or a dynamic dimension has no real maximum");
    } else if (is_sound && sizes.size() <= kHighestRank) {
      bytes_ = is_empty ? 0 : bytes;
    }
  }

  void check_dim_order() const {
    const auto order = tensor_.dim_order();
    const std::size_t rank = tensor_.sizes().size();
    if (!tensor_.has_dim_order() || !tensor_.has_sizes()) {
      return;
    }
    if (order.size() != rank) {
      report(Rule::DIM_ORDER_LENGTH, "dim_order", "the dim_order has ", order.size(),
             " entries for ", rank, " dimensions");
      return;
    }
    if (rank > kHighestRank) {
      return;
    }
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint8_t dimension = order[i];
      if (dimension >= rank || (seen >> dimension & 1u) != 0) {
        plan_.report().add(Rule::DIM_ORDER_NOT_PERMUTATION, Path(path_, "dim_order", i),
                           plan_.context.offset_of(order, i), "dimension ", int{dimension},
                           dimension >= rank ? " does not exist" : " stands there twice",
                           ", expected each of 0 to ", rank - 1, " once");
      } else {
        seen |= 1u << dimension;
      }
    }
  }

  void check_device() {
    const Device on = device();
    plan_.usage.add(on);
    if (on.index < 0) {
      report_in_extra(Rule::DEVICE_INDEX_NEGATIVE, "device_index", "the device index is ",
                      int{on.index}, ", expected 0 to 127");
    } else if (on.is_cpu() && on.index != 0) {
      report_in_extra(Rule::CPU_INDEX_NOT_ZERO, "device_index", "the CPU has the index ",
                      int{on.index}, ", expected 0: there is only one CPU");
    }
    if (is_constant() && has_known_device() && !on.is_cpu()) {
      report_in_extra(Rule::CONSTANT_ON_DEVICE, "device_type", "the constant is labelled ",
                      to_string(on), ", but nothing copies it there");
    }
  }

  template <class... Parts>
  void report_in_extra(Rule rule, std::string_view field, const Parts&... parts) const {
    const Path extra(path_, "extra_tensor_info");
    plan_.report().add(rule, Path(extra, field),
                       plan_.context.offset_of(tensor_.extra_tensor_info()), parts...);
  }

  /// Checks that the value of a constant, or the initial value of a planned tensor, is in the file.
  void check_stored() const {
    const std::uint32_t index = tensor_.data_buffer_idx();
    if (index == 0) {
      return;
    }
    const std::uint64_t list = tensor_.extra_tensor_info().mutable_data_segments_idx();
    if (!device().is_cpu()) {
      plan_.usage.add_constant(device(), {is_planned(), is_planned() ? list : 0, index}, bytes_);
    }
    if (!is_planned()) {
      plan_.storage.has_constant_segment() ? check_in_segment(plan_.storage.constants(), index)
                                           : check_in_place(index);
    } else if (list < plan_.storage.mutable_data().size()) {
      check_in_segment(plan_.storage.mutable_data()[static_cast<std::size_t>(list)], index);
    } else {
      report(Rule::MUTABLE_DATA_OUT_OF_RANGE, "extra_tensor_info",
             "the initial value is in mutable_data_segments[", list, "], of ",
             plan_.storage.mutable_data().size());
    }
  }

  void check_in_segment(const StoredValues& values, std::uint32_t index) const {
    if (!check_index(index, values.size())) {
      return;
    }
    const auto extent = values.extent(index);
    if (!extent || !bytes_) {
      return;
    }
    check_size(extent->size);
    if (!is_planned()) {
      check_alignment("data_buffer_idx", extent->begin, "byte ");
    }
  }

  void check_in_place(std::uint32_t index) const {
    const auto buffers = plan_.context.program.constant_buffer();
    if (!check_index(index, buffers.size())) {
      return;
    }
    const auto storage = buffers[index].storage();
    if (storage.is_present() && bytes_) {
      check_size(storage.size());
      check_alignment("data_buffer_idx", plan_.context.offset_of(storage, 0), "byte ");
    }
  }

  bool check_index(std::uint32_t index, std::size_t count) const {
    if (index < count) {
      return true;
    }
    report(Rule::CONSTANT_INDEX_OUT_OF_RANGE, "data_buffer_idx", "there is no stored value ", index,
           ": the program has ", count == 0 ? 0 : count - 1, ", counted from 1");
    return false;
  }

  void check_size(std::uint64_t stored) const {
    if (*bytes_ > stored) {
      report(Rule::CONSTANT_TOO_SMALL, "data_buffer_idx", "the tensor needs ", *bytes_,
             " bytes, but only ", stored, " are stored");
    }
  }

  void check_alignment(std::string_view field, std::uint64_t position,
                       std::string_view what) const {
    const auto element = static_cast<std::uint64_t>(program::bytes(tensor_.scalar_type()));
    if (*bytes_ != 0 && position % element != 0) {
      report(Rule::DATA_MISALIGNED, field, "the data begins at ", what, position,
             ", which is not a multiple of its element size ", element);
    }
  }

  void check_planned() const {
    const auto place = tensor_.allocation_info();
    if (!place) {
      return;
    }
    const Path path(path_, "allocation_info");
    const std::uint64_t at = plan_.context.offset_of(place);
    const auto sizes = plan_.plan.non_const_buffer_sizes();
    if (place.memory_id() == 0 || place.memory_id() >= sizes.size()) {
      plan_.report().add(Rule::MEMORY_ID_OUT_OF_RANGE, Path(path, "memory_id"), at,
                         "there is no planned buffer ", place.memory_id(), ": the method has ",
                         sizes.empty() ? 0 : sizes.size() - 1, ", counted from 1");
      return;
    }
    const std::int64_t size = sizes[place.memory_id()];
    const std::uint64_t offset =
        std::uint64_t{place.memory_offset_high()} << 32 | place.memory_offset_low();
    if (bytes_ && size >= 0) {
      const auto available = static_cast<std::uint64_t>(size);
      if (offset > available || *bytes_ > available - offset) {
        plan_.report().add(Rule::PLANNED_OUT_OF_BUFFER, path, at, "the tensor has ", *bytes_,
                           " bytes from ", offset, " on, but buffer ", place.memory_id(), " has ",
                           available, " in all");
      } else {
        check_alignment("allocation_info", offset, "offset ");
      }
    }
    check_buffer_device(plan_.buffer_devices[place.memory_id()], place.memory_id());
  }

  void check_buffer_device(Device buffer, std::uint32_t memory_id) const {
    if (!has_known_device() || !is_valid(buffer.type) || share_memory(buffer, device())) {
      return;
    }
    if (plan_.plan.non_const_buffer_device().empty()) {
      report(Rule::DEVICE_NOT_PLANNED, "extra_tensor_info", "the tensor is labelled ",
             to_string(device()),
             ", but the method plans all memory on the CPU: export with device memory planning if "
             "a runtime is to honour the label");
      return;
    }
    report(Rule::TENSOR_DEVICE_MISMATCH, "allocation_info", "the tensor is on ",
           to_string(device()), ", but its buffer ", memory_id, " is on ", to_string(buffer));
  }

  PlanCheck& plan_;
  Tensor tensor_;
  const Path& path_;
  std::uint64_t offset_;
  /// What the tensor takes, at most if its shape is dynamic; nothing if that cannot be told.
  std::optional<std::uint64_t> bytes_;
};

}  // namespace

ValueFacts check_tensor(PlanCheck& check, Tensor tensor, const Path& path) {
  return TensorCheck(check, tensor, path).run();
}

}  // namespace placewire::validation
