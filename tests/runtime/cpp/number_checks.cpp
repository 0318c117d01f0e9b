// Checks of the kernels for numbers, against what Python says.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cases.h"
#include "kernel_call.h"

namespace {

using cases::compute;
using cases::is_error;
using cases::varying;
using placewire::ErrorCode;
using placewire::EValue;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

EValue number(int value) { return std::int64_t{value}; }

/// Whether an operator gives this value, of this type.
template <typename T>
bool gives(const char* name, std::vector<EValue> numbers, T expected) {
  const auto result = compute(std::string("executorch_prim::") + name, std::move(numbers));
  if (!result.ok()) {
    std::printf("%s: %s\n", name, result.error().message.c_str());
    return false;
  }
  const T* const found = result.value().get_if<T>();
  if (found == nullptr || *found != expected) {
    std::printf("%s gives another value or a %s\n", name, describe(result.value()).c_str());
    return false;
  }
  return true;
}

bool gives(const char* name, std::vector<EValue> numbers, int expected) {
  return gives(name, std::move(numbers), std::int64_t{expected});
}

bool fails(const char* name, std::vector<EValue> numbers, const char* part) {
  return is_error(compute(std::string("executorch_prim::") + name, std::move(numbers)),
                  ErrorCode::INVALID_ARGUMENT, part);
}

void integers_give_integers() {
  CHECK(gives("add.Scalar", {number(3), number(4)}, 7));
  CHECK(gives("sub.Scalar", {number(3), number(4)}, -1));
  CHECK(gives("mul.Scalar", {number(3), number(-4)}, -12));
  CHECK(gives("neg.Scalar", {number(3)}, -3));
}

void a_float_makes_the_result_a_float() {
  CHECK(gives("add.Scalar", {number(3), 0.5}, 3.5));
  CHECK(gives("sub.Scalar", {0.5, number(3)}, -2.5));
  CHECK(gives("mul.Scalar", {number(3), 0.5}, 1.5));
  CHECK(gives("neg.Scalar", {0.5}, -0.5));
}

void booleans_count_as_0_and_1() {
  CHECK(gives("add.Scalar", {true, true}, 2));
  CHECK(gives("eq.Scalar", {true, number(1)}, true));
  CHECK(gives("sym_float.Scalar", {false}, 0.0));
}

void what_does_not_fit_64_bits_is_an_error() {
  CHECK(fails("add.Scalar", {kHighest, number(1)}, "9223372036854775807 + 1 does not fit 64 bits"));
  CHECK(fails("sub.Scalar", {kLowest, number(1)}, "does not fit 64 bits"));
  CHECK(fails("mul.Scalar", {kHighest, number(2)}, "9223372036854775807 * 2 does not fit"));
  CHECK(fails("floordiv.Scalar", {kLowest, number(-1)}, "does not fit 64 bits"));
  CHECK(fails("neg.Scalar", {kLowest}, "does not fit 64 bits"));
  CHECK(gives("mod.Scalar", {kLowest, number(-1)}, 0));
}

void true_division_gives_a_float() {
  CHECK(gives("truediv.Scalar", {number(7), number(2)}, 3.5));
  CHECK(gives("truediv.Scalar", {number(4), number(2)}, 2.0));
}

void floor_division_rounds_down() {
  for (const char* const name : {"floordiv.Scalar", "floordiv.int"}) {
    CHECK(gives(name, {number(7), number(2)}, 3));
    CHECK(gives(name, {number(-7), number(2)}, -4));
    CHECK(gives(name, {number(7), number(-2)}, -4));
    CHECK(gives(name, {number(-7), number(-2)}, 3));
    CHECK(gives(name, {number(-8), number(2)}, -4));
  }
  CHECK(gives("floordiv.Scalar", {-7.5, 2.0}, -4.0));
  CHECK(gives("floordiv.Scalar", {7.5, number(2)}, 3.0));
  CHECK(gives("floordiv.Scalar", {1.0, 0.1}, 9.0));  // 0.1 is a little more than a tenth
  CHECK(gives("floordiv.Scalar", {-5.0, kInfinity}, -1.0));
}

void the_remainder_has_the_sign_of_the_divisor() {
  for (const char* const name : {"mod.Scalar", "mod.int"}) {
    CHECK(gives(name, {number(7), number(3)}, 1));
    CHECK(gives(name, {number(-7), number(3)}, 2));
    CHECK(gives(name, {number(7), number(-3)}, -2));
    CHECK(gives(name, {number(-7), number(-3)}, -1));
    CHECK(gives(name, {number(-6), number(3)}, 0));
  }
  CHECK(gives("mod.Scalar", {-7.5, 2.0}, 0.5));
  CHECK(gives("mod.Scalar", {7.5, number(-2)}, -0.5));
  CHECK(gives("mod.Scalar", {5.0, -kInfinity}, -kInfinity));
}

void division_by_zero_is_an_error() {
  for (const char* const name : {"truediv.Scalar", "floordiv.Scalar", "mod.Scalar"}) {
    CHECK(fails(name, {number(1), number(0)}, " 0 divides by zero"));
    CHECK(fails(name, {1.0, 0.0}, "divides by zero"));
    CHECK(fails(name, {1.0, -0.0}, "divides by zero"));
    CHECK(fails(name, {number(1), false}, "divides by zero"));
  }
}

/// Whether the five comparisons say what holds for a pair.
bool compares(EValue left, EValue right, bool is_less, bool is_equal, bool is_greater) {
  return gives("lt.Scalar", {left, right}, is_less) &&
         gives("le.Scalar", {left, right}, is_less || is_equal) &&
         gives("eq.Scalar", {left, right}, is_equal) &&
         gives("ge.Scalar", {left, right}, is_greater || is_equal) &&
         gives("gt.Scalar", {left, right}, is_greater);
}

void numbers_are_compared() {
  CHECK(compares(number(1), number(2), true, false, false));
  CHECK(compares(number(2), number(2), false, true, false));
  CHECK(compares(0.5, 0.25, false, false, true));
}

void integers_and_floats_are_compared_exactly() {
  CHECK(compares(number(1), 1.0, false, true, false));
  CHECK(compares(number(1), 1.5, true, false, false));
  CHECK(compares(-1.5, number(-1), true, false, false));
  CHECK(compares(kHighest, 9223372036854775808.0, true, false, false));
  CHECK(compares(kLowest, -9223372036854775808.0, false, true, false));
  CHECK(compares(std::int64_t{9007199254740993}, 9007199254740992.0, false, false, true));
  CHECK(compares(kLowest, -kInfinity, false, false, true));
}

void nan_is_not_comparable() {
  CHECK(compares(kNan, number(1), false, false, false));
  CHECK(compares(number(1), kNan, false, false, false));
  CHECK(compares(kNan, kNan, false, false, false));
}

void the_larger_and_the_smaller_are_found() {
  CHECK(gives("sym_max.Scalar", {number(1), number(2)}, 2));
  CHECK(gives("sym_min.Scalar", {number(1), number(2)}, 1));
  CHECK(gives("sym_max.Scalar", {number(2), 1.5}, 2.0));
  CHECK(gives("sym_min.Scalar", {number(1), 1.5}, 1.0));
}

void floats_become_integers() {
  CHECK(gives("trunc.Scalar", {-1.5}, -1) && gives("sym_int.Scalar", {1.9}, 1));
  CHECK(gives("ceil.Scalar", {1.1}, 2) && gives("ceil.Scalar", {-1.9}, -1));
  CHECK(gives("round.Scalar", {0.5}, 0) && gives("round.Scalar", {1.5}, 2));
  CHECK(gives("round.Scalar", {2.5}, 2) && gives("round.Scalar", {-1.5}, -2));
  for (const char* const name : {"trunc.Scalar", "sym_int.Scalar", "ceil.Scalar", "round.Scalar"}) {
    CHECK(gives(name, {kHighest}, kHighest));
    CHECK(gives(name, {-9223372036854775808.0}, kLowest));
    CHECK(fails(name, {9223372036854775808.0}, "is no 64-bit integer"));
    CHECK(fails(name, {kNan}, "nan is no 64-bit integer"));
  }
}

void integers_become_floats() {
  CHECK(gives("sym_float.Scalar", {number(3)}, 3.0) && gives("sym_float.Scalar", {0.5}, 0.5));
}

void zero_is_false() {
  CHECK(gives("sym_not.Scalar", {true}, false) && gives("sym_not.Scalar", {false}, true));
  CHECK(gives("sym_not.Scalar", {number(3)}, false) && gives("sym_not.Scalar", {0.0}, true));
}

void a_condition_chooses() {
  CHECK(gives("sym_ite.Scalar", {true, number(1), number(2)}, 1));
  CHECK(gives("sym_ite.Scalar", {false, number(1), number(2)}, 2));
  CHECK(gives("sym_ite.Scalar", {true, 0.5, number(2)}, 0.5));
}

void a_result_may_replace_an_operand() {
  EValue counter = number(0);
  EValue one = number(1);
  const auto bound = cases::bind("executorch_prim::add.Scalar",
                                 {varying(counter), varying(one), varying(counter)});
  for (int round = 0; round < 3; ++round) {
    CHECK(bound.value()->run().ok());
  }
  CHECK(*counter.get_if<std::int64_t>() == 3);
}

void what_is_no_number_is_an_error() {
  EValue none;
  EValue one = number(1);
  EValue text = std::string_view("1");
  const char* const add = "executorch_prim::add.Scalar";
  CHECK(is_error(cases::bind(add, {cases::fixed(none), varying(one), varying(one)}),
                 ErrorCode::INVALID_PROGRAM, "argument 0 is None, expected a number"));
  CHECK(is_error(cases::call(add, {varying(one), varying(text), varying(one)}),
                 ErrorCode::INVALID_PROGRAM, "argument 1 is string, expected a number"));
  CHECK(is_error(cases::call(add, {varying(one), varying(one), varying(text)}),
                 ErrorCode::INVALID_PROGRAM, "argument 2 is string, expected a number, for the"));
  CHECK(is_error(cases::bind(add, {varying(one), varying(one)}), ErrorCode::INVALID_PROGRAM,
                 "takes 3 arguments, the returned values included; the call has 2"));
}

constexpr std::array kCases = {
    CASE(integers_give_integers),
    CASE(a_float_makes_the_result_a_float),
    CASE(booleans_count_as_0_and_1),
    CASE(what_does_not_fit_64_bits_is_an_error),
    CASE(true_division_gives_a_float),
    CASE(floor_division_rounds_down),
    CASE(the_remainder_has_the_sign_of_the_divisor),
    CASE(division_by_zero_is_an_error),
    CASE(numbers_are_compared),
    CASE(integers_and_floats_are_compared_exactly),
    CASE(nan_is_not_comparable),
    CASE(the_larger_and_the_smaller_are_found),
    CASE(floats_become_integers),
    CASE(integers_become_floats),
    CASE(zero_is_false),
    CASE(a_condition_chooses),
    CASE(a_result_may_replace_an_operand),
    CASE(what_is_no_number_is_an_error),
};

}  // namespace

int main(int argc, char** argv) { return cases::run(argc, argv, kCases); }
