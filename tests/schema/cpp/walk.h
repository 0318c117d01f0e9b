// Reads everything that a view can reach and adds it up, so that a sanitizer sees every read.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "placewire/schema/wire.h"

namespace placewire::tests {

template <class T>
std::uint64_t walk(T value);

/// Adds up the fields of one table or struct.
struct FieldSum {
  std::uint64_t sum = 0;

  template <class T>
  void operator()(std::string_view, T value) {
    sum += walk(value);
  }
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<schema::Vector<T>> : std::true_type {};

template <class T>
struct IsUnionVector : std::false_type {};
template <class Visit>
struct IsUnionVector<schema::UnionVector<Visit>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Sum of all bytes of strings, all scalars (floats by their bits) and all that they are part of.
template <class T>
std::uint64_t walk(T value) {
  if constexpr (std::is_base_of_v<schema::TableView, T> ||
                std::is_base_of_v<schema::StructView, T>) {
    if (!value) return 0;
    FieldSum fields;
    value.visit_fields(fields);
    return fields.sum;
  } else if constexpr (IsVector<T>::value) {
    std::uint64_t sum = value.size();
    for (const auto element : value) sum += walk(element);
    return sum;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    std::uint64_t sum = value.size();
    for (const char character : value) sum += static_cast<unsigned char>(character);
    return sum;
  } else if constexpr (IsUnionVector<T>::value) {
    std::uint64_t sum = value.size;
    for (std::size_t i = 0; i < value.size; ++i) {
      value.visit(i, [&](auto member) { sum += walk(member); });
    }
    return sum;
  } else if constexpr (IsOptional<T>::value) {
    return value ? walk(*value) : 0;
  } else if constexpr (std::is_same_v<T, schema::AbsentUnion>) {
    return 0;
  } else if constexpr (std::is_same_v<T, schema::UnknownUnionMember>) {
    return value.tag;
  } else if constexpr (std::is_floating_point_v<T>) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

}  // namespace placewire::tests
