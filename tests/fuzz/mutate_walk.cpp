// Walks through damaged buffers by sound and by damaged descriptions of schemas; needs no fuzzer.
//
//     mutate_walk COUNT SEED program|any DESCRIPTION FILE...
//
// The description is what `walk_description.py` writes, and the files are sound buffers of its
// first root. COUNT damaged copies of them are walked through by it, then COUNT others, each by a
// damaged copy of it. What is accepted as a program must be one for the generated verifier, too.
// The same arguments do the same.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "check_program.h"
#include "mutate.h"
#include "placewire/runtime/schema_walk.h"

namespace {

namespace pw = placewire;
using pw::tests::Random;
using pw::tests::require;
using File = std::vector<std::uint8_t>;
using Words = std::vector<std::string>;

/// Reads a description word by word: "#3" begins three rows, "'name" is text, the rest numbers.
class Reader {
 public:
  explicit Reader(const Words& words) : words_(words) {}

  template <typename T>
  T number() {
    return static_cast<T>(std::strtoull(next().c_str(), nullptr, 10));  // -1 becomes the largest
  }

  std::string text() { return next().substr(1); }

  template <typename Make>
  auto rows(Make make) {
    std::vector<decltype(make())> made;
    const std::string head = next();
    require(head.front() == '#', "a description has no rows where they belong");
    for (auto left = std::strtoull(head.c_str() + 1, nullptr, 10); left != 0; --left) {
      made.push_back(make());
    }
    return made;
  }

 private:
  std::string next() {
    require(at_ < words_.size(), "a description ends too early");
    return words_[at_++];
  }

  const Words& words_;
  std::size_t at_ = 0;
};

pw::WalkType read_type(Reader& from) {
  // A damaged kind is one that there is: the bindings let no other pass.
  const auto kinds = static_cast<unsigned>(pw::ValueKind::kNested) + 1;
  pw::WalkType type;
  type.kind = static_cast<pw::ValueKind>(from.number<std::uint32_t>() % kinds);
  type.size = from.number<std::uint32_t>();
  type.alignment = from.number<std::uint32_t>();
  type.definition = from.number<std::uint32_t>();
  return type;
}

pw::WalkField read_field(Reader& from) {
  pw::WalkField field;
  field.name = from.text();
  field.id = from.number<std::uint32_t>();
  field.required = from.number<std::uint32_t>() % 2 != 0;
  field.vector = from.number<std::uint32_t>() % 2 != 0;
  field.type = read_type(from);
  field.if_present = from.number<std::int32_t>();
  field.if_absent = from.number<std::int32_t>();
  return field;
}

pw::WalkTable read_table(Reader& from) {
  pw::WalkTable table;
  table.trigger = from.number<std::int32_t>();
  table.root_trigger = from.number<std::int32_t>();
  table.slots = from.number<std::uint32_t>();
  table.fields = from.rows([&] { return read_field(from); });
  return table;
}

pw::WalkPart read_part(Reader& from) {
  pw::WalkPart part;
  part.name = from.text();
  part.offset = from.number<std::uint32_t>();
  part.length = from.number<std::uint32_t>();
  part.type = read_type(from);
  return part;
}

pw::WalkStruct read_struct(Reader& from) {
  pw::WalkStruct structure;
  structure.trigger = from.number<std::int32_t>();
  structure.size = from.number<std::uint32_t>();
  structure.alignment = from.number<std::uint32_t>();
  structure.parts = from.rows([&] { return read_part(from); });
  return structure;
}

pw::WalkMember read_member(Reader& from) {
  pw::WalkMember member;
  member.number = from.number<std::uint64_t>();
  member.trigger = from.number<std::int32_t>();
  return member;
}

pw::WalkEnum read_enum(Reader& from) {
  pw::WalkEnum numbers;
  numbers.trigger = from.number<std::int32_t>();
  numbers.is_signed = from.number<std::uint32_t>() % 2 != 0;
  numbers.is_flags = from.number<std::uint32_t>() % 2 != 0;
  numbers.members = from.rows([&] { return read_member(from); });
  return numbers;
}

pw::WalkUnionMember read_union_member(Reader& from) {
  pw::WalkUnionMember member;
  member.tag = from.number<std::uint64_t>();
  member.trigger = from.number<std::int32_t>();
  member.type = read_type(from);
  return member;
}

pw::WalkUnion read_union(Reader& from) {
  pw::WalkUnion members;
  members.trigger = from.number<std::int32_t>();
  members.members = from.rows([&] { return read_union_member(from); });
  return members;
}

struct Description {
  pw::WalkRoot root;
  pw::WalkSchema schema;
};

Description read_description(const Words& words) {
  Reader from(words);
  Description read;
  read.root.table = from.number<std::uint32_t>();
  read.root.identifier = from.text();
  read.root.magic = from.text();
  read.schema.triggers = from.number<std::uint32_t>() % 1000;
  read.schema.tables = from.rows([&] { return read_table(from); });
  read.schema.structs = from.rows([&] { return read_struct(from); });
  read.schema.enums = from.rows([&] { return read_enum(from); });
  read.schema.unions = from.rows([&] { return read_union(from); });
  return read;
}

/// Replaces a number by one near to it, by another of the description, or by a bad idea.
void change(Words& words, Random& random) {
  const auto is_number = [](const std::string& word) {
    return word.front() != '#' && word.front() != '\'';
  };
  std::string& word = words[random.below(words.size())];
  const std::string& other = words[random.below(words.size())];
  if (!is_number(word)) return;
  switch (random.below(4)) {
    case 0:
      if (is_number(other)) word = other;
      break;
    case 1:
      word = std::to_string(std::strtoll(word.c_str(), nullptr, 10) +
                            static_cast<std::int64_t>(random.below(5)) - 2);
      break;
    case 2:
      word = std::to_string(random.below(8));
      break;
    default:
      word = std::to_string(std::uint64_t{1} << random.below(33));
  }
}

/// The buffer lies in memory of exactly its size, so that a sanitizer sees reads beyond it.
bool walk(const pw::SchemaWalk& schema, const pw::WalkRoot& root, std::size_t triggers,
          const File& file, bool is_program) {
  const auto exact = std::make_unique<std::uint8_t[]>(file.size());
  std::copy(file.begin(), file.end(), exact.get());
  const pw::schema::Bytes bytes(exact.get(), file.size());
  const std::optional<pw::SchemaWalk::Places> places = schema.find(bytes, root);
  if (!places) return false;
  require(places->size() == triggers, "a trigger has no answer");
  require(!is_program || pw::tests::check<pw::schema::program::Program>(bytes),
          "the walk accepts what the generated verifier does not");
  return true;
}

template <typename Item>
std::vector<Item> read_all(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  require(stream.is_open(), "a file is not there");
  using Iterator = std::conditional_t<std::is_same_v<Item, std::string>,
                                      std::istream_iterator<Item>, std::istreambuf_iterator<char>>;
  return {Iterator(stream), Iterator()};
}

struct Counts {
  std::uint64_t sound = 0;         ///< Damaged buffers that the sound description accepts.
  std::uint64_t descriptions = 0;  ///< Damaged descriptions that are taken.
  std::uint64_t accepted = 0;      ///< Buffers that those accept.
};

Counts damage(std::uint64_t count, Random& random, const Words& words, const pw::SchemaWalk& schema,
              const std::vector<File>& files, bool is_program) {
  const Description described = read_description(words);
  Counts counts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const File file = pw::tests::mutated(files[i % files.size()], random);
    counts.sound += walk(schema, described.root, described.schema.triggers, file, is_program);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    Words changed = words;
    for (std::uint64_t left = 1 + random.below(4); left != 0; --left) change(changed, random);
    Description damaged = read_description(changed);
    const std::size_t triggers = damaged.schema.triggers;
    const auto other = pw::SchemaWalk::create(std::move(damaged.schema));
    if (!other) continue;
    ++counts.descriptions;
    const File& file = files[i % files.size()];
    counts.accepted += walk(*other, damaged.root, triggers, file, false);
    walk(*other, damaged.root, triggers, pw::tests::mutated(file, random), false);
  }
  return counts;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count < 6) {
    std::fputs("usage: mutate_walk COUNT SEED program|any DESCRIPTION FILE...\n", stderr);
    return 2;
  }
  const std::uint64_t count = std::strtoull(arguments[1], nullptr, 10);
  Random random(std::strtoull(arguments[2], nullptr, 10));
  const bool is_program = std::string_view(arguments[3]) == "program";
  const auto words = read_all<std::string>(arguments[4]);
  Description described = read_description(words);
  const std::size_t triggers = described.schema.triggers;
  const auto schema = pw::SchemaWalk::create(std::move(described.schema));
  require(schema.has_value(), "the description is not sound before it is damaged");
  std::vector<File> files;
  for (int i = 5; i < argument_count; ++i) {
    files.push_back(read_all<std::uint8_t>(arguments[i]));
    require(walk(*schema, described.root, triggers, files.back(), is_program),
            "a file is not sound before it is damaged");
  }
  const Counts counts = damage(count, random, words, *schema, files, is_program);
  std::printf("%llu sound, %llu descriptions, %llu accepted, walked %llu\n",
              static_cast<unsigned long long>(counts.sound),
              static_cast<unsigned long long>(counts.descriptions),
              static_cast<unsigned long long>(counts.accepted),
              static_cast<unsigned long long>(pw::tests::walked));
  return 0;
}
