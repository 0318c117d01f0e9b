// Reads buffers of orchard.fbs with flatc's generated code and with ours, and prints what both see.
//
//     orchard verify FILE...           a line for each file: what both verifiers say, 1 or 0
//     orchard nested FILE              prices in FILE.fruit_bytes and in FILE.nest.fruit_bytes
//     orchard lookup FILE NAME...      the price of each fruit, and what all other keys find

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "orchard_generated.h"
#include "placewire/schema/orchard/verifier.h"

namespace {

namespace peer = orchard;
namespace ours = placewire::schema::orchard;

std::string content(const char* path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

placewire::schema::Bytes bytes_of(const std::string& file) { return {file.data(), file.size()}; }

void verify(const std::string& file) {
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  std::printf("%d %d\n", peer::VerifyOrchardBuffer(verifier),
              ours::verify_orchard(bytes_of(file)).ok());
}

void print_nested(const peer::Orchard& theirs, const ours::Orchard& seen) {
  const auto* fruit = theirs.fruit_bytes_nested_root();
  std::printf("%g %g\n", fruit != nullptr ? fruit->price() : -1,
              seen.fruit_bytes_nested_root() ? seen.fruit_bytes_nested_root().price() : -1);
}

/// The bytes of a struct or an array, in hex; empty for none.
std::string hex(const void* bytes, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; bytes != nullptr && i < size; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<const std::uint8_t*>(bytes)[i]);
    text += digits;
  }
  return text;
}

template <class View>
std::string hex_of(const View& view) {
  return view ? hex(wire_position(view), View::kSize) : std::string();
}

void print_both(const char* what, const std::string& theirs, const std::string& seen) {
  std::printf("%s %s %s\n", what, theirs.c_str(), seen.c_str());
}

/// Looks up the key of every element of the vectors of structs, and finds its bytes.
void look_up_structs(const peer::Orchard& theirs, const ours::Orchard& seen) {
  for (std::uint32_t i = 0; i < theirs.spots()->size(); ++i) {
    const auto* found = theirs.spots()->LookupByKey(theirs.spots()->Get(i)->cell());
    print_both("spot", hex(found, sizeof *found),
               hex_of(seen.spots().lookup(seen.spots()[i].cell())));
  }
  for (std::uint32_t i = 0; i < theirs.areas()->size(); ++i) {
    const peer::Spot& key = theirs.areas()->Get(i)->spot();
    const auto* found = theirs.areas()->LookupByKey(key);
    print_both("area", hex(found, sizeof *found),
               hex_of(seen.areas().lookup(seen.areas()[i].spot())));
  }
  for (std::uint32_t i = 0; i < theirs.rows()->size(); ++i) {
    const auto* found = theirs.rows()->LookupByKey(theirs.rows()->Get(i)->length());
    print_both("row", hex(found, sizeof *found),
               hex_of(seen.rows().lookup(seen.rows()[i].length())));
  }
  for (std::uint32_t i = 0; i < theirs.fields()->size(); ++i) {
    const auto* found = theirs.fields()->LookupByKey(theirs.fields()->Get(i)->rows());
    print_both("field", hex(found, sizeof *found),
               hex_of(seen.fields().lookup(seen.fields()[i].rows())));
  }
}

void look_up_tables(const peer::Orchard& theirs, const ours::Orchard& seen) {
  for (const auto kind : {peer::Kind_APPLE, peer::Kind_PEAR, peer::Kind_PLUM}) {
    const auto* found = theirs.trees()->LookupByKey(kind);
    const ours::Tree tree = seen.trees().lookup(static_cast<ours::Kind>(kind));
    print_both("tree", std::to_string(found != nullptr ? found->kind() : 99),
               std::to_string(tree ? static_cast<int>(tree.kind()) : 99));
  }
  for (const float value : {-1.5f, 0.0f, 0.25f, 7.0f}) {
    const auto* found = theirs.measures()->LookupByKey(value);
    const ours::Measure measure = seen.measures().lookup(value);
    print_both("measure", found != nullptr ? std::to_string(found->value()) : "none",
               measure ? std::to_string(measure.value()) : "none");
  }
}

void look_up(const peer::Orchard& theirs, const ours::Orchard& seen, const char* name) {
  const auto* found = theirs.fruits()->LookupByKey(name);
  const ours::Fruit fruit = seen.fruits().lookup(name);
  print_both("fruit", found != nullptr ? std::to_string(found->price()) : "none",
             fruit ? std::to_string(fruit.price()) : "none");
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view mode = arguments[1];
  if (mode == "verify") {
    for (int i = 2; i < argument_count; ++i) verify(content(arguments[i]));
    return 0;
  }
  const std::string file = content(arguments[2]);
  const peer::Orchard& theirs = *peer::GetOrchard(file.data());
  const ours::Orchard seen = ours::view_orchard(bytes_of(file));
  if (mode == "nested") {
    print_nested(theirs, seen);
    print_nested(*theirs.nest_nested_root(), seen.nest_nested_root());
    return 0;
  }
  for (int i = 3; i < argument_count; ++i) look_up(theirs, seen, arguments[i]);
  look_up_tables(theirs, seen);
  look_up_structs(theirs, seen);
}
