// Checks one method: planned buffers and their devices, values, inputs and outputs.
#include "validate/plan.h"

namespace placewire::validation {
namespace {

using program::KernelTypes;

/// Reports the entries of the device list, and notes the device of each buffer.
void check_buffer_devices(PlanCheck& check) {
  const auto sizes = check.plan.non_const_buffer_sizes();
  const auto entries = check.plan.non_const_buffer_device();
  check.buffer_devices.assign(sizes.size(), Device{});
  // Index of the entry that names a buffer, counted from 1; 0 if there is none.
  std::vector<std::size_t> named_by(sizes.size(), 0);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const program::NonConstBufferDevice entry = entries[i];
    const Path path(check.path, "non_const_buffer_device", i);
    const std::uint64_t at = check.context.offset_of(entry);
    if (entry.device_index() < 0) {
      check.report().add(Rule::DEVICE_INDEX_NEGATIVE, Path(path, "device_index"), at,
                         "the device index is ", int{entry.device_index()}, ", expected 0 to 127");
    } else if (entry.device_type() == DeviceType::CPU && entry.device_index() != 0) {
      check.report().add(Rule::CPU_INDEX_NOT_ZERO, Path(path, "device_index"), at,
                         "the CPU has the index ", int{entry.device_index()},
                         ", expected 0: there is only one CPU");
    }
    const std::int32_t index = entry.buffer_idx();
    if (index < 1 || static_cast<std::size_t>(index) >= sizes.size()) {
      check.report().add(Rule::BUFFER_DEVICE_OUT_OF_RANGE, Path(path, "buffer_idx"), at,
                         "there is no planned buffer ", index, ": the method has ",
                         sizes.empty() ? 0 : sizes.size() - 1, ", counted from 1");
      continue;
    }
    std::size_t& name = named_by[static_cast<std::size_t>(index)];
    if (name != 0) {
      check.report().add(Rule::DUPLICATE_BUFFER_DEVICE, Path(path, "buffer_idx"), at,
                         "non_const_buffer_device[", name - 1, "] names buffer ", index,
                         " already; readers take the first");
      continue;
    }
    name = i + 1;
    check.buffer_devices[static_cast<std::size_t>(index)] = {entry.device_type(),
                                                             entry.device_index()};
  }
}

/// Checks that the items of a list name values of one kind. Returns the first constant's position.
template <class T>
std::int32_t check_items(const PlanCheck& check, schema::Vector<T> items, KernelTypes kind,
                         bool may_be_none, const Path& list) {
  std::int32_t first_constant = -1;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::int64_t item = items[i];
    if (may_be_none && item == -1) {
      continue;
    }
    const bool is_sound = check.check_kind(item, kind, Path(list, "items", i),
                                           check.context.offset_of(items, i), "list items");
    if (is_sound && first_constant < 0 &&
        check.values[static_cast<std::size_t>(item)].is_constant) {
      first_constant = static_cast<std::int32_t>(i);
    }
  }
  return first_constant;
}

void check_list(PlanCheck& check, program::EValue value, ValueFacts& facts, const Path& path) {
  switch (facts.kind) {
    case KernelTypes::IntList:
      check_items(check, value.val_as_IntList().items(), KernelTypes::Int, false, path);
      break;
    case KernelTypes::TensorList:
      facts.first_constant_item =
          check_items(check, value.val_as_TensorList().items(), KernelTypes::Tensor, false, path);
      break;
    case KernelTypes::OptionalTensorList:
      check_items(check, value.val_as_OptionalTensorList().items(), KernelTypes::Tensor, true,
                  path);
      break;
    default:
      break;
  }
}

}  // namespace

bool PlanCheck::check_value(std::int64_t index, const Path& at, std::uint64_t offset) const {
  if (index >= 0 && static_cast<std::uint64_t>(index) < values.size()) {
    return true;
  }
  report().add(Rule::VALUE_INDEX_OUT_OF_RANGE, at, offset, "there is no value ", index,
               ": the method has ", values.size(), ", counted from 0");
  return false;
}

bool PlanCheck::check_kind(std::int64_t index, KernelTypes kind, const Path& at,
                           std::uint64_t offset, std::string_view needed_for) const {
  if (!check_value(index, at, offset)) {
    return false;
  }
  const KernelTypes found = values[static_cast<std::size_t>(index)].kind;
  if (found == kind) {
    return true;
  }
  // An absent value, or one of a kind that this schema does not know, has been reported already.
  if (found != KernelTypes::NONE && is_valid(found)) {
    report().add(Rule::VALUE_WRONG_KIND, at, offset, "value ", index, " is of kind ", name(found),
                 ", ", needed_for, " must be of kind ", name(kind));
  }
  return false;
}

void PlanCheck::check_values(schema::Vector<std::int32_t> indices, const Path& parent,
                             std::string_view field) const {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    check_value(indices[i], Path(parent, field, i), context.offset_of(indices, i));
  }
}

void check_buffers(PlanCheck& check) {
  const auto sizes = check.plan.non_const_buffer_sizes();
  if (check.plan.has_non_const_buffer_sizes() && sizes.empty()) {
    check.report().add(Rule::BUFFER_SIZE_RESERVED, Path(check.path, "non_const_buffer_sizes"),
                       check.context.offset_of(check.plan),
                       "the list is empty, expected the reserved entry 0 with the value 0");
  }
  check_buffer_devices(check);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    if (i == 0 && size != 0) {
      check.report().add(Rule::BUFFER_SIZE_RESERVED, Path(check.path, "non_const_buffer_sizes", i),
                         check.context.offset_of(sizes, i), "entry 0 is ", size,
                         ", but it is reserved and must be 0: buffers count from 1");
    } else if (size < 0) {
      check.report().add(Rule::BUFFER_SIZE_NEGATIVE, Path(check.path, "non_const_buffer_sizes", i),
                         check.context.offset_of(sizes, i), "the size is ", size,
                         ", expected 0 or more");
    }
    if (size > 0) {
      check.usage.add_buffer(check.buffer_devices[i], static_cast<std::uint64_t>(size));
    }
  }
}

void check_value_list(PlanCheck& check) {
  const auto values = check.plan.values();
  check.values.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const program::EValue value = values[i];
    ValueFacts facts;
    facts.kind = value.val_type();
    if (facts.kind == KernelTypes::Tensor) {
      const Path path(check.path, "values", i);
      facts = check_tensor(check, value.val_as_Tensor(), Path(path, "val"));
    }
    check.values.push_back(facts);
  }
  // Lists may refer to values behind them, so they come when all are known.
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Path path(check.path, "values", i);
    check_list(check, values[i], check.values[i], Path(path, "val"));
  }
}

void check_plan(PlanCheck& check) {
  check_buffers(check);
  check_value_list(check);
  check.check_values(check.plan.inputs(), check.path, "inputs");
  check.check_values(check.plan.outputs(), check.path, "outputs");
  check_instructions(check);
}

}  // namespace placewire::validation
