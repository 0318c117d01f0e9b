// Arithmetic and comparison of numbers, with which programs compute sizes and conditions.
//
// They mean what they mean in Python, where the programs come from: `//` and `%` round down, `/`
// gives a float, a boolean counts as 0 or 1. What Python would count beyond 64 bits is an error.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "kernels/checked_kernel.h"
#include "kernels/native_kernels.h"

namespace placewire {
namespace {

/// A number as Python has it.
struct Number {
  bool is_float = false;
  std::int64_t integer = 0;
  double real = 0;

  [[nodiscard]] double as_float() const noexcept {
    return is_float ? real : static_cast<double>(integer);
  }
  [[nodiscard]] bool is_zero() const noexcept { return is_float ? real == 0 : integer == 0; }
};

/// The number in a value, which has one.
Number number_in(const EValue& value) noexcept {
  if (const double* const real = value.get_if<double>()) {
    return {true, 0, *real};
  }
  if (const bool* const truth = value.get_if<bool>()) {
    return {false, *truth ? 1 : 0, 0};
  }
  return {false, *value.get_if<std::int64_t>(), 0};
}

std::string spelled(Number number) {
  return number.is_float ? std::to_string(number.real) : std::to_string(number.integer);
}

Error impossible(Number left, const char* sign, Number right, const char* why) {
  return {ErrorCode::INVALID_ARGUMENT, spelled(left) + ' ' + sign + ' ' + spelled(right) + why};
}

constexpr const char* kTooLarge = " does not fit 64 bits";
constexpr const char* kByZero = " divides by zero";
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

// Two numbers.

using BinaryOperator = Result<EValue> (*)(Number, Number);

Result<EValue> add(Number left, Number right) {
  if (left.is_float || right.is_float) {
    return EValue(left.as_float() + right.as_float());
  }
  std::int64_t sum = 0;
  if (__builtin_add_overflow(left.integer, right.integer, &sum)) {
    return impossible(left, "+", right, kTooLarge);
  }
  return EValue(sum);
}

Result<EValue> subtract(Number left, Number right) {
  if (left.is_float || right.is_float) {
    return EValue(left.as_float() - right.as_float());
  }
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(left.integer, right.integer, &difference)) {
    return impossible(left, "-", right, kTooLarge);
  }
  return EValue(difference);
}

Result<EValue> multiply(Number left, Number right) {
  if (left.is_float || right.is_float) {
    return EValue(left.as_float() * right.as_float());
  }
  std::int64_t product = 0;
  if (__builtin_mul_overflow(left.integer, right.integer, &product)) {
    return impossible(left, "*", right, kTooLarge);
  }
  return EValue(product);
}

Result<EValue> true_divide(Number left, Number right) {
  if (right.is_zero()) {
    return impossible(left, "/", right, kByZero);
  }
  return EValue(left.as_float() / right.as_float());
}

/// Quotient and remainder of division that rounds down. `right` is not 0.
struct Division {
  double quotient;
  double remainder;
};

Division divide_down(double left, double right) noexcept {
  double remainder = std::fmod(left, right);
  double quotient = (left - remainder) / right;
  if (remainder == 0) {
    remainder = std::copysign(0.0, right);
  } else if ((right < 0) != (remainder < 0)) {
    remainder += right;
    quotient -= 1;
  }
  // The quotient is a whole number, but for the rounding of the division.
  quotient = quotient == 0 ? std::copysign(0.0, left / right) : std::nearbyint(quotient);
  return {quotient, remainder};
}

bool rounds_away(std::int64_t left, std::int64_t right) noexcept {
  return left % right != 0 && (left < 0) != (right < 0);
}

Result<EValue> floor_divide(Number left, Number right) {
  if (right.is_zero()) {
    return impossible(left, "//", right, kByZero);
  }
  if (left.is_float || right.is_float) {
    return EValue(divide_down(left.as_float(), right.as_float()).quotient);
  }
  if (left.integer == kLowest && right.integer == -1) {
    return impossible(left, "//", right, kTooLarge);
  }
  const std::int64_t towards_zero = left.integer / right.integer;
  return EValue(rounds_away(left.integer, right.integer) ? towards_zero - 1 : towards_zero);
}

Result<EValue> modulo(Number left, Number right) {
  if (right.is_zero()) {
    return impossible(left, "%", right, kByZero);
  }
  if (left.is_float || right.is_float) {
    return EValue(divide_down(left.as_float(), right.as_float()).remainder);
  }
  if (right.integer == -1) {
    return EValue(std::int64_t{0});  // also where the division itself would overflow
  }
  const std::int64_t remainder = left.integer % right.integer;
  return EValue(rounds_away(left.integer, right.integer) ? remainder + right.integer : remainder);
}

/// How two numbers compare; nothing of the three if one is NaN.
struct Order {
  bool is_less;
  bool is_equal;
  bool is_greater;
};

template <typename T>
Order order_of(T left, T right) noexcept {
  return {left<right, left == right, left> right};
}

/// Compares exactly, where a conversion to float would round.
Order order_of(std::int64_t left, double right) noexcept {
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, the first that does not fit
  if (std::isnan(right)) {
    return {false, false, false};
  }
  if (right >= kBeyond || right < -kBeyond) {
    return order_of(0.0, right);
  }
  const double whole = std::trunc(right);
  const auto integer = static_cast<std::int64_t>(whole);
  return left == integer ? order_of(0.0, right - whole) : order_of(left, integer);
}

Order order_of(Number left, Number right) noexcept {
  if (left.is_float && right.is_float) {
    return order_of(left.real, right.real);
  }
  if (left.is_float) {
    const Order reversed = order_of(right.integer, left.real);
    return {reversed.is_greater, reversed.is_equal, reversed.is_less};
  }
  return right.is_float ? order_of(left.integer, right.real)
                        : order_of(left.integer, right.integer);
}

Result<EValue> equal(Number left, Number right) { return EValue(order_of(left, right).is_equal); }
Result<EValue> less(Number left, Number right) { return EValue(order_of(left, right).is_less); }
Result<EValue> greater(Number left, Number right) {
  return EValue(order_of(left, right).is_greater);
}
Result<EValue> less_or_equal(Number left, Number right) {
  const Order order = order_of(left, right);
  return EValue(order.is_less || order.is_equal);
}
Result<EValue> greater_or_equal(Number left, Number right) {
  const Order order = order_of(left, right);
  return EValue(order.is_greater || order.is_equal);
}

/// One of two numbers; as in PyTorch a float if either is.
EValue one_of(Number left, Number right, bool is_left) noexcept {
  const Number chosen = is_left ? left : right;
  return left.is_float || right.is_float ? EValue(chosen.as_float()) : EValue(chosen.integer);
}

Result<EValue> maximum(Number left, Number right) {
  return one_of(left, right, !order_of(left, right).is_less);
}
Result<EValue> minimum(Number left, Number right) {
  return one_of(left, right, !order_of(left, right).is_greater);
}

// One number.

using UnaryOperator = Result<EValue> (*)(Number);

/// The integer that a whole float is.
Result<EValue> to_integer(double whole) {
  constexpr double kBeyond = 9223372036854775808.0;
  if (!(whole >= -kBeyond && whole < kBeyond)) {  // NaN is not either
    return Error{ErrorCode::INVALID_ARGUMENT, std::to_string(whole) + " is no 64-bit integer"};
  }
  return EValue(static_cast<std::int64_t>(whole));
}

Result<EValue> negate(Number number) {
  return number.is_float ? EValue(-number.real) : subtract({false, 0, 0}, number);
}
Result<EValue> ceiling(Number number) {
  return number.is_float ? to_integer(std::ceil(number.real)) : EValue(number.integer);
}
/// Halves go to the even neighbour.
Result<EValue> round(Number number) {
  return number.is_float ? to_integer(std::nearbyint(number.real)) : EValue(number.integer);
}
Result<EValue> truncate(Number number) {
  return number.is_float ? to_integer(std::trunc(number.real)) : EValue(number.integer);
}
Result<EValue> to_float(Number number) { return EValue(number.as_float()); }
Result<EValue> logical_not(Number number) { return EValue(number.is_zero()); }

// As kernels: the last argument is replaced by the result.

Status store(EValue& destination, Result<EValue> result) {
  if (!result.ok()) {
    return std::move(result).error();
  }
  destination = result.value();
  return {};
}

template <BinaryOperator compute>
std::shared_ptr<Kernel> binary() {
  return checked_kernel(
      {Takes::kNumber, Takes::kNumber, Takes::kResult}, [](Span<EValue* const> values) {
        return store(*values[2], compute(number_in(*values[0]), number_in(*values[1])));
      });
}

template <UnaryOperator compute>
std::shared_ptr<Kernel> unary() {
  return checked_kernel({Takes::kNumber, Takes::kResult}, [](Span<EValue* const> values) {
    return store(*values[1], compute(number_in(*values[0])));
  });
}

/// The second value if the first is true, else the third.
Status choose(Span<EValue* const> values) {
  *values[3] = number_in(*values[0]).is_zero() ? *values[2] : *values[1];
  return {};
}

}  // namespace

void add_number_kernels(NamedKernels& kernels) {
  const auto add_kernel = [&kernels](const char* name, std::shared_ptr<Kernel> kernel) {
    kernels.emplace_back(std::string("executorch_prim::") + name, std::move(kernel));
  };
  add_kernel("add.Scalar", binary<add>());
  add_kernel("sub.Scalar", binary<subtract>());
  add_kernel("mul.Scalar", binary<multiply>());
  add_kernel("truediv.Scalar", binary<true_divide>());
  add_kernel("floordiv.Scalar", binary<floor_divide>());
  add_kernel("floordiv.int", binary<floor_divide>());
  add_kernel("mod.Scalar", binary<modulo>());
  add_kernel("mod.int", binary<modulo>());
  add_kernel("eq.Scalar", binary<equal>());
  add_kernel("gt.Scalar", binary<greater>());
  add_kernel("ge.Scalar", binary<greater_or_equal>());
  add_kernel("lt.Scalar", binary<less>());
  add_kernel("le.Scalar", binary<less_or_equal>());
  add_kernel("sym_max.Scalar", binary<maximum>());
  add_kernel("sym_min.Scalar", binary<minimum>());
  add_kernel("neg.Scalar", unary<negate>());
  add_kernel("ceil.Scalar", unary<ceiling>());
  add_kernel("round.Scalar", unary<round>());
  add_kernel("trunc.Scalar", unary<truncate>());
  add_kernel("sym_int.Scalar", unary<truncate>());
  add_kernel("sym_float.Scalar", unary<to_float>());
  add_kernel("sym_not.Scalar", unary<logical_not>());
  add_kernel(
      "sym_ite.Scalar",
      checked_kernel({Takes::kNumber, Takes::kNumber, Takes::kNumber, Takes::kResult}, choose));
}

}  // namespace placewire
