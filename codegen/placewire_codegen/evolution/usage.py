"""Walks through a buffer by the schema that it was written by, and says what of it is there.

Only what leads to something that is asked for is followed. Each table is visited once, and every
position is checked against the end of the buffer, so that no input makes the walk long or wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from struct import Struct

from ..model import (
    EnumDefinition,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
)
from .touched import Trigger

__all__ = ["DamagedError", "UsagePlan", "plan_usage"]

_U16, _U32, _I32 = (Struct(code).unpack_from for code in ("<H", "<I", "<i"))
_SCALAR_CODES = dict(
    zip(
        "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split(),
        "BbBhHiIqQfd",
        strict=True,
    )
)
_MOST_DEEP = 64


class DamagedError(Exception):
    """The buffer is not what the schema says; the walk would leave it."""


@dataclass(frozen=True)
class _Step:
    """A field of a table that is asked for or leads to what is.

    Attributes:
        position: Of its entry in the vtable.
        name: Name in the schema.
        type: What it holds; None if that is not followed.
        nested: Full name of the root of the FlatBuffer in it.
        present: What its presence means.
        absent: What its absence means.
    """

    position: int
    name: str
    type: Type | None
    nested: str | None
    present: Trigger | None
    absent: Trigger | None


@dataclass(frozen=True)
class UsagePlan:
    """What to look for in buffers; can be sent to other processes.

    Attributes:
        wanted: What is asked for.
        steps: What to look at in each table that leads to it.
        flags: Masks that are asked for of each enum of bit flags.
        structs: Size of each struct that does, and place and type of its fields that do.
        unions: Types behind the tags of each union that does.
    """

    wanted: frozenset[Trigger]
    steps: Mapping[str, tuple[_Step, ...]] = field(default_factory=dict)
    flags: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    structs: Mapping[str, tuple[int, tuple[tuple[int, str, Type], ...]]] = field(
        default_factory=dict
    )
    unions: Mapping[str, Mapping[int, Type]] = field(default_factory=dict)

    def find(self, data: memoryview, root: str) -> dict[Trigger, str]:
        """Return what is asked for and there, with the path of the first place.

        Args:
            data: A FlatBuffer.
            root: Full name of the table at its root.

        Raises:
            DamagedError: The walk would leave the buffer.
        """
        walk = _Walk(self, data)
        try:
            walk.buffer(root, 0, "")
        except struct.error as error:
            raise DamagedError(str(error)) from None
        return walk.found


def plan_usage(schema: Schema, wanted: frozenset[Trigger]) -> UsagePlan:
    """Plan the search for what is asked for."""
    leading = _leading(schema, wanted)
    definitions = [schema.definitions[name] for name in leading]
    asked = {trigger: trigger for trigger in wanted}
    return UsagePlan(
        wanted=wanted,
        steps={
            table.full_name: tuple(_steps(table, leading, asked))
            for table in definitions
            if isinstance(table, TableDefinition)
        },
        flags={
            one.full_name: tuple(
                member.value
                for member in one.members
                if ("number", one.full_name, member.value) in wanted
            )
            for one in definitions
            if isinstance(one, EnumDefinition) and one.bit_flags
        },
        structs={
            one.full_name: (
                one.size,
                tuple(
                    (part.offset, part.name, part.type)
                    for part in one.fields
                    if _ref(part.type) in leading
                ),
            )
            for one in definitions
            if isinstance(one, StructDefinition)
        },
        unions={
            one.full_name: {member.tag: member.type for member in one.members}
            for one in definitions
            if isinstance(one, UnionDefinition)
        },
    )


def _steps(
    table: TableDefinition, leading: frozenset[str], asked: Mapping[Trigger, Trigger]
) -> Iterator[_Step]:
    for part in table.fields:
        present = asked.get(("present", table.full_name, part.id))
        absent = asked.get(("absent", table.full_name, part.id))
        type_ = part.type if _ref(part.type) in leading else None
        nested = part.nested if part.nested in leading else None
        if present or absent or type_ or nested:
            yield _Step(4 + 2 * part.id, part.name, type_, nested, present, absent)


def _leading(schema: Schema, wanted: frozenset[Trigger]) -> frozenset[str]:
    """Return the types in which something that is asked for can be."""
    users: dict[str, set[str]] = {}
    for name, definition in schema.definitions.items():
        for used in _used(definition):
            users.setdefault(used, set()).add(name)
    found: set[str] = set()
    left = [str(trigger[1]) for trigger in wanted if trigger[0] not in ("file", "root")]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += users.get(name, ())
    return frozenset(found)


def _used(definition: object) -> Iterator[str]:
    match definition:
        case TableDefinition(fields=fields) | StructDefinition(fields=fields):
            for part in fields:
                yield from filter(None, (_ref(part.type), part.nested))
        case UnionDefinition(members=members):
            for member in members:
                yield from filter(None, (_ref(member.type),))


def _ref(type_: Type) -> str | None:
    return type_.ref if type_.element is None else type_.element.ref


class _Walk:
    """One walk through one buffer."""

    def __init__(self, plan: UsagePlan, data: memoryview) -> None:
        self._plan = plan
        self._data = data
        self._seen: set[tuple[int, str]] = set()
        self._depth = 0
        self.found: dict[Trigger, str] = {}

    def buffer(self, root: str, start: int, path: str) -> None:
        self._hit(("root", root), path)
        self._table(root, self._follow(start), path)

    def _hit(self, trigger: Trigger, path: str) -> None:
        if trigger in self._plan.wanted and trigger not in self.found:
            self.found[trigger] = path

    def _follow(self, position: int) -> int:
        target: int = position + _U32(self._data, position)[0]
        if target + 4 > len(self._data):
            raise DamagedError(f"the offset at {position} leads behind the end")
        return target

    def _table(self, name: str, position: int, path: str) -> None:
        steps = self._plan.steps.get(name)
        if steps is None or (position, name) in self._seen:
            return
        self._seen.add((position, name))
        self._depth += 1
        if self._depth > _MOST_DEEP:
            raise DamagedError(f"tables lie deeper than {_MOST_DEEP} inside each other")
        self._hit(("type", name), path)
        vtable = position - _I32(self._data, position)[0]
        if vtable < 0:
            raise DamagedError(f"the vtable of the table at {position} lies before the start")
        size = _U16(self._data, vtable)[0]
        for step in steps:
            offset = _U16(self._data, vtable + step.position)[0] if step.position < size else 0
            place = f"{path}.{step.name}" if path else step.name
            if not offset:
                if step.absent is not None:
                    self._hit(step.absent, place)
                continue
            if step.present is not None:
                self._hit(step.present, place)
            if step.nested is not None:
                start = self._follow(position + offset) + 4
                self.buffer(step.nested, start, place)
            elif step.type is not None:
                tags = vtable + step.position - 2
                self._field(step.type, position + offset, place, partial(self._tag, position, tags))
        self._depth -= 1

    def _tag(self, table: int, entry: int) -> int:
        """Return where a table has the tag of a union, or the tags of a vector of unions."""
        offset: int = _U16(self._data, entry)[0]
        if not offset:
            raise DamagedError(f"the table at {table} has a union without a tag")
        return table + offset

    def _field(self, type_: Type, at: int, path: str, tag: Callable[[], int]) -> None:
        if type_.kind is TypeKind.UNION:
            self._union(type_, self._number(type_, tag()), at, path)
        elif type_.kind is TypeKind.VECTOR:
            assert type_.element is not None
            self._vector(type_.element, self._follow(at), path, tag)
        else:
            self._value(type_, at, path)

    def _vector(self, element: Type, at: int, path: str, tag: Callable[[], int]) -> None:
        count = _U32(self._data, at)[0]
        stride = self._stride(element)
        if at + 4 + count * stride > len(self._data):
            raise DamagedError(f"the vector at {at} ends behind the end")
        tags = self._follow(tag()) if element.kind is TypeKind.UNION else 0
        for number in range(count):
            place, start = f"{path}[{number}]", at + 4 + number * stride
            if tags:
                width = element.scalar.size if element.scalar is not None else 1
                self._union(element, self._number(element, tags + 4 + number * width), start, place)
            else:
                self._value(element, start, place)

    def _stride(self, element: Type) -> int:
        if element.kind is TypeKind.STRUCT:
            assert element.ref is not None
            return self._plan.structs[element.ref][0]
        if element.kind is TypeKind.ENUM:
            assert element.scalar is not None
            return element.scalar.size
        return 4

    def _value(self, type_: Type, at: int, path: str) -> None:
        """Look at a value in its place: an offset to a table, a struct, the number of an enum."""
        if type_.kind is TypeKind.TABLE:
            assert type_.ref is not None
            self._table(type_.ref, self._follow(at), path)
        elif type_.kind is TypeKind.STRUCT:
            self._struct(type_, at, path)
        elif type_.kind is TypeKind.ENUM:
            assert type_.ref is not None
            self._hit(("type", type_.ref), path)
            number = self._number(type_, at)
            self._hit(("number", type_.ref, number), path)
            for mask in self._plan.flags.get(type_.ref, ()):
                if number & mask:
                    self._hit(("number", type_.ref, mask), path)
        elif type_.kind is TypeKind.ARRAY:
            element = type_.element
            assert element is not None
            for number in range(type_.length or 0):
                self._value(element, at + number * self._stride(element), f"{path}[{number}]")

    def _struct(self, type_: Type, at: int, path: str) -> None:
        assert type_.ref is not None
        self._hit(("type", type_.ref), path)
        _, parts = self._plan.structs[type_.ref]
        for offset, name, part in parts:
            self._value(part, at + offset, f"{path}.{name}")

    def _union(self, type_: Type, tag: int, at: int, path: str) -> None:
        assert type_.ref is not None
        if not tag:
            return
        self._hit(("type", type_.ref), path)
        self._hit(("tag", type_.ref, tag), path)
        member = self._plan.unions[type_.ref].get(tag)
        if member is not None and member.kind is TypeKind.TABLE:
            assert member.ref is not None
            self._table(member.ref, self._follow(at), path)
        elif (
            member is not None
            and member.kind is TypeKind.STRUCT
            and _ref(member) in self._plan.structs
        ):
            self._struct(member, self._follow(at), path)

    def _number(self, type_: Type, at: int) -> int:
        assert type_.scalar is not None
        code = _SCALAR_CODES[type_.scalar.value]
        return int(Struct(f"<{code}").unpack_from(self._data, at)[0])
