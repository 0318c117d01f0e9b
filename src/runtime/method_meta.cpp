// What a file says of its methods.
#include <algorithm>
#include <string>

#include "placewire/runtime/kernel.h"
#include "placewire/runtime/program.h"

namespace placewire {
namespace {

namespace program = schema::program;

TensorMeta tensor_meta(program::Tensor tensor) {
  const auto sizes = tensor.sizes();
  const auto order = tensor.dim_order();
  const auto extra = tensor.extra_tensor_info();
  return {tensor.scalar_type(),
          {sizes.begin(), sizes.end()},
          {order.begin(), order.end()},
          tensor.shape_dynamism(),
          {extra.device_type(), extra.device_index()},
          tensor.has_allocation_info(),
          std::string(extra.fully_qualified_name())};
}

Error no_such(const char* what, std::size_t index, std::size_t count) {
  return {ErrorCode::INVALID_ARGUMENT, "there is no " + std::string(what) + ' ' +
                                           std::to_string(index) + ": the method has " +
                                           std::to_string(count) + ", counted from 0"};
}

Result<ValueMeta> value_meta(program::ExecutionPlan plan, schema::Vector<std::int32_t> indices,
                             const char* what, std::size_t index) {
  if (index >= indices.size()) {
    return no_such(what, index, indices.size());
  }
  const program::EValue value = plan.values()[static_cast<std::size_t>(indices[index])];
  ValueMeta meta{value.val_type(), std::nullopt};
  if (meta.type == program::KernelTypes::Tensor) {
    meta.tensor = tensor_meta(value.val_as_Tensor());
  }
  return meta;
}

}  // namespace

std::string_view MethodMeta::name() const noexcept { return plan_.name(); }

std::size_t MethodMeta::input_count() const noexcept { return plan_.inputs().size(); }

std::size_t MethodMeta::output_count() const noexcept { return plan_.outputs().size(); }

Result<ValueMeta> MethodMeta::input(std::size_t index) const {
  return value_meta(plan_, plan_.inputs(), "input", index);
}

Result<ValueMeta> MethodMeta::output(std::size_t index) const {
  return value_meta(plan_, plan_.outputs(), "output", index);
}

std::string_view MethodMeta::input_tree() const noexcept {
  return plan_.container_meta_type().encoded_inp_str();
}

std::string_view MethodMeta::output_tree() const noexcept {
  return plan_.container_meta_type().encoded_out_str();
}

std::size_t MethodMeta::memory_planned_buffer_count() const noexcept {
  const std::size_t entries = plan_.non_const_buffer_sizes().size();
  return entries == 0 ? 0 : entries - 1;
}

Result<std::size_t> MethodMeta::memory_planned_buffer_size(std::size_t index) const {
  if (index >= memory_planned_buffer_count()) {
    return no_such("planned buffer", index, memory_planned_buffer_count());
  }
  return static_cast<std::size_t>(plan_.non_const_buffer_sizes()[index + 1]);
}

Result<Device> MethodMeta::memory_planned_buffer_device(std::size_t index) const {
  if (index >= memory_planned_buffer_count()) {
    return no_such("planned buffer", index, memory_planned_buffer_count());
  }
  for (const program::NonConstBufferDevice entry : plan_.non_const_buffer_device()) {
    if (static_cast<std::size_t>(entry.buffer_idx()) == index + 1) {
      return Device{entry.device_type(), entry.device_index()};
    }
  }
  return Device{};
}

std::size_t MethodMeta::instruction_count() const noexcept {
  std::size_t count = 0;
  for (const program::Chain chain : plan_.chains()) {
    count += chain.instructions().size();
  }
  return count;
}

std::vector<std::string_view> MethodMeta::backends() const {
  std::vector<std::string_view> ids;
  for (const program::BackendDelegate delegate : plan_.delegates()) {
    if (std::find(ids.begin(), ids.end(), delegate.id()) == ids.end()) {
      ids.push_back(delegate.id());
    }
  }
  return ids;
}

std::vector<std::string> MethodMeta::operators() const {
  std::vector<std::string> names;
  for (const program::Operator op : plan_.operators()) {
    names.push_back(kernel_name(op.name(), op.overload()));
  }
  return names;
}

}  // namespace placewire
