// Packs objects of language.fbs and prints what came out: bytes in hex, or the problem.
//
// conftest.py builds the same tree in Python, and test_cpp.py compares.

#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "placewire/schema/language/verifier.h"
#include "placewire/schema/language/writer.h"
#include "placewire/schema/sort.h"

namespace {

namespace schema = placewire::schema;
namespace parts = placewire::schema::parts::objects;
using namespace placewire::schema::language::objects;
using schema::Box;
using schema::language::Access;
using schema::language::Color;
using schema::language::Level;
using schema::language::Mask;
using schema::parts::Shade;

template <class T>
void pack_and_print(std::string_view name, const T& object,
                    const schema::Alignments& alignments = {}) {
  std::vector<std::uint8_t> bytes;
  const schema::PackResult result = schema::pack(object, bytes, alignments);
  std::printf("%.*s ", static_cast<int>(name.size()), name.data());
  if (result) {
    for (const std::uint8_t byte : bytes) std::printf("%02x", byte);
  } else {
    const std::string_view path = result.path();
    const std::string_view problem = schema::text(result.problem());
    std::printf("%.*s: %.*s", static_cast<int>(path.size()), path.data(),
                static_cast<int>(problem.size()), problem.data());
  }
  std::printf("\n");
}

Twig twig(std::int64_t value) { return Twig{{value}}; }

Marks marks() {
  return {Level::LOW, {Mask::LAST, Mask::FIRST}, {Level::HIGH, Level::HIGH, Level::HIGH}};
}

Point point() { return {1.5, -0.0, Color::BLUE}; }

Grid grid() {
  Grid result;
  result.origin = point();
  result.sizes = {1, -2, 3};
  result.name = {'n', 'a', 'm', 'e'};
  result.corners[1] = point();
  result.is_open = true;
  return result;
}

Stem stem() {
  Stem result;
  Frame frame;
  frame.origin = point();
  frame.sizes = {4, 5, 6};
  result.contents = {Box(Leaf{-1}), std::monostate(), Box(twig(2)), text{"größe"}, point(), frame};
  result.wide = label{"wide"};
  result.word = text_{"word"};
  result.words = {text_{""}, Box(Leaf{3}), std::monostate(), marks()};
  result.point = point();
  result.marks = {marks(), Marks{}};
  result.mask = Mask::LAST;
  return result;
}

template <class T>
std::vector<std::uint8_t> packed(const T& object) {
  std::vector<std::uint8_t> bytes;
  static_cast<void>(schema::pack(object, bytes));
  return bytes;
}

Tree nested_tree() {
  Tree result;
  result.name = "nested";
  result.grid = grid();
  result.leaf_bytes = packed(Leaf{1});
  result.weight = 0.25;
  return result;
}

parts::Knot nested_knot(const parts::Pin& pin) {
  Tree tree;
  tree.name = "deep";
  tree.point = point();
  parts::Knot result;
  result.pins = {pin};
  result.tree_bytes = packed(tree);
  return result;
}

Tree tree() {
  const parts::Pin pin{Shade::DARK, 65535};
  Tree result;
  result.point = point();
  result.grid = grid();
  result.points = {point(), Point{}};
  result.grids = {grid(), Grid{}};
  result.access = Access::READ;
  result.rights = {Access::WRITE | Access::RUN};
  Frame frame;
  frame.name = {'h', 'e', 'r', 'e'};
  result.content = frame;
  result.contents = {text{"a"}, point(), std::monostate(), Frame{}, Box(Leaf{1}), Box(twig(2))};
  result.wide = Box(Leaf{7});
  result.wides = {label{"x"}, std::monostate(), Box(Leaf{8})};
  result.weight = 0.5;
  result.name = "tree";
  result.color = Color::RED;
  result.colors = {Color::RED, Color::GREEN};
  result.flags = {true, false};
  result.leaves = {Leaf{}, Leaf{9}};
  Tree& inner = result.self.emplace();
  inner.name = "inner";
  inner.content = point();
  result.stem = stem();
  result.index = -1;
  parts::Knot knot;
  knot.part = parts::Dot{Shade::DARK};
  knot.pins = {pin};
  knot.shades = {Shade::DARK};
  result.parts_ = {pin, parts::label{""}, std::monostate(), Box(knot), Box(parts::Loop{})};
  result.pin = pin;
  result.knot.emplace();
  parts::Loop inner_loop;
  inner_loop.part = parts::label{"x"};
  parts::Loop loop;
  loop.part = Box(inner_loop);
  loop.pins = {pin, parts::Pin{}};
  result.part = Box(loop);
  result.pair = {pin, parts::Pin{}};
  result.span = schema::language::view_::LEAST;
  result.spans = {schema::language::view_::MOST, schema::language::view_::NONE};
  result.Visitor = 1;
  result.visitor = 2;
  result.Alignments_ = {3};
  Texts& texts = result.texts.emplace();
  texts.must = "";
  texts.numbers = {1};
  texts.contents = {text{"x"}, std::monostate()};
  result.leaf_bytes = packed(Leaf{-7});
  result.nest = packed(nested_tree());
  result.knot_bytes = packed(nested_knot(pin));
  return result;
}

void print_problems() {
  Tree damaged = tree();
  damaged.grids->front().corners[1].color = static_cast<Color>(3);
  pack_and_print("unknown_in_array", damaged);
  damaged = tree();
  damaged.stem->marks[1].levels[2] = static_cast<Level>(1);
  pack_and_print("unknown_in_vector", damaged);
  damaged = tree();
  damaged.contents->front() = text{"\xFF"};
  pack_and_print("not_utf8", damaged);
  damaged = tree();
  damaged.content = Box<Leaf>();
  pack_and_print("empty_union", damaged);
  damaged = tree();
  damaged.stem->words[1] = Box<Leaf>();
  pack_and_print("empty_element", damaged);
  damaged = tree();
  damaged.stem->wide = std::monostate();
  pack_and_print("absent_union", damaged);
  damaged = tree();
  damaged.rights->front() = static_cast<Access>(8);
  pack_and_print("unknown_flag", damaged);
  damaged = tree();
  damaged.nest = packed(Leaf{1});
  pack_and_print("nested_not_sound", damaged);
}

void print_verified() {
  std::vector<std::uint8_t> bytes;
  const bool is_packed = schema::language::pack_tree(tree(), bytes).ok();
  const bool is_sound = schema::language::verify_tree({bytes.data(), bytes.size()}).ok();
  std::printf("verified %s\n", is_packed && is_sound ? "yes" : "no");
}

void print_sorted() {
  std::vector<Leaf> leaves = {Leaf{3}, Leaf{-2}, Leaf{9}, Leaf{0}};
  schema::sort_by_key(leaves);
  std::printf("sorted");
  for (const Leaf& leaf : leaves) std::printf(" %d", static_cast<int>(leaf.value));
  std::printf("\n");
}

}  // namespace

int main() {
  pack_and_print("tree", tree());
  pack_and_print("stem", stem());
  schema::Alignments alignments;
  alignments.language_Tree_points = 64;
  pack_and_print("aligned", tree(), alignments);
  parts::Knot knot;
  knot.part = parts::Dot{};
  pack_and_print("dot", knot);
  pack_and_print("texts", Texts{});
  pack_and_print("old_texts", OldTexts{});
  Aligned aligned;
  aligned.wide = "wide";
  aligned.narrow = "narrow";
  pack_and_print("aligned_texts", aligned);
  print_problems();
  print_verified();
  print_sorted();
}
