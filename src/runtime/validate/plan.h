// What the checks of one method share: its view, and facts about its values and buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "placewire/runtime/device.h"
#include "validate/context.h"
#include "validate/storage.h"
#include "validate/usage.h"

namespace placewire::validation {

/// What other checks need to know of a value.
struct ValueFacts {
  program::KernelTypes kind = program::KernelTypes::NONE;
  /// Whether it is a tensor whose data is part of the file, to be read only.
  bool is_constant = false;
  /// Whether it is a tensor of booleans.
  bool is_bool_tensor = false;
  /// Device of a tensor.
  Device device;
  /// Position in `TensorList.items` of the first constant; -1 if there is none.
  std::int32_t first_constant_item = -1;
};

/// One method while it is checked.
struct PlanCheck {
  Context& context;
  const Storage& storage;
  Usage& usage;
  program::ExecutionPlan plan;
  /// `execution_plan[i]`.
  const Path& path;

  /// Device of each entry of `non_const_buffer_sizes`.
  std::vector<Device> buffer_devices = {};
  /// One entry per value.
  std::vector<ValueFacts> values = {};

  Report& report() const noexcept { return context.report; }

  /// Reports a value index that is out of range, and whether it is in range.
  bool check_value(std::int64_t index, const Path& at, std::uint64_t offset) const;

  /// Reports an index that does not name a value of `kind`, and whether it does. `needed_for` says
  /// in the message what must be of that kind.
  bool check_kind(std::int64_t index, program::KernelTypes kind, const Path& at,
                  std::uint64_t offset, std::string_view needed_for) const;

  /// Checks every index of a list of value indices.
  void check_values(schema::Vector<std::int32_t> indices, const Path& parent,
                    std::string_view field) const;
};

/// Checks everything about one method.
void check_plan(PlanCheck& check);

// The parts of check_plan, in the order in which each needs those before it.

/// Buffer sizes and their devices; fills `buffer_devices`.
void check_buffers(PlanCheck& check);
/// Tensors and lists; fills `values`.
void check_value_list(PlanCheck& check);
/// One tensor, at `path`; returns what other checks need of it.
ValueFacts check_tensor(PlanCheck& check, program::Tensor tensor, const Path& path);
/// Delegates and chains.
void check_instructions(PlanCheck& check);
/// One delegate, at `path`; returns the device that it runs on, nothing if that cannot be told.
std::optional<Device> check_delegate(PlanCheck& check, program::BackendDelegate delegate,
                                     const Path& path);

}  // namespace placewire::validation
