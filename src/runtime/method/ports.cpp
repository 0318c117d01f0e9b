// Inputs and outputs of methods.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "method/memory_use.h"
#include "method/state.h"
#include "placewire/runtime/tensor_ptr.h"
#include "text.h"

namespace placewire {
namespace {

Error no_such(const MethodMeta& meta, const char* what, std::size_t index, std::size_t count) {
  return {ErrorCode::INVALID_ARGUMENT, printable(meta.name()) + ": there is no " + what + ' ' +
                                           std::to_string(index) + ", the method has " +
                                           std::to_string(count) + ", counted from 0"};
}

Error bad_input(const MethodMeta& meta, std::size_t index, const std::string& why) {
  return {ErrorCode::INVALID_ARGUMENT,
          printable(meta.name()) + ": input " + std::to_string(index) + ' ' + why};
}

/// How a number or a text is spelled in a message; what it is, if it is something else.
std::string spelled(const EValue& value) {
  if (const auto* number = value.get_if<std::int64_t>()) {
    return "the int " + std::to_string(*number);
  }
  if (const auto* flag = value.get_if<bool>()) {
    return *flag ? "True" : "False";
  }
  if (const auto* real = value.get_if<double>()) {
    std::array<char, 32> digits{};  // as few as tell it from its neighbours
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *real).ptr;
    return "the float " + std::string(digits.data(), end);
  }
  if (const auto* text = value.get_if<std::string_view>()) {
    return "the string " + quoted(*text);
  }
  return describe(value);
}

/// Whether two values that are no tensors are the same; lists never are.
bool is_same(const EValue& left, const EValue& right) noexcept {
  if (left.is_none() || right.is_none()) {
    return left.is_none() && right.is_none();
  }
  if (const auto* number = left.get_if<std::int64_t>()) {
    const auto* other = right.get_if<std::int64_t>();
    return other != nullptr && *number == *other;
  }
  if (const auto* flag = left.get_if<bool>()) {
    const auto* other = right.get_if<bool>();
    return other != nullptr && *flag == *other;
  }
  if (const auto* text = left.get_if<std::string_view>()) {
    const auto* other = right.get_if<std::string_view>();
    return other != nullptr && *text == *other;
  }
  const auto* real = left.get_if<double>();
  const auto* other = right.get_if<double>();
  return real != nullptr && other != nullptr && std::memcmp(real, other, sizeof *real) == 0;
}

std::string listed(Span<const std::uint8_t> order) {
  std::string text = "[";
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(order[i]);
  }
  return text + ']';
}

/// A tensor of the program as its messages spell it: `float32[<=32, 16] on cpu:0`. A size that may
/// change is shown by its bound, because what it is now says only what the last call brought.
std::string accepted(const TensorImpl& tensor, schema::Vector<std::int32_t> bounds) {
  std::string text(schema::program::torch(tensor.scalar_type()));
  text += '[';
  for (std::size_t i = 0; i < tensor.rank(); ++i) {
    text += i == 0 ? "" : ", ";
    text += (tensor.is_static() ? "" : "<=") + std::to_string(bounds[i]);
  }
  return text + "] on " + to_string(tensor.device());
}

/// Says which size a tensor of the program cannot take; empty if it can take all of them.
std::string wrong_size(const TensorImpl& tensor, schema::Vector<std::int32_t> bounds,
                       const TensorImpl& given) {
  for (std::size_t i = 0; i < tensor.rank(); ++i) {
    const std::int64_t size = given.sizes()[i];
    if (tensor.is_static() ? size != bounds[i] : size > bounds[i]) {
      return "size " + std::to_string(size) + " at dimension " + std::to_string(i) + ", not " +
             (tensor.is_static() ? "" : "at most ") + std::to_string(bounds[i]);
    }
  }
  return "";
}

bool same_order(const TensorImpl& left, const TensorImpl& right) noexcept {
  return std::memcmp(left.dim_order().data(), right.dim_order().data(), left.rank()) == 0;
}

}  // namespace

Status Method::State::set_input(std::size_t index, const EValue& value) {
  if (index >= inputs.size()) {
    return no_such(meta, "input", index, inputs.size());
  }
  const Port& port = inputs[index];
  if (port.tensor != nullptr) {
    const TensorImpl* const given = value.tensor();
    return given != nullptr ? set_tensor(index, *given)
                            : bad_input(meta, index,
                                        "is " + accepted(*port.tensor, bounds_of(port)) + ", not " +
                                            describe(value));
  }
  const EValue* expected = &(*values)[port.value];
  for (const Replaced& each : replaced) {
    expected = each.value == expected ? &each.original : expected;
  }
  if (!is_same(*expected, value)) {
    return bad_input(meta, index,
                     "must be " + spelled(*expected) + ", as the program was exported with, not " +
                         spelled(value));
  }
  return {};
}

schema::Vector<std::int32_t> Method::State::bounds_of(const Port& port) const {
  return meta.plan().values()[port.value].val_as_Tensor().sizes();
}

Status Method::State::set_tensor(std::size_t index, const TensorImpl& given) {
  Port& port = inputs[index];
  TensorImpl& tensor = *port.tensor;
  const auto bounds = bounds_of(port);
  const auto refuse = [&](const std::string& why) { return bad_input(meta, index, why); };
  if (given.scalar_type() != tensor.scalar_type() || given.rank() != tensor.rank() ||
      !share_memory(given.device(), tensor.device())) {
    return refuse("must be like " + accepted(tensor, bounds) + ", not " + to_string(given));
  }
  // An order follows from sizes, so the sizes are what to look at first.
  if (const std::string wrong = wrong_size(tensor, bounds, given); !wrong.empty()) {
    return refuse("does not fit " + accepted(tensor, bounds) + ": " + wrong);
  }
  if (tensor.rank() != 0 && !same_order(tensor, given)) {
    return refuse("must have the order of dimensions " + listed(tensor.dim_order()) + ", not " +
                  listed(given.dim_order()));
  }
  const bool is_empty = given.numel() == 0;
  if (given.data() == nullptr && !is_empty) {
    return refuse("has no data");
  }
  if (!port.has_memory &&
      reinterpret_cast<std::uintptr_t>(given.data()) % tensor.element_size() != 0) {
    return refuse("must begin at a multiple of its element size " +
                  std::to_string(tensor.element_size()));
  }
  if (Status status = port.has_memory ? tensor.resize(given.sizes()) : lend(port, given);
      !status.ok()) {
    return refuse("does not fit: " + status.error().message);
  }
  if (!port.has_memory || is_empty || given.data() == tensor.data()) {
    return {};
  }
  if (tensor.is_read_only()) {
    return refuse("is a constant of the program");
  }
  Status status = copy_tensor_data(given, tensor);
  return status.ok() ? status : Error{status.error().code, refuse(status.error().message).message};
}

/// Points an input to the memory of a caller, which has room for what the caller's tensor may grow
/// to: that may be less than what the program allows.
Status Method::State::lend(Port& port, const TensorImpl& given) {
  TensorImpl& tensor = *port.tensor;
  const Span<std::int64_t> bounds = values->bounds(tensor);
  std::array<std::int64_t, kMaximumRank> before;
  std::copy(bounds.begin(), bounds.end(), before.begin());
  const auto allowed = bounds_of(port);
  std::copy(allowed.begin(), allowed.end(), bounds.begin());
  if (Status status = tensor.resize(given.sizes()); !status.ok()) {
    std::copy(before.begin(), before.begin() + bounds.size(), bounds.begin());
    return status;
  }
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] = std::min(bounds[i], given.bounds()[i]);
  }
  tensor.set_data(given.data());
  tensor.set_read_only(given.is_read_only());
  port.is_set = true;
  return {};
}

Status Method::set_input(std::size_t index, const EValue& value) {
  try {
    MemoryUse use(*state_->memory);
    return use.ok() ? state_->set_input(index, value) : busy(state_->meta);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Status Method::State::set_output_memory(std::size_t index, void* data, std::size_t nbytes) {
  if (index >= outputs.size()) {
    return no_such(meta, "output", index, outputs.size());
  }
  Port& port = outputs[index];
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::INVALID_ARGUMENT,
                 printable(meta.name()) + ": output " + std::to_string(index) + ' ' + why};
  };
  if (port.tensor == nullptr) {
    return refuse("is no tensor");
  }
  if (port.has_memory) {
    return refuse("has memory of the method already");
  }
  std::size_t needed = port.tensor->element_size();
  for (const std::int64_t bound : port.tensor->bounds()) {
    needed *= static_cast<std::size_t>(bound);
  }
  if (nbytes < needed || (data == nullptr && needed != 0)) {
    return refuse("needs " + std::to_string(needed) + " bytes, not " +
                  std::to_string(data == nullptr ? 0 : nbytes));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % port.tensor->element_size() != 0) {
    return refuse("must begin at a multiple of its element size " +
                  std::to_string(port.tensor->element_size()));
  }
  port.tensor->set_data(data);
  port.tensor->set_read_only(false);
  return {};
}

Status Method::set_output_memory(std::size_t index, void* data, std::size_t nbytes) {
  try {
    MemoryUse use(*state_->memory);
    return use.ok() ? state_->set_output_memory(index, data, nbytes) : busy(state_->meta);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

Result<const EValue*> Method::input(std::size_t index) const {
  if (index >= state_->inputs.size()) {
    return no_such(state_->meta, "input", index, state_->inputs.size());
  }
  return static_cast<const EValue*>(&(*state_->values)[state_->inputs[index].value]);
}

Result<const EValue*> Method::output(std::size_t index) const {
  if (index >= state_->outputs.size()) {
    return no_such(state_->meta, "output", index, state_->outputs.size());
  }
  return static_cast<const EValue*>(&(*state_->values)[state_->outputs[index].value]);
}

}  // namespace placewire
