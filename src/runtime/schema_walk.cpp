// The walk of schema_walk.h: depth first, fields by id, as the generated verifiers go.
#include "placewire/runtime/schema_walk.h"

#include <algorithm>
#include <cstddef>

#include "walk_schema.h"

namespace placewire {
namespace {

using schema::Bytes;
using schema::wire::load;

constexpr std::uint64_t kLargestBuffer = (std::uint64_t{1} << 31) - 1;
constexpr std::uint64_t kBaseBudget = 16 << 20;
constexpr std::uint64_t kBudgetPerByte = 8;
constexpr std::uint64_t kTableCharge = 32;
constexpr std::uint64_t kSmallestBuffer = 8;
constexpr unsigned kMostDeep = 64;

std::uint64_t load_number(const std::uint8_t* from, std::uint32_t size, bool is_signed) {
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    number |= std::uint64_t{from[i]} << (8 * i);
  }
  if (is_signed && size < 8 && (number >> (8 * size - 1)) != 0) {
    number |= ~std::uint64_t{0} << (8 * size);
  }
  return number;
}

/// Strictly: no surrogates, nothing longer than it need be, nothing above U+10FFFF.
bool is_utf8(const std::uint8_t* at, const std::uint8_t* end) {
  while (at < end) {
    const std::uint8_t lead = *at++;
    if (lead < 0x80) {
      continue;
    }
    const std::ptrdiff_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (lead < 0xC2 || lead > 0xF4 || end - at < more) {
      return false;
    }
    const std::uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at[0] < least || at[0] > most ||
        !std::all_of(at + 1, at + more, [](std::uint8_t byte) { return (byte & 0xC0) == 0x80; })) {
      return false;
    }
    at += more;
  }
  return true;
}

/// One walk. Every function returns false as soon as a rule is broken. The FlatBuffer under way
/// lies between `start_` and `end_`; it may be nested in another.
class Walk {
 public:
  Walk(const WalkSchema& schema, Bytes buffer, SchemaWalk::Places& places)
      : schema_(schema),
        data_(buffer.data()),
        end_(buffer.size()),
        budget_(kBaseBudget + kBudgetPerByte * buffer.size()),
        places_(places) {}

  bool root(std::uint32_t table, unsigned depth) {
    if (end_ - start_ < kSmallestBuffer) {
      return false;
    }
    hit(schema_.tables[table].root_trigger);
    std::uint64_t target = 0;
    return follow(start_, 4, target) && this->table(table, target, depth);
  }

 private:
  /// A step of the path: a field's name, or the number of an element.
  struct Step {
    const std::string* name;
    std::uint64_t index;
  };

  void hit(std::int32_t trigger) {
    if (trigger == kNoTrigger || places_[static_cast<std::size_t>(trigger)]) {
      return;
    }
    std::string path;
    for (const Step& step : path_) {
      if (step.name == nullptr) {
        path += '[' + std::to_string(step.index) + ']';
      } else {
        path += path.empty() ? *step.name : '.' + *step.name;
      }
    }
    places_[static_cast<std::size_t>(trigger)] = std::move(path);
  }

  bool follow(std::uint64_t place, std::uint64_t room, std::uint64_t& target) const {
    const std::uint32_t distance = load<std::uint32_t>(data_ + place);
    target = place + distance;
    return distance != 0 && target + room <= end_;
  }

  bool charge(std::uint64_t amount) {
    spent_ += amount;
    return spent_ <= budget_;
  }

  bool table(std::uint32_t index, std::uint64_t start, unsigned depth) {
    if (depth > kMostDeep || start % 4 != 0) {
      return false;
    }
    const WalkTable& table = schema_.tables[index];
    const std::int64_t before =
        static_cast<std::int64_t>(start) - load<std::int32_t>(data_ + start);
    if (before < static_cast<std::int64_t>(start_) || before % 2 != 0) {
      return false;
    }
    const auto vtable = static_cast<std::uint64_t>(before);
    if (vtable + 4 > end_) {
      return false;
    }
    const Table at{start, vtable, load<std::uint16_t>(data_ + vtable),
                   load<std::uint16_t>(data_ + vtable + 2), depth};
    if (at.vtable_size < 4 || at.vtable_size % 2 != 0 || vtable + at.vtable_size > end_ ||
        at.inline_size < 4 || start + at.inline_size > end_) {
      return false;
    }
    const std::uint64_t known = 4 + 2 * std::uint64_t{table.slots};
    const std::uint64_t unknown = at.vtable_size > known ? at.vtable_size - known : 0;
    if (!charge(at.inline_size + unknown + kTableCharge)) {
      return false;
    }
    for (std::uint64_t place = vtable + known; place < vtable + at.vtable_size; place += 2) {
      if (load<std::uint16_t>(data_ + place) != 0) {
        return false;
      }
    }
    hit(table.trigger);
    return std::all_of(table.fields.begin(), table.fields.end(),
                       [&](const WalkField& one) { return field(one, at); });
  }

  struct Table {
    std::uint64_t start;
    std::uint64_t vtable;
    std::uint16_t vtable_size;
    std::uint16_t inline_size;
    unsigned depth;
  };

  /// Returns where slot `id` is, from the start of the table; 0 if it is absent.
  std::uint32_t entry(const Table& at, std::uint32_t id) const {
    const std::uint64_t slot = 4 + 2 * std::uint64_t{id};
    return slot + 2 <= at.vtable_size ? load<std::uint16_t>(data_ + at.vtable + slot) : 0;
  }

  static bool is_inside(const Table& at, std::uint64_t entry, std::uint64_t size,
                        std::uint64_t alignment) {
    return entry >= 4 && entry + size <= at.inline_size && (at.start + entry) % alignment == 0;
  }

  bool field(const WalkField& field, const Table& at) {
    const std::uint32_t value = entry(at, field.id);
    const bool is_union = field.type.kind == ValueKind::kUnion;
    path_.push_back({&field.name, 0});
    hit(value == 0 ? field.if_absent : field.if_present);
    bool good = false;
    if (is_union) {
      good = union_field(field, at, entry(at, field.id - 1), value);
    } else if (value == 0) {
      good = !field.required;
    } else if (field.vector || !is_inline(field.type.kind)) {
      std::uint64_t target = 0;
      good = is_inside(at, value, 4, 4) && follow(at.start + value, 4, target) &&
             (field.vector ? vector(field.type, target, at.depth)
                           : reference(field.type, target, at.depth));
    } else {
      good = is_inside(at, value, field.type.size, field.type.alignment) &&
             in_place(field.type, at.start + value);
    }
    path_.pop_back();
    return good;
  }

  static bool is_inline(ValueKind kind) {
    return kind == ValueKind::kScalar || kind == ValueKind::kEnum || kind == ValueKind::kStruct;
  }

  /// Checks bounds and alignment of a vector; sets where its elements begin and how many there are.
  bool extent(std::uint64_t start, std::uint32_t size, std::uint32_t alignment,
              std::uint64_t& first, std::uint64_t& count) {
    if (start % 4 != 0) {
      return false;
    }
    count = load<std::uint32_t>(data_ + start);
    first = start + 4;
    const std::uint64_t bytes = count * size;
    return (count == 0 || first % alignment == 0) && bytes <= end_ - first && charge(4 + bytes);
  }

  bool vector(const WalkType& type, std::uint64_t start, unsigned depth) {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    const bool inlined = is_inline(type.kind);
    const std::uint32_t size = inlined ? type.size : 4;
    if (!extent(start, size, inlined ? type.alignment : 4, first, count)) {
      return false;
    }
    bool good = true;
    for (std::uint64_t i = 0; good && type.kind != ValueKind::kScalar && i < count; ++i) {
      const std::uint64_t place = first + i * size;
      path_.push_back({nullptr, i});
      std::uint64_t target = 0;
      good = inlined ? in_place(type, place)
                     : follow(place, 4, target) && reference(type, target, depth);
      path_.pop_back();
    }
    return good;
  }

  /// What an offset leads to, other than a vector.
  bool reference(const WalkType& type, std::uint64_t target, unsigned depth) {
    if (type.kind == ValueKind::kTable) {
      return table(type.definition, target, depth + 1);
    }
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    if (!extent(target, 1, 1, first, count)) {
      return false;
    }
    if (type.kind == ValueKind::kNested) {
      return nested(type.definition, first, first + count, depth + 1);
    }
    const std::uint8_t* text = data_ + first;
    return first + count < end_ && text[count] == 0 && is_utf8(text, text + count);
  }

  bool nested(std::uint32_t index, std::uint64_t first, std::uint64_t end, unsigned depth) {
    const std::uint64_t outer_start = std::exchange(start_, first);
    const std::uint64_t outer_end = std::exchange(end_, end);
    const bool good = root(index, depth);
    start_ = outer_start;
    end_ = outer_end;
    return good;
  }

  bool in_place(const WalkType& type, std::uint64_t place) {
    switch (type.kind) {
      case ValueKind::kEnum:
        return number(schema_.enums[type.definition], type.size, place);
      case ValueKind::kStruct:
        return structure(schema_.structs[type.definition], place);
      default:
        return true;
    }
  }

  bool number(const WalkEnum& type, std::uint32_t size, std::uint64_t place) {
    const std::uint64_t number = load_number(data_ + place, size, type.is_signed);
    hit(type.trigger);
    std::uint64_t known = 0;
    bool is_member = false;
    for (const WalkMember& member : type.members) {
      known |= member.number;
      is_member = is_member || number == member.number;
      if (number == member.number || (type.is_flags && (number & member.number) != 0)) {
        hit(member.trigger);
      }
    }
    return type.is_flags ? (number & ~known) == 0 : is_member;
  }

  bool structure(const WalkStruct& type, std::uint64_t place) {
    hit(type.trigger);
    bool good = true;
    for (const WalkPart& part : type.parts) {
      path_.push_back({&part.name, 0});
      if (part.length == 0) {
        good = in_place(part.type, place + part.offset) && good;
      }
      for (std::uint32_t i = 0; i < part.length; ++i) {
        path_.push_back({nullptr, i});
        good = in_place(part.type, place + part.offset + i * part.type.size) && good;
        path_.pop_back();
      }
      path_.pop_back();
    }
    return good;
  }

  bool union_field(const WalkField& field, const Table& at, std::uint32_t tag,
                   std::uint32_t value) {
    const std::uint32_t tag_size = field.vector ? 4 : field.type.size;
    if ((tag != 0 && !is_inside(at, tag, tag_size, tag_size)) ||
        (value != 0 && !is_inside(at, value, 4, 4))) {
      return false;
    }
    if (tag == 0 && value == 0) {
      return !field.required;
    }
    if (!field.vector) {
      const std::uint64_t number =
          tag == 0 ? 0 : load_number(data_ + at.start + tag, tag_size, false);
      if (number == 0) {
        return value == 0 && !field.required;
      }
      return value != 0 && member(field.type, number, at.start + value, at.depth);
    }
    return tag != 0 && value != 0 &&
           union_vector(field.type, at.start + tag, at.start + value, at.depth);
  }

  bool union_vector(const WalkType& type, std::uint64_t tags, std::uint64_t values,
                    unsigned depth) {
    std::uint64_t target = 0;
    std::uint64_t first_tag = 0;
    std::uint64_t tag_count = 0;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    if (!follow(tags, 4, target) || !extent(target, type.size, type.size, first_tag, tag_count) ||
        !follow(values, 4, target) || !extent(target, 4, 4, first, count) || tag_count != count) {
      return false;
    }
    bool good = true;
    for (std::uint64_t i = 0; good && i < count; ++i) {
      const std::uint64_t place = first + 4 * i;
      const std::uint64_t tag = load_number(data_ + first_tag + i * type.size, type.size, false);
      path_.push_back({nullptr, i});
      good = tag == 0 ? load<std::uint32_t>(data_ + place) == 0 : member(type, tag, place, depth);
      path_.pop_back();
    }
    return good;
  }

  bool member(const WalkType& type, std::uint64_t tag, std::uint64_t place, unsigned depth) {
    const WalkUnion& definition = schema_.unions[type.definition];
    hit(definition.trigger);
    std::uint64_t target = 0;
    for (const WalkUnionMember& one : definition.members) {
      if (one.tag != tag) {
        continue;
      }
      hit(one.trigger);
      if (one.type.kind == ValueKind::kStruct) {
        const WalkStruct& content = schema_.structs[one.type.definition];
        return follow(place, 1, target) && target % content.alignment == 0 &&
               target + content.size <= end_ && charge(content.size) && structure(content, target);
      }
      return follow(place, 4, target) && reference(one.type, target, depth);
    }
    return false;
  }

  const WalkSchema& schema_;
  const std::uint8_t* data_;
  std::uint64_t start_ = 0;
  std::uint64_t end_;
  std::uint64_t budget_;
  std::uint64_t spent_ = 0;
  SchemaWalk::Places& places_;
  std::vector<Step> path_;
};

/// Returns how much of `buffer` is the FlatBuffer; nothing if its extended header is wrong.
std::optional<Bytes> flatbuffer_in(Bytes buffer, const std::string& magic) {
  const std::uint8_t* data = buffer.data();
  if (magic.size() != 4 || buffer.size() < 24 ||
      !std::equal(magic.begin(), magic.end(), data + 8, [](char one, std::uint8_t other) {
        return static_cast<std::uint8_t>(one) == other;
      })) {
    return buffer;
  }
  const auto size = load<std::uint64_t>(data + 16);
  if (load<std::uint32_t>(data + 12) < 24 || size < kSmallestBuffer || size > buffer.size()) {
    return std::nullopt;
  }
  return Bytes(data, static_cast<std::size_t>(size));
}

}  // namespace

std::optional<SchemaWalk> SchemaWalk::create(WalkSchema schema) {
  if (!is_sound(schema)) {
    return std::nullopt;
  }
  return SchemaWalk(std::move(schema));
}

std::optional<SchemaWalk::Places> SchemaWalk::find(Bytes buffer, const WalkRoot& root) const {
  const std::optional<Bytes> bytes = flatbuffer_in(buffer, root.magic);
  if (!bytes || root.table >= schema_.tables.size() || bytes->size() > kLargestBuffer) {
    return std::nullopt;
  }
  if (!root.identifier.empty() &&
      (bytes->size() < 12 ||
       root.identifier.compare(0, std::string::npos,
                               reinterpret_cast<const char*>(bytes->data()) + 4, 4) != 0)) {
    return std::nullopt;
  }
  Places places(schema_.triggers);
  if (!Walk(schema_, *bytes, places).root(root.table, 1)) {
    return std::nullopt;
  }
  return places;
}

}  // namespace placewire
