"""Files that no generated code writes, or no reading tells apart: handled as bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import (
    EnumDefinition,
    Field,
    Schema,
    StructDefinition,
    Type,
    TypeKind,
)
from ..findings import Finding
from .differences import Difference
from .places import Place, places
from .subjects import Subject, Subjects
from .trial import Direction, Trial, trial_at, writer_of
from .wire import follow, vector_start

__all__ = ["less_aligned", "other_header", "unnamed_number", "used_padding"]

Json = Any


def other_header(
    finding: Finding, subjects: Subjects, _: Subject, direction: Direction
) -> Iterator[Trial]:
    """End a file by its header before its last bytes, which only one side notices."""
    roots = subjects.roots(finding.path)
    own, other = direction.pick(*roots) if roots is not None else (None, None)
    if own is None or other is None:
        return
    header = direction.writer.table(own.table).attributes.get("extended_header")
    if header is None:
        return
    start = 8 if own.identifier is not None else 4
    magic = str(header).encode()

    def with_header(buffer: bytes) -> bytes:
        root = int.from_bytes(buffer[:4], "little") + 32
        head = root.to_bytes(4, "little") + buffer[4:start] + bytes(8 - start)
        described = magic + (24).to_bytes(4, "little") + (36 + start).to_bytes(8, "little")
        return head + described.ljust(32 + start - 8, b"\0") + buffer[start:]

    yield Trial(
        direction,
        own.table,
        other.table,
        direction.values.rich_table(own.table),
        frozenset({""}),
        names=frozenset({""}),
        change=with_header,
    )


def less_aligned(
    _: Finding, __: Subjects, subject: Subject, direction: Direction
) -> Iterator[Trial]:
    """Write vectors of many lengths until one begins where the reader does not expect it."""
    own, other = direction.pick(subject.base_part, subject.head_part)
    alignment = max(other.force_align, 4)
    for place in places(direction.writer, writer_of(subject, direction).full_name):
        for count in range(1, 20):
            value: Json = "a" * count
            if own.type.is_bytes:
                value = {"bytes": "5a" * count}
            elif own.type.element is not None:
                value = {"items": [next(direction.values.of_type(own.type.element))] * count}

            def inspect(buffer: bytes, place: Place = place) -> Difference | None:
                first = vector_start(buffer, follow(buffer, place.slots), own.id)
                if first % alignment == 0:
                    return None
                path = f"{place.path()}.{own.name}".removeprefix(".")
                text = f"and code that relies on {alignment} reads there"
                written = f"data at byte {first}, which is no multiple of {alignment},"
                return Difference(path, written, text)

            yield trial_at(place, subject, direction, {own.id: value}, inspect=inspect)


def used_padding(
    _: Finding, __: Subjects, subject: Subject, direction: Direction
) -> Iterator[Trial]:
    """Fill the padding of a struct, as a writer may leave it."""
    new, base = subject.head_part, subject.base
    if not isinstance(new, Field) or not isinstance(base, StructDefinition):
        return
    assert subject.holder is not None
    covered = {
        each.offset + byte
        for each in base.fields
        for byte in range(_size(direction.writer, each.type))
    }
    padding = [byte for byte in range(new.offset, base.size) if byte not in covered]
    vector = direction.writer.table(subject.holder).fields[-1]

    def fill(buffer: bytes) -> bytes:
        changed = bytearray(buffer)
        start = vector_start(buffer, follow(buffer, ()), vector.id)
        for byte in padding:
            changed[start + byte] = 1
        return bytes(changed)

    yield Trial(
        direction,
        subject.holder,
        subject.holder,
        direction.values.table(
            subject.holder, {vector.id: {"items": [direction.values.struct(base.full_name)]}}
        ),
        frozenset({"values"}),
        frozenset({new.name}),
        change=fill,
    )


def _size(schema: Schema, type_: Type) -> int:
    if type_.kind is TypeKind.STRUCT:
        return schema.struct(type_.ref or "").size
    if type_.kind is TypeKind.ARRAY:
        assert type_.element is not None
        return (type_.length or 0) * _size(schema, type_.element)
    assert type_.scalar is not None
    return type_.scalar.size


def unnamed_number(
    _: Finding, __: Subjects, subject: Subject, direction: Direction
) -> Iterator[Trial]:
    """Write a number that a later member may have, and that only one sign can be."""
    assert isinstance(subject.base, EnumDefinition)
    assert subject.holder is not None
    size = subject.base.underlying.size
    writer = writer_of(subject, direction)
    vector = direction.writer.table(subject.holder).fields[-1]

    def fill(buffer: bytes) -> bytes:
        start = vector_start(buffer, follow(buffer, ()), vector.id)
        return buffer[:start] + b"\xff" * size + buffer[start + size :]

    value = {"items": [{"enum": writer.members[0].value}]}
    yield Trial(
        direction,
        subject.holder,
        subject.holder,
        direction.values.table(subject.holder, {vector.id: value}),
        frozenset({"values"}),
        change=fill,
    )
