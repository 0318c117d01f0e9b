// Prints what views see as JSON: every field that is there, enums by name.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <type_traits>

#include "walk.h"

namespace placewire::tests {

template <class T>
void print_json(T value);

inline void print_text(std::string_view text) {
  std::putchar('"');
  for (const char character : text) {
    if (character == '"' || character == '\\' || (character >= 0 && character < ' ')) {
      std::printf("\\u%04x", static_cast<unsigned>(character));
    } else {
      std::putchar(character);
    }
  }
  std::putchar('"');
}

/// Prints the members of a JSON object.
struct FieldPrinter {
  bool is_first = true;

  template <class T>
  void operator()(std::string_view name, T value) {
    if (!is_present(value)) return;
    if (!is_first) std::putchar(',');
    is_first = false;
    print_text(name);
    std::putchar(':');
    print_json(value);
  }

  template <class T>
  static bool is_present(T value) {
    if constexpr (std::is_same_v<T, schema::AbsentUnion>) {
      return false;
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return value.data() != nullptr;
    } else if constexpr (IsVector<T>::value) {
      return value.is_present();
    } else if constexpr (IsUnionVector<T>::value) {
      return value.is_present;
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, schema::UnknownUnionMember>) {
      return static_cast<bool>(value);
    } else {
      return true;
    }
  }
};

template <class T>
void print_json(T value) {
  if constexpr (std::is_base_of_v<schema::TableView, T> ||
                std::is_base_of_v<schema::StructView, T>) {
    std::putchar('{');
    value.visit_fields(FieldPrinter{});
    std::putchar('}');
  } else if constexpr (IsVector<T>::value) {
    std::putchar('[');
    bool is_first = true;
    for (const auto element : value) {
      if (!is_first) std::putchar(',');
      is_first = false;
      print_json(element);
    }
    std::putchar(']');
  } else if constexpr (IsUnionVector<T>::value) {
    std::putchar('[');
    for (std::size_t i = 0; i < value.size; ++i) {
      if (i != 0) std::putchar(',');
      value.visit(i, [](auto member) { print_json(member); });
    }
    std::putchar(']');
  } else if constexpr (std::is_same_v<T, schema::AbsentUnion>) {
    std::fputs("null", stdout);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    print_text(value);
  } else if constexpr (IsOptional<T>::value) {
    print_json(*value);
  } else if constexpr (std::is_same_v<T, schema::UnknownUnionMember>) {
    std::printf("{\"unknown_tag\":%llu}", static_cast<unsigned long long>(value.tag));
  } else if constexpr (std::is_enum_v<T>) {
    if (is_valid(value) && !name(value).empty()) {
      print_text(name(value));
    } else {
      print_json(static_cast<std::underlying_type_t<T>>(value));
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    std::fputs(value ? "true" : "false", stdout);
  } else if constexpr (std::is_floating_point_v<T>) {
    // Python's json module reads these three names.
    if (std::isnan(value)) {
      std::fputs("NaN", stdout);
    } else if (std::isinf(value)) {
      std::fputs(value < 0 ? "-Infinity" : "Infinity", stdout);
    } else {
      // With an exponent, so that Python reads a float.
      std::printf("%.16e", static_cast<double>(value));
    }
  } else if constexpr (std::is_signed_v<T>) {
    std::printf("%lld", static_cast<long long>(value));
  } else {
    std::printf("%llu", static_cast<unsigned long long>(value));
  }
}

}  // namespace placewire::tests
