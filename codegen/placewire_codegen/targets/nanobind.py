"""Target `nanobind`: sources of the module `_native`, the compiled codec of the Python package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..config import ProjectConfig
from ..features import Feature
from ..model import EnumDefinition, Schema, TableDefinition, TypeKind
from ..render import GeneratedFile, Templates
from .cpp_names import CppNames
from .cpp_objects import ObjectNames
from .cpp_text import string_literal
from .cpp_writer import alignment_name, is_scalar_vector
from .python_names import PythonNames
from .rules import MOST_FINDINGS

_SOURCES = (
    "classes.cpp",
    "classes.h",
    "module.cpp",
    "python_objects.h",
    "python_source.cpp",
    "python_source.h",
    "schema_map.h",
    "tables.cpp",
    "tables.h",
    "unpacker.cpp",
    "unpacker.h",
    "views.cpp",
    "views.h",
)
_LARGEST_INT64 = (1 << 63) - 1


@dataclass(frozen=True)
class TableView:
    """A table: its Python names as literals, its value type and its view class.

    Attributes:
        constant: Name of the array of attributes.
        fields: Attributes in the order of the fields.
    """

    module: str
    name: str
    constant: str
    fields: tuple[str, ...]
    type: str
    view: str


@dataclass(frozen=True)
class EnumView:
    """An enum: its Python names as literals, its C++ type, and the range of its values."""

    module: str
    name: str
    type: str
    smallest: int
    largest: int
    is_closed: str


@dataclass(frozen=True)
class UnionView:
    """A union: the enum of its tags, and its name as a literal."""

    tag_type: str
    name: str


@dataclass(frozen=True)
class AlignmentKeyView:
    """A vector field as `force_align` names it, and the member of `Alignments` or `nullptr`."""

    key: str
    alignment: str


FEATURES: frozenset[Feature] = frozenset()
"""The optional parts of the language that this target handles."""


def render(schema: Schema, config: ProjectConfig, templates: Templates) -> Iterator[GeneratedFile]:
    """Yield the sources of the module."""
    views = _Views(schema, config)
    fields: dict[str, Any] = {
        "namespace": views.cpp.namespace,
        "include_prefix": views.cpp.include_prefix,
        "includes": list(views.includes()),
        "verifiers": list(views.verifiers()),
        "tables": [views.table(table) for table in schema.tables],
        "enums": [views.enum(enum) for enum in schema.enums],
        "unions": [
            UnionView(views.objects.tag_type(union.full_name), string_literal(union.name))
            for union in schema.unions
        ],
        "alignment_keys": [key for table in schema.tables for key in views.alignment_keys(table)],
        "most_findings": MOST_FINDINGS,
        "max_fields": max((len(table.fields) for table in schema.tables), default=0) or 1,
    }
    for source in _SOURCES:
        text = templates.render(f"nanobind/{source}.jinja", **fields)
        yield GeneratedFile((config.output.nanobind / source).as_posix(), text)
    stub = templates.render("nanobind/_native.pyi.jinja")
    yield GeneratedFile((config.output.python / "_native.pyi").as_posix(), stub)


class _Views:
    def __init__(self, schema: Schema, config: ProjectConfig) -> None:
        self.cpp = CppNames(schema, config)
        self.objects = ObjectNames(schema, self.cpp)
        self._python = PythonNames(schema, config)
        self._schema = schema

    def includes(self) -> Iterator[str]:
        """Yield the headers of every module that has tables, and those of enums without them."""
        with_tables = {table.namespace for table in self._schema.tables}
        yield from sorted(
            self.cpp.include(namespace, "writer.h" if namespace in with_tables else "enums.h")
            for namespace in self._schema.namespaces
        )

    def verifiers(self) -> Iterator[str]:
        """Yield the verifier of every module that has tables."""
        namespaces = {table.namespace for table in self._schema.tables}
        yield from sorted(self.cpp.include(namespace, "verifier.h") for namespace in namespaces)

    def table(self, table: TableDefinition) -> TableView:
        attributes = self._python.field_names(table)
        type_ = self.objects.table(table.full_name)
        return TableView(
            module=string_literal(self._python.module_of(table.full_name)),
            name=string_literal(self._python.type_name(table.full_name)),
            constant=f"k_{type_.replace('::', '_')}",
            fields=tuple(string_literal(attributes[field.name]) for field in table.fields),
            type=type_,
            view=f"{self.cpp.module(table.namespace)}::{self.cpp.local_type(table)}",
        )

    def enum(self, enum: EnumDefinition) -> EnumView:
        values = [member.value for member in enum.members]
        is_closed = not enum.bit_flags and max(values) <= _LARGEST_INT64
        return EnumView(
            module=string_literal(self._python.module_of(enum.full_name)),
            name=string_literal(self._python.type_name(enum.full_name)),
            type=f"{self.cpp.module(enum.namespace)}::{self.cpp.local_type(enum)}",
            smallest=min(values) if is_closed else 0,
            largest=max(values) if is_closed else 0,
            is_closed="true" if is_closed else "false",
        )

    def alignment_keys(self, table: TableDefinition) -> Iterator[AlignmentKeyView]:
        """Yield the vector fields of `table`."""
        attributes = self._python.field_names(table)
        class_name = self._python.type_name(table.full_name)
        for field in table.fields:
            if field.type.kind is TypeKind.VECTOR:
                key = string_literal(f"{class_name}.{attributes[field.name]}")
                alignment = "nullptr"
                if is_scalar_vector(field.type):
                    alignment = f"&Alignments::{alignment_name(table, field, self.cpp)}"
                yield AlignmentKeyView(key, alignment)
