// The checks of walk_schema.h, one function for each kind of definition.
#include "walk_schema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace placewire {
namespace {

template <typename Items, typename Check>
bool all(const Items& items, Check check) {
  return std::all_of(items.begin(), items.end(), check);
}

bool is_number(const WalkType& type) { return type.size <= 8; }

class Description {
 public:
  explicit Description(const WalkSchema& schema)
      : schema_(schema), heights_(schema.structs.size(), kUnknown) {}

  bool is_sound() {
    return all(schema_.tables, [&](const WalkTable& one) { return table(one); }) &&
           all(schema_.structs, [&](const WalkStruct& one) { return structure(one); }) &&
           all(schema_.enums, [&](const WalkEnum& one) { return enumeration(one); }) &&
           all(schema_.unions, [&](const WalkUnion& one) { return any_of(one); }) && structs_end();
  }

 private:
  static constexpr unsigned kUnknown = 0;
  static constexpr unsigned kEndless = kMostNestedStructs + 1;

  [[nodiscard]] bool trigger(std::int32_t number) const {
    return number == kNoTrigger ||
           (number >= 0 && static_cast<std::uint32_t>(number) < schema_.triggers);
  }

  [[nodiscard]] bool type(const WalkType& type) const {
    if (type.alignment == 0 || type.size == 0) {
      return false;
    }
    switch (type.kind) {
      case ValueKind::kScalar:
      case ValueKind::kString:
        return true;
      case ValueKind::kEnum:
        return type.definition < schema_.enums.size() && is_number(type);
      case ValueKind::kStruct:
        return type.definition < schema_.structs.size() &&
               type.size == schema_.structs[type.definition].size;
      case ValueKind::kUnion:
        return type.definition < schema_.unions.size() && is_number(type);
      case ValueKind::kTable:
      case ValueKind::kNested:
        return type.definition < schema_.tables.size();
    }
    return false;
  }

  [[nodiscard]] bool table(const WalkTable& table) const {
    return trigger(table.trigger) && trigger(table.root_trigger) &&
           all(table.fields, [&](const WalkField& field) {
             return trigger(field.if_present) && trigger(field.if_absent) && type(field.type) &&
                    (field.id > 0 || field.type.kind != ValueKind::kUnion) &&
                    !(field.vector && field.type.kind == ValueKind::kNested);
           });
  }

  [[nodiscard]] bool structure(const WalkStruct& content) const {
    return trigger(content.trigger) && content.alignment != 0 &&
           all(content.parts, [&](const WalkPart& part) {
             const std::uint64_t count = std::max(1U, part.length);
             return (part.type.kind == ValueKind::kEnum || part.type.kind == ValueKind::kStruct) &&
                    type(part.type) && part.offset + count * part.type.size <= content.size;
           });
  }

  [[nodiscard]] bool enumeration(const WalkEnum& numbers) const {
    return trigger(numbers.trigger) &&
           all(numbers.members, [&](const WalkMember& member) { return trigger(member.trigger); });
  }

  [[nodiscard]] bool any_of(const WalkUnion& members) const {
    return trigger(members.trigger) && all(members.members, [&](const WalkUnionMember& member) {
             const ValueKind kind = member.type.kind;
             return trigger(member.trigger) && type(member.type) &&
                    (kind == ValueKind::kTable || kind == ValueKind::kStruct ||
                     kind == ValueKind::kString);
           });
  }

  bool structs_end() {
    for (std::size_t index = 0; index < schema_.structs.size(); ++index) {
      if (height(index, 1) > kMostNestedStructs) {
        return false;
      }
    }
    return true;
  }

  /// Returns how deep structs lie in one, itself included; `kEndless` for too deep.
  unsigned height(std::size_t index, unsigned depth) {
    if (heights_[index] != kUnknown || depth > kMostNestedStructs) {
      return depth > kMostNestedStructs ? kEndless : heights_[index];
    }
    heights_[index] = kEndless;  // while it is under way, so one that contains itself is found
    unsigned most = 0;
    for (const WalkPart& part : schema_.structs[index].parts) {
      if (part.type.kind == ValueKind::kStruct) {
        most = std::max(most, height(part.type.definition, depth + 1));
      }
    }
    return heights_[index] = std::min(most + 1, kEndless);
  }

  const WalkSchema& schema_;
  std::vector<unsigned> heights_;
};

}  // namespace

bool is_sound(const WalkSchema& schema) { return Description(schema).is_sound(); }

}  // namespace placewire
