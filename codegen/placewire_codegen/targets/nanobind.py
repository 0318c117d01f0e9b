"""Target `nanobind`: sources of the module `_native`, the compiled codec of the Python package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from ..config import ProjectConfig
from ..features import Feature
from ..model import (
    Definition,
    EnumDefinition,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    TypeKind,
    UnionMember,
)
from ..names import NameScope
from ..render import GeneratedFile, Templates
from .cpp import FEATURES as CPP_FEATURES
from .cpp_names import CppNames
from .cpp_objects import ObjectNames
from .cpp_order import has_classes
from .cpp_text import integer_literal, string_literal
from .cpp_writer import is_inline_vector
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
    """A table: its value type and its view class."""

    type: str
    view: str


@dataclass(frozen=True)
class ClassView:
    """A dataclass: its Python names as literals, and its value type.

    Attributes:
        constant: Name of the array of attributes.
        fields: Attributes in the order of the fields.
        view_field: The function that reads a field for a view.
    """

    module: str
    name: str
    constant: str
    fields: tuple[str, ...]
    type: str
    view_field: str


@dataclass(frozen=True)
class EnumView:
    """An enum: its Python names as literals, its C++ type, and the range of its values."""

    module: str
    name: str
    type: str
    smallest: str
    largest: str
    is_closed: str
    is_flags: bool


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


FEATURES: frozenset[Feature] = CPP_FEATURES
"""The optional parts of the language that this target handles."""


def render(schema: Schema, config: ProjectConfig, templates: Templates) -> Iterator[GeneratedFile]:
    """Yield the sources of the module."""
    views = _Views(schema, config)
    classes = list(views.classes())
    fields: dict[str, Any] = {
        "namespace": views.cpp.namespace,
        "bindings": f"{views.cpp.namespace}::bindings::{views.package_namespace(config.package)}",
        "include_prefix": views.cpp.include_prefix,
        "includes": list(views.includes()),
        "verifiers": list(views.verifiers()),
        "tables": [views.table(table) for table in schema.tables],
        "classes": classes,
        "enums": [views.enum(enum) for enum in schema.enums],
        "unions": [
            UnionView(views.objects.tag_type(union.full_name), string_literal(union.name))
            for union in schema.unions
        ],
        "alignment_keys": [key for table in schema.tables for key in views.alignment_keys(table)],
        "most_findings": MOST_FINDINGS,
        "max_fields": max((len(class_.fields) for class_ in classes), default=0) or 1,
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
        self._constants = NameScope()

    def package_namespace(self, package: str) -> str:
        """Return the C++ namespace of a package's bindings, which no other package has.

        nanobind tells types apart by their names alone, in all modules of a process.
        """
        plain = re.sub(r"[^A-Za-z0-9]+", "_", package).strip("_")
        if plain != package:
            plain = f"{plain}_{crc32(package.encode()):08x}".lstrip("_")
        modules = {self.cpp.module(namespace) for namespace in self._schema.namespaces}
        return NameScope(modules).claim(f"of_{plain}")

    def includes(self) -> Iterator[str]:
        """Yield the headers of every module that has classes, and those of enums without them."""
        yield from sorted(
            self.cpp.include(namespace, "writer.h" if self._has_classes(namespace) else "enums.h")
            for namespace in self._schema.namespaces
        )

    def verifiers(self) -> Iterator[str]:
        """Yield the verifier of every module that has classes."""
        namespaces = filter(self._has_classes, self._schema.namespaces)
        yield from sorted(self.cpp.include(namespace, "verifier.h") for namespace in namespaces)

    def _has_classes(self, namespace: str) -> bool:
        return has_classes(self._schema, namespace)

    def table(self, table: TableDefinition) -> TableView:
        return TableView(
            type=self.objects.table(table.full_name),
            view=f"{self.cpp.module(table.namespace)}::{self.cpp.local_type(table)}",
        )

    def classes(self) -> Iterator[ClassView]:
        """Yield the dataclasses: of tables, of structs, and of members with one of their own."""
        definitions: tuple[TableDefinition | StructDefinition, ...] = (
            *self._schema.tables,
            *self._schema.structs,
        )
        for definition in definitions:
            name = self._python.type_name(definition.full_name)
            yield self._class(
                definition, definition, name, self.objects.table(definition.full_name)
            )
        for union in self._schema.unions:
            for member in union.members:
                name_of_class = self._python.member_class(union, member)
                if name_of_class is not None:
                    type_ = self.objects.alternative(union, member)
                    fields_of = self._fields_of(member)
                    yield self._class(union, fields_of, name_of_class, type_)

    def _fields_of(self, member: UnionMember) -> TableDefinition | StructDefinition | None:
        """Return the definition whose fields a member has; None for a string."""
        if member.type.ref is None:
            return None
        definition = self._schema.definitions[member.type.ref]
        assert isinstance(definition, TableDefinition | StructDefinition)
        return definition

    def _class(
        self,
        place: Definition,
        fields_of: TableDefinition | StructDefinition | None,
        name: str,
        type_: str,
    ) -> ClassView:
        """Return the class called `name` in the module of `place`."""
        if fields_of is None:
            attributes, view_field = ["value"], "&view_text_field"
        else:
            names = self._python.field_names(fields_of)
            attributes = [names[field.name] for field in fields_of.fields]
            kind = "view_field" if isinstance(fields_of, TableDefinition) else "view_struct_field"
            view_field = f"&{kind}<{self.objects.table(fields_of.full_name)}>"
        return ClassView(
            module=string_literal(self._python.module_of(place.full_name)),
            name=string_literal(name),
            constant=self._constants.claim(f"k_{type_.replace('::', '_')}"),
            fields=tuple(map(string_literal, attributes)),
            type=type_,
            view_field=view_field,
        )

    def enum(self, enum: EnumDefinition) -> EnumView:
        values = [member.value for member in enum.members]
        is_closed = not enum.bit_flags and max(values) <= _LARGEST_INT64
        return EnumView(
            module=string_literal(self._python.module_of(enum.full_name)),
            name=string_literal(self._python.type_name(enum.full_name)),
            type=f"{self.cpp.module(enum.namespace)}::{self.cpp.local_type(enum)}",
            smallest=integer_literal(min(values) if is_closed else 0, ScalarKind.INT64),
            largest=integer_literal(max(values) if is_closed else 0, ScalarKind.INT64),
            is_closed="true" if is_closed else "false",
            is_flags=enum.bit_flags,
        )

    def alignment_keys(self, table: TableDefinition) -> Iterator[AlignmentKeyView]:
        """Yield the vector fields of `table`."""
        attributes = self._python.field_names(table)
        class_name = self._python.type_name(table.full_name)
        for field in table.fields:
            if field.type.kind is TypeKind.VECTOR:
                key = string_literal(f"{class_name}.{attributes[field.name]}")
                alignment = "nullptr"
                if is_inline_vector(field.type):
                    alignment = f"&Alignments::{self.cpp.alignment(table, field)}"
                yield AlignmentKeyView(key, alignment)
