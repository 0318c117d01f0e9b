"""What schema names are called in Python; the native binding asks here, too."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
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
from ..names import PYTHON_KEYWORDS, PythonNameScope

_MODULE_NAMES = frozenset(
    """Any ClassVar Exception Final IntEnum IntFlag TypeAlias annotations bool bytes dataclass dict
    field float int list property str type""".split()
)
"""What a generated module itself needs; a type of such a name gets a `_`."""

_CLASS_NAMES = frozenset("bool bytes field float int list str".split())
"""What the body of a dataclass needs: a field of such a name would hide it from the next field."""

_ENUM_NAMES = frozenset("mro name property value".split())
"""What `enum` keeps for itself, and what decorates the properties of attributes."""


_DefinitionT = TypeVar("_DefinitionT", bound=Definition)


class Definitions(NamedTuple):
    """What one module holds, each kind in the order of the schema."""

    enums: tuple[EnumDefinition, ...]
    unions: tuple[UnionDefinition, ...]
    structs: tuple[StructDefinition, ...]
    tables: tuple[TableDefinition, ...]


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
            if self._needs_class(member)
        }

    def _claim(self, full_name: str, wanted: str) -> str:
        """Take a name in the module of a definition."""
        module = self.module_of(full_name)
        if module not in self._scopes:
            # A type must not hide a module that another type refers to.
            others = set(self.modules) - {module}
            self._scopes[module] = PythonNameScope(PYTHON_KEYWORDS | _MODULE_NAMES | others)
        return self._scopes[module].claim(wanted)

    def _needs_class(self, member: UnionMember) -> bool:
        """Whether a member goes by a name of its own: a string, or a type under an alias."""
        if member.type.ref is None:
            return True
        definition = self._schema.definitions[member.type.ref]
        return member.name not in (definition.name, definition.full_name.replace(".", "_"))

    def member_class(self, union: UnionDefinition, member: UnionMember) -> str | None:
        """Return the class that stands for a member alone; None if its type's class does."""
        return self._member_classes.get((union.full_name, member.tag))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """The modules in the order in which they can be imported, which is that of the files."""
        namespaces = (d.namespace for d in self._schema.definitions.values())
        return tuple(dict.fromkeys(sorted(self._config.module(name) for name in namespaces)))

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
        scope = PythonNameScope(PYTHON_KEYWORDS | _CLASS_NAMES | self._types_in_class_bodies(table))
        return {field.name: scope.claim(field.name) for field in table.fields}

    def _types_in_class_bodies(self, table: TableDefinition | StructDefinition) -> set[str]:
        references = {_reference(field) for field in table.fields}
        used = {self._types[name] for name in references if name is not None}
        return used | set(self.modules)

    def member_names(self, enum: EnumDefinition) -> dict[str, str]:
        """Return the Python name of each member of `enum` by its name."""
        attributes = {name for member in enum.members for name in member.attributes}
        scope = PythonNameScope(PYTHON_KEYWORDS | _ENUM_NAMES | attributes)
        return {member.name: scope.claim(member.name) for member in enum.members}

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
