// Walks through FlatBuffers by a schema that is only known at run time, as data.
//
// A schema that has just been changed has no compiled code, and `placewire compat --files` reads
// many files by it. Slower readers stay the judges: whatever is not in perfect order, the walk
// leaves to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "placewire/runtime/api.h"
#include "placewire/schema/wire.h"

namespace placewire {

/// Stands for "nothing" where the number of a trigger is expected.
inline constexpr std::int32_t kNoTrigger = -1;

/// What a value is; the numbers are those in which Python describes a schema.
enum class ValueKind : std::uint8_t { kScalar, kEnum, kStruct, kString, kTable, kUnion, kNested };

/// A type: of a field, of a vector's elements, of a part of a struct, of a member of a union.
struct WalkType {
  ValueKind kind = ValueKind::kScalar;
  std::uint32_t size = 0;        ///< Of what is stored in place; of a union, that of its tag.
  std::uint32_t alignment = 1;   ///< Of what is stored in place, in bytes.
  std::uint32_t definition = 0;  ///< Index of the enum, struct, table or union.
};

struct WalkField {
  std::string name;
  std::uint32_t id = 0;   ///< Of a union's value; its tag has the one before.
  bool required = false;  ///< Also set for what every writer writes.
  bool vector = false;    ///< Whether it is a vector of `type`.
  WalkType type;
  std::int32_t if_present = kNoTrigger;
  std::int32_t if_absent = kNoTrigger;
};

struct WalkTable {
  std::int32_t trigger = kNoTrigger;       ///< Of any use.
  std::int32_t root_trigger = kNoTrigger;  ///< Of its use as a root.
  std::uint32_t slots = 0;                 ///< How many its vtable may have.
  std::vector<WalkField> fields;           ///< By id.
};

/// A part of a struct in which there is an enum or a struct.
struct WalkPart {
  std::string name;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;  ///< Of an array; 0 for a single value.
  WalkType type;
};

struct WalkStruct {
  std::int32_t trigger = kNoTrigger;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;
  std::vector<WalkPart> parts;
};

/// A number and what it triggers. A negative number is as in two's complement.
struct WalkMember {
  std::uint64_t number = 0;
  std::int32_t trigger = kNoTrigger;
};

struct WalkEnum {
  std::int32_t trigger = kNoTrigger;
  bool is_signed = false;
  bool is_flags = false;
  std::vector<WalkMember> members;
};

struct WalkUnionMember {
  std::uint64_t tag = 0;
  std::int32_t trigger = kNoTrigger;
  WalkType type;
};

struct WalkUnion {
  std::int32_t trigger = kNoTrigger;
  std::vector<WalkUnionMember> members;
};

/// A schema, and which of its parts are looked for.
struct WalkSchema {
  std::vector<WalkTable> tables;
  std::vector<WalkStruct> structs;
  std::vector<WalkEnum> enums;
  std::vector<WalkUnion> unions;
  std::uint32_t triggers = 0;  ///< How many there are; they are numbered from 0.
};

/// With what a buffer begins.
struct WalkRoot {
  std::uint32_t table = 0;
  std::string identifier;  ///< Four bytes that must be there; empty to take any.
  std::string magic;       ///< That of an extended header; empty if there is none.
};

/// Owns a schema. May be used by several threads at once.
class PLACEWIRE_API SchemaWalk {
 public:
  /// Paths by trigger; no path where there is nothing that triggers.
  using Places = std::vector<std::optional<std::string>>;

  /// Returns nothing if an index or a trigger in `schema` leads nowhere, a part out of its struct,
  /// or a struct into itself: a walk ends for any buffer and stays inside it and `schema`.
  [[nodiscard]] static std::optional<SchemaWalk> create(WalkSchema schema);

  /// Verifies `buffer` by all rules of the generated verifiers and of strict reading, and returns
  /// where the first part of each trigger is. Returns nothing if any rule is broken, or may be.
  [[nodiscard]] std::optional<Places> find(schema::Bytes buffer, const WalkRoot& root) const;

 private:
  explicit SchemaWalk(WalkSchema schema) : schema_(std::move(schema)) {}

  WalkSchema schema_;
};

}  // namespace placewire
