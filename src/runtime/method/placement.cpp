// Gives the tensors of a method their memory, and what it holds at first.
#include "method/placement.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "method/own_storage.h"
#include "text.h"

namespace placewire {
namespace {

namespace program = schema::program;

std::size_t offset_of(program::AllocationDetails place) noexcept {
  return static_cast<std::size_t>(std::uint64_t{place.memory_offset_high()} << 32 |
                                  place.memory_offset_low());
}

Error does_not_fit(const MethodMeta& meta, const std::string& why) {
  return {ErrorCode::INVALID_ARGUMENT,
          printable(meta.name()) + ": the planned memory that was given does not fit: " + why};
}

Status check_given(const MethodMeta& meta, const PlannedMemory& given,
                   const std::vector<Device>& devices) {
  if (given.buffer_count() < devices.size()) {
    return does_not_fit(meta, "it has " + std::to_string(given.buffer_count()) + " buffers of " +
                                  std::to_string(devices.size()));
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::size_t needed = meta.memory_planned_buffer_size(i).value();
    if (given.size(i) < needed) {
      return does_not_fit(meta, "buffer " + std::to_string(i) + " has " +
                                    std::to_string(given.size(i)) + " bytes of " +
                                    std::to_string(needed));
    }
    if (needed != 0 && !share_memory(given.device(i), devices[i])) {
      return does_not_fit(meta, "buffer " + std::to_string(i) + " is on " +
                                    to_string(given.device(i)) + ", not on " +
                                    to_string(devices[i]));
    }
  }
  return {};
}

/// Sets planned memory to zero, piece by piece.
Status set_to_zero(const TensorImpl& tensor) {
  static constexpr std::array<std::uint8_t, 4096> kZeros{};
  auto* data = static_cast<std::uint8_t*>(tensor.data());
  for (std::size_t left = tensor.nbytes(); left != 0;) {
    const std::size_t piece = std::min(left, kZeros.size());
    if (Status status = copy_to_device(data, tensor.device(), kZeros.data(), piece); !status.ok()) {
      return status;
    }
    data += piece;
    left -= piece;
  }
  return {};
}

bool is_aligned(const void* data, const TensorImpl& tensor) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % tensor.element_size() == 0;
}

}  // namespace

Status provide_memory(Method::State& state, const DeviceChoice& choice,
                      std::shared_ptr<PlannedMemory> given) {
  if (given != nullptr) {
    if (Status status = check_given(state.meta, *given, choice.buffers); !status.ok()) {
      return status;
    }
    state.memory = std::move(given);
    return {};
  }
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < choice.buffers.size(); ++i) {
    sizes.push_back(state.meta.memory_planned_buffer_size(i).value());
  }
  Result<std::shared_ptr<PlannedMemory>> memory =
      PlannedMemory::create(sizes, choice.buffers, choice.alignments);
  if (!memory.ok()) {
    return Error{memory.error().code, printable(state.meta.name()) + ": " + memory.error().message};
  }
  state.memory = std::move(memory).value();
  return {};
}

Status place_tensors(Method::State& state) {
  struct Copied {
    TensorImpl* tensor;
    const std::uint8_t* from;
    std::size_t place;
  };
  std::vector<Copied> copied;
  OwnStorage storage;
  const auto values = state.meta.plan().values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const program::Tensor from = values[i].val_as_Tensor();
    TensorImpl* const tensor = state.values->tensor(i);
    if (const program::AllocationDetails at = from.allocation_info()) {
      auto* const buffer = static_cast<std::uint8_t*>(state.memory->data(at.memory_id() - 1));
      if (tensor->nbytes() == 0 || buffer == nullptr) {
        continue;
      }
      tensor->set_data(buffer + offset_of(at));
      if (!is_aligned(tensor->data(), *tensor)) {
        return Error{ErrorCode::NOT_SUPPORTED,
                     printable(state.meta.name()) + ": value " + std::to_string(i) +
                         " is planned at byte " + std::to_string(offset_of(at)) +
                         " of its buffer, " + "which is no multiple of its element size " +
                         std::to_string(tensor->element_size())};
      }
    } else if (tensor != nullptr && is_constant(from)) {
      const std::uint8_t* const data = state.program->constant(from.data_buffer_idx());
      tensor->set_read_only(true);
      if (tensor->device().is_cpu() && is_aligned(data, *tensor)) {
        tensor->set_data(const_cast<std::uint8_t*>(data));
      } else {
        copied.push_back({tensor, data, storage.request(tensor->device(), tensor->nbytes())});
      }
    }
  }
  if (Status status = storage.allocate(state.blocks); !status.ok()) {
    return status;
  }
  for (const Copied& each : copied) {
    void* const data = storage.data(each.place);
    each.tensor->set_data(data);
    Status status = copy_to_device(data, each.tensor->device(), each.from, each.tensor->nbytes());
    if (!status.ok()) {
      return status;
    }
  }
  return {};
}

Status set_initial_values(Method::State& state, Initialized& done, bool is_fresh) {
  const auto values = state.meta.plan().values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const program::Tensor from = values[i].val_as_Tensor();
    const program::AllocationDetails at = from.allocation_info();
    const std::uint32_t index = from.data_buffer_idx();
    // A buffer of the model without an initial value is zero.
    if (!at || (index == 0 && !from.extra_tensor_info().has_fully_qualified_name())) {
      continue;
    }
    const TensorImpl& tensor = *state.values->tensor(i);
    const std::uint64_t list = from.extra_tensor_info().mutable_data_segments_idx();
    const std::uint8_t* const data =
        index == 0 ? nullptr : state.program->initial_value(list, index);
    const std::tuple<std::size_t, std::size_t, const void*> key(at.memory_id(), offset_of(at),
                                                                data);
    if (tensor.nbytes() == 0 || done.count(key) != 0) {
      continue;
    }
    const bool is_zero = is_fresh && state.memory->is_host_memory(at.memory_id() - 1);
    Status status;
    if (data != nullptr) {
      status = copy_to_device(tensor.data(), tensor.device(), data, tensor.nbytes());
    } else if (!is_zero) {
      status = set_to_zero(tensor);
    }
    if (!status.ok()) {
      return Error{status.error().code, printable(state.meta.name()) + ": initial value of value " +
                                            std::to_string(i) + ": " + status.error().message};
    }
    done.insert(key);
  }
  return {};
}

}  // namespace placewire
