"""Writes the two walks that the benchmark compares: the same reads, through either library's views.

Each table's walk is a function of its own that is never inlined, in both headers, so that the
accessors are compared and not what the inliner happens to do with functions of this size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from placewire_codegen.model import Field, Schema, TableDefinition, Type, TypeKind

_PRELUDE = """\
template <class Number>
std::uint64_t number(Number value) {{
  return static_cast<std::uint64_t>(value);
}}

inline std::uint64_t text({text}) {{
  std::uint64_t sum = 0;
{text_loop}
  return sum;
}}
"""


@dataclass(frozen=True)
class Dialect:
    """How one library's views are spelled.

    Attributes:
        access: What stands between a view and the name of an accessor.
        parameter: How a walk takes a view of `{name}`.
        null_check: Whether a vector must be tested before it is iterated.
    """

    header: str
    namespace: str
    schema_namespace: str
    access: str
    parameter: str
    element: str
    null_check: bool
    prelude: str


OURS = Dialect(
    header="placewire/schema/program/views.h",
    namespace="our_walk",
    schema_namespace="placewire::schema::program",
    access="view.",
    parameter="{name} view",
    element="element",
    null_check=False,
    prelude=_PRELUDE.format(
        text="std::string_view value",
        text_loop="  for (const char byte : value) sum += static_cast<std::uint8_t>(byte);",
    ),
)
PEER = Dialect(
    header="program_generated.h",
    namespace="peer_walk",
    schema_namespace="executorch_flatbuffer",
    access="view->",
    parameter="const {name}* view",
    element="element",
    null_check=True,
    prelude=_PRELUDE.format(
        text="const flatbuffers::String* value",
        text_loop="  if (value) {\n    for (const std::uint8_t byte : *value) sum += byte;\n  }",
    ),
)


def walk_header(schema: Schema, dialect: Dialect) -> str:
    """Return a header with `walk(root)`, which reads every field and adds it up."""
    tables = [table for table in schema.tables if table.namespace == "executorch_flatbuffer"]
    assert tables
    parts = [
        "#pragma once",
        f'#include "{dialect.header}"',
        f"namespace {dialect.namespace} {{",
        f"using namespace {dialect.schema_namespace};",
        dialect.prelude,
    ]
    parts += [
        f"[[gnu::noinline]] std::uint64_t walk({_parameter(table, dialect)});" for table in tables
    ]
    for table in tables:
        parts.append(f"std::uint64_t walk([[maybe_unused]] {_parameter(table, dialect)}) {{")
        parts.append("  std::uint64_t sum = 0;")
        for field in table.fields:
            parts.extend(_field(schema, field, dialect))
        parts.append("  return sum;\n}")
    parts.append("}")
    return "\n".join(parts) + "\n"


def _parameter(table: TableDefinition, dialect: Dialect) -> str:
    return dialect.parameter.format(name=table.name)


def _field(schema: Schema, field: Field, dialect: Dialect) -> Iterator[str]:
    value = f"{dialect.access}{field.name}()"
    match field.type.kind:
        case TypeKind.UNION:
            yield from _union(schema, field, dialect)
        case TypeKind.TABLE:
            yield f"  if (const auto child = {value}) sum += walk(child);"
        case TypeKind.VECTOR:
            assert field.type.element is not None
            add = f"sum += {_add(field.type.element)};"
            if dialect.null_check:
                yield f"  if (const auto vector = {value}) {{"
                yield f"    for (const auto element : *vector) {add}\n  }}"
            else:
                yield f"  for (const auto element : {value}) {add}"
        case TypeKind.STRING:
            yield f"  sum += text({value});"
        case _:
            yield f"  sum += number({value});"


def _add(element: Type) -> str:
    match element.kind:
        case TypeKind.TABLE:
            return "walk(element)"
        case TypeKind.STRING:
            return "text(element)"
        case _:
            return "number(element)"


def _union(schema: Schema, field: Field, dialect: Dialect) -> Iterator[str]:
    assert field.type.ref is not None
    union = schema.union(field.type.ref)
    yield f"  switch ({dialect.access}{field.name}_type()) {{"
    for member in union.members:
        yield f"    case {union.name}::{member.name}:"
        yield f"      sum += walk({dialect.access}{field.name}_as_{member.name}());"
        yield "      break;"
    yield "    default:\n      break;\n  }"
