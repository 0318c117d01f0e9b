// What the headers of shapes.fbs offer, checked from C++; prints one line per check.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <vector>

#include "placewire/schema/mirrors/verifier.h"
#include "placewire/schema/shapes/verifier.h"

namespace {

using namespace placewire::schema;
using namespace placewire::schema::shapes;

static_assert(sizeof(Scene) == 2 * sizeof(void*), "a view is cheap to copy");
static_assert(std::is_trivially_copyable_v<Scene> && std::is_trivially_copyable_v<Vector<Scene>>);
static_assert(std::is_trivially_copyable_v<VerifyResult>);
static_assert(std::is_same_v<std::underlying_type_t<Color>, std::uint8_t>);
static_assert(std::is_same_v<decltype(rank(Color::RED)), std::int64_t>);
static_assert(std::is_same_v<decltype(web(Color::RED)), std::optional<std::string_view>>);
static_assert(Sphere::kSize == 24 && Point::kSize == 8);
static_assert(Scene::kFileIdentifier == "SHAP" && Node::kFileIdentifier.empty());

bool enums_know_their_members() {
  return kColorCount == 3 && kColorMembers[2] == Color::BLUE && name(Color::GREEN) == "GREEN" &&
         name(static_cast<Color>(3)).empty() && is_valid(Color::RED) &&
         !is_valid(static_cast<Color>(0));
}

bool enum_attributes_are_functions() {
  const auto nothing = static_cast<Color>(77);
  return rank(Color::BLUE) == -30 && rank(nothing) == 0 && web(Color::RED) == "#ff0000" &&
         web(Color::BLUE) == "\"#0000ff\"" && !web(Color::GREEN) && !web(nothing);
}

bool flags_combine() {
  const Access both = Access::READ | Access::EXECUTE;
  return static_cast<int>(both) == 5 && is_valid(both) && !is_valid(static_cast<Access>(8)) &&
         (both & Access::EXECUTE) == Access::EXECUTE && name(both).empty() &&
         ~both == Access::WRITE;
}

bool unions_count_without_none() {
  return kShapeCount == 3 && name(Shape::Caption) == "Caption" && name(Shape::NONE) == "NONE" &&
         is_valid(Shape::NONE) && !is_valid(static_cast<Shape>(4));
}

bool an_absent_view_reads_as_defaults() {
  const Scene scene;
  return !scene && !scene.has_title() && scene.title().data() == nullptr && scene.scale() == 1.5 &&
         scene.visible() && scene.access() == (Access::READ | Access::WRITE) && !scene.depth() &&
         !scene.nodes().is_present() && scene.nodes().empty() && !scene.origin() &&
         scene.origin().x() == 0 && scene.shape_type() == Shape::NONE && !scene.shape_as_Group() &&
         !scene.mirror().behind().label();
}

bool unusual_defaults_arrive() {
  const Scene scene;
  return scene.big() == UINT64_MAX && scene.low() == INT64_MIN &&
         scene.unknown() != scene.unknown() && scene.limit() < -1e308;
}

bool a_visitor_sees_an_absent_union() {
  return Node().visit_shape(
      [](auto member) { return std::is_same_v<decltype(member), AbsentUnion>; });
}

bool vector_iterators_work_with_algorithms() {
  const std::uint8_t bytes[] = {5, 0, 0, 0, 1, 0, 2, 0, 3, 0, 5, 0, 8, 0};
  const Vector<std::uint16_t> numbers(bytes);
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), 4);
  return numbers.size() == 5 && numbers.front() == 1 && numbers.back() == 8 && *found == 5 &&
         found - numbers.begin() == 3 && found[1] == 8 && *--numbers.end() == 8 &&
         std::vector<int>(numbers.begin(), numbers.end()) == std::vector<int>{1, 2, 3, 5, 8} &&
         numbers.bytes().size() == 10;
}

bool any_byte_but_zero_is_true() {
  const std::uint8_t bytes[] = {3, 0, 0, 0, 0, 1, 0xFE};
  const Vector<bool> flags(bytes);
  return !flags[0] && flags[1] && flags[2];
}

bool a_buffer_of_two_gib_is_an_error() {
  // Only the claim is that large: the size is refused before a byte is read.
  const std::uint8_t byte = 0;
  const VerifyResult result = verify_scene(Bytes(&byte, std::size_t{1} << 31));
  return result.rule() == Rule::BUFFER_TOO_LARGE && result.found() == std::int64_t{1} << 31 &&
         result.expected() == 0x7FFFFFFF;
}

bool no_buffer_at_all_is_an_error() {
  return verify_scene(Bytes()).rule() == Rule::BUFFER_TOO_SMALL &&
         verify<Node>(Bytes(nullptr, 0)).rule() == Rule::BUFFER_TOO_SMALL;
}

bool a_result_outlives_its_copy() {
  VerifyResult result = verify<Node>(Bytes());
  const VerifyResult copy = result;
  result = VerifyResult();
  return result.ok() && !copy.ok() && copy.path().empty();
}

bool messages_fit_any_buffer() {
  const VerifyResult result = verify_scene(Bytes());
  const std::string_view whole = "the buffer has 0 bytes, at least 12 are needed";
  char small[11];
  std::memset(small, 'x', sizeof small);
  char large[128];
  return describe(result, small, sizeof small) == whole.size() &&
         std::string_view(small) == whole.substr(0, 10) &&
         describe(result, nullptr, 0) == whole.size() &&
         describe(result, large, sizeof large) == whole.size() && large == whole;
}

bool a_sound_result_says_so() {
  char text[64];
  describe(VerifyResult(), text, sizeof text);
  return std::string_view(text) == "the buffer is sound" && name(Rule::NONE).empty();
}

bool all_messages_fit_120_bytes() {
  for (int rule = 1; !name(static_cast<Rule>(rule)).empty(); ++rule) {
    if (wire::message_format(static_cast<Rule>(rule)).size() + 2 * 20 > 119) return false;
  }
  return true;
}

struct Check {
  const char* name;
  bool (*run)();
};

#define CHECK(function) \
  Check { #function, function }

constexpr Check kChecks[] = {
    CHECK(enums_know_their_members),
    CHECK(enum_attributes_are_functions),
    CHECK(flags_combine),
    CHECK(unions_count_without_none),
    CHECK(an_absent_view_reads_as_defaults),
    CHECK(unusual_defaults_arrive),
    CHECK(a_visitor_sees_an_absent_union),
    CHECK(vector_iterators_work_with_algorithms),
    CHECK(any_byte_but_zero_is_true),
    CHECK(a_buffer_of_two_gib_is_an_error),
    CHECK(no_buffer_at_all_is_an_error),
    CHECK(a_result_outlives_its_copy),
    CHECK(messages_fit_any_buffer),
    CHECK(a_sound_result_says_so),
    CHECK(all_messages_fit_120_bytes),
};

}  // namespace

int main() {
  for (const Check& check : kChecks) std::printf("%s %s\n", check.name, check.run() ? "ok" : "no");
}
