"""What schema names are called in Python; the native binding asks here, too."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from enum import IntFlag
from functools import cached_property
from typing import NamedTuple, TypeVar

from ..config import ProjectConfig
from ..model import (
    Definition,
    EnumDefinition,
    Field,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    UnionDefinition,
    UnionMember,
)
from ..names import PYTHON_BUILTINS, PYTHON_KEYWORDS, NameScope, PythonNameScope
from .cpp_order import class_references

_MODULE_NAMES = frozenset(
    """Any ClassVar Exception Final IntEnum IntFlag TypeAlias _Finding _codec annotations bool bytes
    dataclass dict field float int list property str type""".split()
)
"""What a generated module itself needs; a type of such a name gets a `_`."""

_CLASS_NAMES = frozenset("bool bytes field float int list str".split())
"""What the body of a dataclass needs: a field of such a name would hide it from the next field."""

_ENUM_NAMES = frozenset(
    name for name in (*dir(IntFlag), "mro", "name", "value") if not name.startswith("_")
)
"""What `enum` keeps for itself, and what its members are as numbers."""


_PROPERTY_NAMES = frozenset("bool float int property str".split())
"""What the body of an enum needs for its properties."""


_DefinitionT = TypeVar("_DefinitionT", bound=Definition)


class Definitions(NamedTuple):
    """What one module holds, each kind in the order of the schema."""

    enums: tuple[EnumDefinition, ...]
    unions: tuple[UnionDefinition, ...]
    structs: tuple[StructDefinition, ...]
    tables: tuple[TableDefinition, ...]


class NestedMethods(NamedTuple):
    """Names of the methods that read and write the FlatBuffer in a field."""

    unpack: str
    view: str
    pack: str


class PythonNames:
    """Names of modules, types, fields and members, free of keywords and of each other."""

    def __init__(self, schema: Schema, config: ProjectConfig) -> None:
        self._schema = schema
        self._config = config
        self._scopes: dict[str, PythonNameScope] = {}
        self._types = {name: self._claim(name, d.name) for name, d in schema.definitions.items()}
        self._member_classes = {
            (union.full_name, member.tag): self._claim(union.full_name, member.name)
            for union in sorted(schema.unions, key=lambda union: union.full_name)
            for member in union.members
            if schema.has_own_name(member)
        }

    def _claim(self, full_name: str, wanted: str) -> str:
        """Take a name in the module of a definition."""
        module = self.module_of(full_name)
        others = set(self.modules) - {module}
        reserved = PYTHON_KEYWORDS | _MODULE_NAMES | others
        if isinstance(self._schema.definitions[full_name], UnionDefinition):
            # Unions and their members come last in a module; until then, mypy sees the builtin.
            wanted = NameScope(PYTHON_BUILTINS).claim(wanted)
        return self._scopes.setdefault(module, PythonNameScope(reserved)).claim(wanted)

    def member_class(self, union: UnionDefinition, member: UnionMember) -> str | None:
        """Return the class that stands for a member alone; None if its type's class does."""
        return self._member_classes.get((union.full_name, member.tag))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules in the order in which they can be imported, which is that of the files."""
        namespaces = (d.namespace for d in self._schema.definitions.values())
        return tuple(dict.fromkeys(sorted(self._config.module(name) for name in namespaces)))

    @cached_property
    def import_cycles(self) -> dict[str, frozenset[str]]:
        """For each module, the others that it needs and that need it, directly or not."""
        needed = {module: {module} for module in self.modules}
        for name in self._schema.definitions:
            references = class_references(self._schema, name)
            needed[self.module_of(name)].update(map(self.module_of, references))
        for module, further in needed.items():
            for others in needed.values():
                if module in others:
                    others.update(further)
        return {
            module: frozenset(o for o in others if o != module and module in needed[o])
            for module, others in needed.items()
        }

    def module_of(self, full_name: str) -> str:
        """Return the module of a definition."""
        return self._config.module(self._schema.definitions[full_name].namespace)

    def definitions_of(self, module: str) -> Definitions:
        """Return what a module holds."""

        def here(definitions: Iterable[_DefinitionT]) -> tuple[_DefinitionT, ...]:
            return tuple(d for d in definitions if self.module_of(d.full_name) == module)

        schema = self._schema
        return Definitions(
            here(schema.enums), here(schema.unions), here(schema.structs), here(schema.tables)
        )

    def type_name(self, full_name: str) -> str:
        """Return the name of a definition within its module."""
        return self._types[full_name]

    def field_names(self, table: TableDefinition | StructDefinition) -> dict[str, str]:
        """Return the attribute of each field of a table or struct by the field's name."""
        scope = self._field_scope(table)
        return {field.name: scope.claim(field.name) for field in table.fields}

    def _field_scope(self, table: TableDefinition | StructDefinition) -> PythonNameScope:
        used = self._types_in_class_bodies(table)
        return PythonNameScope(PYTHON_KEYWORDS | _CLASS_NAMES | used)

    def nested_methods(self, table: TableDefinition) -> dict[str, NestedMethods]:
        """Return the methods for each field that holds a FlatBuffer, by the field's name."""
        fields = self.field_names(table)
        scope = self._field_scope(table)
        for name in fields.values():
            scope.claim(name)
        return {
            field.name: NestedMethods(
                *(scope.claim(f"{verb}_{field.name}") for verb in ("unpack", "view", "pack"))
            )
            for field in table.fields
            if field.nested is not None
        }

    def _types_in_class_bodies(self, table: TableDefinition | StructDefinition) -> set[str]:
        references = {_reference(field) for field in table.fields}
        references |= {field.nested for field in table.fields}
        used = {self._types[name] for name in references if name is not None}
        return used | set(self.modules)

    def member_names(self, enum: EnumDefinition) -> dict[str, str]:
        """Return the Python name of each member of `enum` by its name."""
        attributes = set(self.attribute_names(enum).values())
        if attributes:
            attributes |= _PROPERTY_NAMES
        scope = PythonNameScope(PYTHON_KEYWORDS | _ENUM_NAMES | attributes)
        return {member.name: scope.claim(member.name) for member in enum.members}

    def attribute_names(self, enum: EnumDefinition) -> dict[str, str]:
        """Return the property of each attribute of the members of `enum` by its name."""
        attributes = dict.fromkeys(name for member in enum.members for name in member.attributes)
        scope = PythonNameScope(PYTHON_KEYWORDS | _PROPERTY_NAMES | _ENUM_NAMES)
        return {name: scope.claim(name) for name in attributes}

    def member_with_value(self, enum: EnumDefinition, value: int) -> str | None:
        """Return the Python name of the member of `enum` that is `value`, if there is one."""
        names = self.member_names(enum)
        return next((names[m.name] for m in enum.members if m.value == value), None)


def sort_key(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Order names as isort does: constants, classes, the rest; numbers in them by value."""
    category = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name.lower() if category else name)
    return category, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def python_tuple(names: list[str]) -> str:
    """Return strings as the source of a tuple."""
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"({quoted},)" if len(names) == 1 else f"({quoted})"


def string_literal(text: str) -> str:
    """Return `text` as Python source, in double quotes as a formatter would write it."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def scalar_literal(type_: Type, value: int | float) -> str:
    """Return a scalar of `type_` as Python source."""
    if type_.scalar is ScalarKind.BOOL:
        return str(bool(value))
    if type_.scalar is not None and type_.scalar.is_float:
        number = float(value)
        return repr(number) if math.isfinite(number) else f'float("{number}")'
    return str(int(value))


def _reference(field: Field) -> str | None:
    return field.type.element.ref if field.type.element is not None else field.type.ref
