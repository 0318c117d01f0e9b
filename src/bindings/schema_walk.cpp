// Binds SchemaWalk. A schema comes as nested tuples; `_runtime.pyi` says what is in them.
#include "schema_walk.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "buffer_view.h"
#include "placewire/runtime/schema_walk.h"

namespace placewire::bindings {
namespace {

namespace nb = nanobind;

template <typename T>
T item(nb::handle row, std::size_t index) {
  return nb::cast<T>(row[index]);
}

template <typename Make>
auto each(nb::handle rows, Make make) {
  std::vector<decltype(make(rows))> made;
  made.reserve(nb::len(rows));
  for (nb::handle row : rows) {
    made.push_back(make(row));
  }
  return made;
}

WalkType type(nb::handle row) {
  const auto kind = item<std::uint8_t>(row, 0);
  if (kind > static_cast<std::uint8_t>(ValueKind::kNested)) {
    throw nb::value_error("no such kind of value");
  }
  return {static_cast<ValueKind>(kind), item<std::uint32_t>(row, 1), item<std::uint32_t>(row, 2),
          item<std::uint32_t>(row, 3)};
}

WalkField field(nb::handle row) {
  return {item<std::string>(row, 0),
          item<std::uint32_t>(row, 1),
          item<bool>(row, 2),
          item<bool>(row, 3),
          type(row[4]),
          item<std::int32_t>(row, 5),
          item<std::int32_t>(row, 6)};
}

WalkTable table(nb::handle row) {
  return {item<std::int32_t>(row, 0), item<std::int32_t>(row, 1), item<std::uint32_t>(row, 2),
          each(row[3], field)};
}

WalkPart part(nb::handle row) {
  return {item<std::string>(row, 0), item<std::uint32_t>(row, 1), item<std::uint32_t>(row, 2),
          type(row[3])};
}

WalkStruct structure(nb::handle row) {
  return {item<std::int32_t>(row, 0), item<std::uint32_t>(row, 1), item<std::uint32_t>(row, 2),
          each(row[3], part)};
}

WalkMember number(nb::handle row) {
  return {item<std::uint64_t>(row, 0), item<std::int32_t>(row, 1)};
}

WalkEnum enumeration(nb::handle row) {
  return {item<std::int32_t>(row, 0), item<bool>(row, 1), item<bool>(row, 2), each(row[3], number)};
}

WalkUnionMember member(nb::handle row) {
  return {item<std::uint64_t>(row, 0), item<std::int32_t>(row, 1), type(row[2])};
}

WalkUnion any_of(nb::handle row) { return {item<std::int32_t>(row, 0), each(row[1], member)}; }

SchemaWalk make(nb::handle tables, nb::handle structs, nb::handle enums, nb::handle unions,
                std::uint32_t triggers) {
  std::optional<SchemaWalk> walk =
      SchemaWalk::create({each(tables, table), each(structs, structure), each(enums, enumeration),
                          each(unions, any_of), triggers});
  if (!walk) {
    throw nb::value_error("the description of a schema leads outside itself");
  }
  return std::move(*walk);
}

/// Keeps the interpreter lock: the buffer may be one that other threads would write meanwhile.
std::optional<SchemaWalk::Places> find(const SchemaWalk& walk, nb::handle buffer,
                                       std::uint32_t table, std::string identifier,
                                       std::string magic) {
  return walk.find(BufferView(buffer).bytes(), {table, std::move(identifier), std::move(magic)});
}

}  // namespace

void bind_schema_walk(nb::module_& module) {
  nb::class_<SchemaWalk>(module, "SchemaWalk")
      .def(nb::new_(&make), nb::arg("tables"), nb::arg("structs"), nb::arg("enums"),
           nb::arg("unions"), nb::arg("triggers"))
      .def("find", &find, nb::arg("buffer"), nb::arg("table"), nb::arg("identifier"),
           nb::arg("magic"));
}

}  // namespace placewire::bindings
