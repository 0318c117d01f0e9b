"""Describes a schema as rows of numbers and names, for a walk in compiled code that has none of it.

Such a walk accepts what is in perfect order and says where the first part of each trigger is. The
readers in Python are asked about everything else, so they alone decide what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..model import EnumDefinition, Field, Schema, TableDefinition, Type, TypeKind
from .touched import Trigger

__all__ = ["SchemaWalk", "WalkFactory", "WalkTables", "walk_tables"]

_Row = tuple[Any, ...]
_NO_TRIGGER = -1
_KINDS = {
    kind: number
    for number, kind in enumerate(
        (
            TypeKind.SCALAR,
            TypeKind.ENUM,
            TypeKind.STRUCT,
            TypeKind.STRING,
            TypeKind.TABLE,
            TypeKind.UNION,
        )
    )
}
_NESTED = len(_KINDS)
_NUMBERS = 1 << 64


class SchemaWalk(Protocol):
    """Walks through buffers by one schema."""

    def find(
        self, buffer: object, table: int, identifier: str, magic: str
    ) -> list[str | None] | None:
        """Return the path of the first part of each trigger; None if a rule may be broken.

        Args:
            buffer: A FlatBuffer, or what its extended header says.
            table: Index of the root.
            identifier: What the buffer must have; empty if it may have any.
            magic: Of the extended header; empty if there is none.
        """


class WalkFactory(Protocol):
    """Makes walks from descriptions; must be possible to pickle."""

    def __call__(
        self,
        tables: Sequence[_Row],
        structs: Sequence[_Row],
        enums: Sequence[_Row],
        unions: Sequence[_Row],
        triggers: int,
    ) -> SchemaWalk: ...


@dataclass(frozen=True)
class WalkTables:
    """A schema, and what to look for in what it describes; can be pickled.

    Attributes:
        tables: Trigger, trigger as a root, number of slots, fields.
        structs: Trigger, size, alignment, parts.
        enums: Trigger, whether signed, whether flags, numbers with triggers.
        unions: Trigger, members with tags and triggers.
        triggers: What is looked for, by number.
        roots: Index, identifier and magic of each table, by full name: any may be read as a root.
    """

    tables: tuple[_Row, ...]
    structs: tuple[_Row, ...]
    enums: tuple[_Row, ...]
    unions: tuple[_Row, ...]
    triggers: tuple[Trigger, ...]
    roots: tuple[tuple[str, tuple[int, str, str]], ...]

    def walk(self, factory: WalkFactory) -> SchemaWalk:
        """Make what walks by this."""
        return factory(self.tables, self.structs, self.enums, self.unions, len(self.triggers))


def walk_tables(schema: Schema, wanted: Sequence[Trigger] = ()) -> WalkTables:
    """Describe a schema.

    Args:
        schema: What buffers are read by.
        wanted: What to look for in them.
    """
    return _Describer(schema, wanted).tables()


class _Describer:
    def __init__(self, schema: Schema, wanted: Sequence[Trigger]) -> None:
        self._schema = schema
        self._wanted = tuple(wanted)
        self._numbers = {trigger: number for number, trigger in enumerate(wanted)}
        kinds = (schema.tables, schema.structs, schema.enums, schema.unions)
        self._index = {one.full_name: n for kind in kinds for n, one in enumerate(kind)}
        self._sizes = {one.full_name: (one.size, one.alignment) for one in schema.structs}

    def tables(self) -> WalkTables:
        schema = self._schema
        return WalkTables(
            tables=tuple(map(self._table, schema.tables)),
            structs=tuple(
                (self._use(one.full_name), one.size, one.alignment, tuple(self._parts(one.fields)))
                for one in schema.structs
            ),
            enums=tuple(map(self._enum, schema.enums)),
            unions=tuple(
                (
                    self._use(one.full_name),
                    tuple(
                        (
                            member.tag,
                            self._trigger("tag", one.full_name, member.tag),
                            self._type(member.type),
                        )
                        for member in one.members
                    ),
                )
                for one in schema.unions
            ),
            triggers=self._wanted,
            roots=tuple(self._roots()),
        )

    def _roots(self) -> Iterator[tuple[str, tuple[int, str, str]]]:
        identifiers = {root.table: root.identifier for root in self._schema.roots}
        for index, table in enumerate(self._schema.tables):
            name = table.full_name
            # As in generated code, only a root has an extended header.
            magic = table.attributes.get("extended_header", "") if name in identifiers else ""
            yield name, (index, identifiers.get(name) or "", str(magic))

    def _trigger(self, *trigger: str | int) -> int:
        return self._numbers.get(trigger, _NO_TRIGGER)

    def _use(self, name: str) -> int:
        return self._trigger("type", name)

    def _table(self, table: TableDefinition) -> _Row:
        name = table.full_name
        slots = 1 + max((field.id for field in table.fields), default=-1)
        fields = sorted(table.fields, key=lambda field: field.id)
        rows = tuple(self._field(name, field) for field in fields)
        return self._use(name), self._trigger("root", name), slots, rows

    def _field(self, table: str, field: Field) -> _Row:
        element = field.type.element if field.type.kind is TypeKind.VECTOR else None
        if field.nested is not None:
            element, type_ = None, (_NESTED, 4, 4, self._index[field.nested])
        else:
            type_ = self._type(element or field.type)
        return (
            field.name,
            field.id,
            field.is_mandatory,
            element is not None,
            type_,
            self._trigger("present", table, field.id),
            self._trigger("absent", table, field.id),
        )

    def _parts(self, fields: Sequence[Field]) -> Iterator[_Row]:
        """Yield the parts of a struct that hold enums; no other number has a meaning of its own."""
        for field in fields:
            type_ = field.type.element or field.type
            if type_.kind in (TypeKind.ENUM, TypeKind.STRUCT):
                yield field.name, field.offset, field.type.length or 0, self._type(type_)

    def _enum(self, enum: EnumDefinition) -> _Row:
        name = enum.full_name
        numbers = tuple(
            (member.value % _NUMBERS, self._trigger("number", name, member.value))
            for member in enum.members
        )
        return self._use(name), enum.underlying.is_signed, enum.bit_flags, numbers

    def _type(self, type_: Type) -> _Row:
        size, alignment = 4, 4
        if type_.kind is TypeKind.STRUCT:
            assert type_.ref is not None
            size, alignment = self._sizes[type_.ref]
        elif type_.scalar is not None:
            size = alignment = type_.scalar.size
        definition = 0 if type_.ref is None else self._index[type_.ref]
        return _KINDS[type_.kind], size, alignment, definition
