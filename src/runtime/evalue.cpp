// Says what a value is, for messages.
#include "placewire/runtime/evalue.h"

#include <string>

namespace placewire {
namespace {

std::string list_of(std::size_t count, const char* one, const char* several) {
  return "list of " + std::to_string(count) + ' ' + (count == 1 ? one : several);
}

/// Describes each alternative of EValue::Content.
struct Describe {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(std::int64_t) const { return "int"; }
  std::string operator()(bool) const { return "bool"; }
  std::string operator()(double) const { return "float"; }
  std::string operator()(const TensorImpl* tensor) const {
    return tensor == nullptr ? "tensor that is not there" : to_string(*tensor);
  }
  std::string operator()(std::string_view) const { return "string"; }
  std::string operator()(IntList list) const { return list_of(list.items.size(), "int", "ints"); }
  std::string operator()(Span<const double> list) const {
    return list_of(list.size(), "float", "floats");
  }
  std::string operator()(Span<const bool> list) const {
    return list_of(list.size(), "bool", "bools");
  }
  std::string operator()(TensorList list) const {
    return list_of(list.items.size(), "tensor", "tensors");
  }
  std::string operator()(OptionalTensorList list) const {
    return list_of(list.items.size(), "optional tensor", "optional tensors");
  }
};

}  // namespace

std::string describe(const EValue& value) { return std::visit(Describe{}, value.content()); }

}  // namespace placewire
