// Uses a file as a loader would, without a check of its own: what the validator lets pass must not
// make this read or write outside anything. Run it under AddressSanitizer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "placewire/schema/device_info/views.h"
#include "placewire/schema/program/views.h"

/// Loads the program in a .pte file.
class Loader {
 public:
  explicit Loader(placewire::schema::Bytes file)
      : file_(file), program_(placewire::schema::program::view_program(file)) {
    if (file.size() >= 40 && std::memcmp(file.data() + 8, "eh00", 4) == 0) {
      base_ = placewire::schema::wire::load<std::uint64_t>(file.data() + 24);
    }
  }

  void load() {
    for (const auto segment : program_.segments()) touch(segment);
    for (const auto named : program_.named_data()) {
      touch(program_.segments()[named.segment_index()]);
    }
    for (const auto plan : program_.execution_plan()) load_plan(plan);
  }

 private:
  using Plan = placewire::schema::program::ExecutionPlan;
  using Tensor = placewire::schema::program::Tensor;
  using Segment = placewire::schema::program::DataSegment;

  /// Larger buffers are not allocated, but their tensors are still compared with their size.
  static constexpr std::int64_t kLargestBuffer = 1 << 20;

  static void require(bool condition) {
    if (!condition) std::abort();
  }

  /// Reads the first and the last of `size` bytes.
  static void touch(const std::uint8_t* data, std::uint64_t size) {
    if (size == 0) return;
    volatile std::uint8_t sum = data[0];
    sum = static_cast<std::uint8_t>(sum + data[size - 1]);
  }

  void touch(Segment segment) const {
    if (segment.size() != 0) touch(file_.data() + base_ + segment.offset(), segment.size());
  }

  void load_plan(Plan plan) {
    std::vector<std::vector<std::uint8_t>> buffers;
    for (const std::int64_t size : plan.non_const_buffer_sizes()) {
      require(size >= 0);
      buffers.emplace_back(static_cast<std::size_t>(size <= kLargestBuffer ? size : 0));
    }
    std::vector<std::uint8_t> devices(buffers.size());
    for (const auto entry : plan.non_const_buffer_device()) {
      devices.at(static_cast<std::size_t>(entry.buffer_idx())) = 1;
    }
    for (const auto value : plan.values()) load_value(plan, value, buffers);
    for (const std::int32_t index : plan.inputs()) use(plan, index);
    for (const std::int32_t index : plan.outputs()) use(plan, index);
    for (const auto delegate : plan.delegates()) load_delegate(delegate);
    for (const auto chain : plan.chains()) {
      for (const auto instruction : chain.instructions()) run(plan, chain, instruction);
    }
  }

  static void use(Plan plan, std::int64_t index) {
    require(index >= 0 && static_cast<std::uint64_t>(index) < plan.values().size());
  }

  void load_value(Plan plan, placewire::schema::program::EValue value,
                  std::vector<std::vector<std::uint8_t>>& buffers) const {
    if (const auto tensor = value.val_as_Tensor()) load_tensor(plan, tensor, buffers);
    for (const std::int64_t item : value.val_as_IntList().items()) {
      use(plan, item);
      require(static_cast<bool>(plan.values()[static_cast<std::size_t>(item)].val_as_Int()));
    }
    for (const std::int32_t item : value.val_as_TensorList().items()) {
      use(plan, item);
      require(static_cast<bool>(plan.values()[static_cast<std::size_t>(item)].val_as_Tensor()));
    }
    for (const std::int32_t item : value.val_as_OptionalTensorList().items()) {
      if (item != -1) use(plan, item);
    }
  }

  void load_tensor(Plan plan, Tensor tensor,
                   std::vector<std::vector<std::uint8_t>>& buffers) const {
    std::uint8_t seen[16] = {};
    require(tensor.sizes().size() <= sizeof seen &&
            tensor.dim_order().size() == tensor.sizes().size());
    for (const std::uint8_t dimension : tensor.dim_order()) {
      require(dimension < tensor.sizes().size() && seen[dimension]++ == 0);
    }
    auto bytes =
        static_cast<std::uint64_t>(placewire::schema::program::bytes(tensor.scalar_type()));
    require(bytes != 0);
    for (const std::int32_t size : tensor.sizes()) bytes *= static_cast<std::uint64_t>(size);
    if (tensor.data_buffer_idx() != 0) {
      touch(stored_at(tensor), bytes);
    }
    if (const auto place = tensor.allocation_info()) {
      const std::uint64_t offset =
          std::uint64_t{place.memory_offset_high()} << 32 | place.memory_offset_low();
      std::vector<std::uint8_t>& buffer = buffers.at(place.memory_id());
      const std::int64_t size = plan.non_const_buffer_sizes()[place.memory_id()];
      require(offset + bytes <= static_cast<std::uint64_t>(size));
      if (size <= kLargestBuffer && bytes != 0) {
        std::memset(buffer.data() + offset, 1, static_cast<std::size_t>(bytes));
      }
    }
  }

  const std::uint8_t* stored_at(Tensor tensor) const {
    const std::uint32_t index = tensor.data_buffer_idx();
    auto list = program_.constant_segment();
    if (tensor.allocation_info()) {
      const auto lists = program_.mutable_data_segments();
      const std::uint64_t which = tensor.extra_tensor_info().mutable_data_segments_idx();
      require(which < lists.size());
      list = lists[static_cast<std::size_t>(which)];
    } else if (list.offsets().size() <= 1) {
      require(index < program_.constant_buffer().size());
      return program_.constant_buffer()[index].storage().data();
    }
    require(index < list.offsets().size());
    const Segment segment = program_.segments()[list.segment_index()];
    // Where an empty segment would be says nothing, and nobody reads there.
    return segment.size() == 0 ? file_.data()
                               : file_.data() + base_ + segment.offset() + list.offsets()[index];
  }

  void load_delegate(placewire::schema::program::BackendDelegate delegate) const {
    const auto where = delegate.processed();
    if (where.location() == placewire::schema::program::DataLocation::SEGMENT) {
      require(where.index() < program_.segments().size());
      touch(program_.segments()[where.index()]);
    } else {
      require(where.index() < program_.backend_delegate_data().size());
    }
  }

  static void run(Plan plan, placewire::schema::program::Chain chain,
                  placewire::schema::program::Instruction instruction) {
    if (const auto kernel = instruction.instr_args_as_KernelCall()) {
      require(static_cast<std::size_t>(kernel.op_index()) < plan.operators().size());
      for (const std::int32_t index : kernel.args()) use(plan, index);
    }
    if (const auto call = instruction.instr_args_as_DelegateCall()) {
      require(static_cast<std::size_t>(call.delegate_index()) < plan.delegates().size());
      for (const std::int32_t index : call.args()) use(plan, index);
    }
    if (const auto move = instruction.instr_args_as_MoveCall()) {
      use(plan, move.move_from());
      use(plan, move.move_to());
    }
    if (const auto jump = instruction.instr_args_as_JumpFalseCall()) {
      use(plan, jump.cond_value_index());
      require(static_cast<std::size_t>(jump.destination_instruction()) <=
              chain.instructions().size());
    }
    if (const auto free = instruction.instr_args_as_FreeCall()) use(plan, free.value_index());
  }

  placewire::schema::Bytes file_;
  placewire::schema::program::Program program_;
  std::uint64_t base_ = 0;
};

inline void load(placewire::schema::Bytes file) { Loader(file).load(); }
