"""What is tried to show a finding: files of one side, and where the other reads them wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

from ...model import (
    EnumDefinition,
    Field,
    Schema,
    StructDefinition,
    TableDefinition,
    TypeKind,
    UnionDefinition,
)
from ..findings import Finding
from ..rules import Affected
from .places import HOLDER, Place, places
from .subjects import Subject, Subjects
from .trial import Direction, Trial, trial_at, writer_of
from .trials_of_bytes import less_aligned, other_header, unnamed_number, used_padding
from .values import Values
from .wire import without_field

__all__ = ["trials"]

Json = Any


def trials(finding: Finding, subjects: Subjects, directions: list[Direction]) -> Iterator[Trial]:
    """Yield what may show a finding, the plainest first.

    Args:
        finding: On the wire, or of meaning.
        subjects: Knows what it is about.
        directions: From BASE to HEAD, and back.
    """
    subject = subjects.of(finding)
    chosen = [
        each
        for each in directions
        if (Affected.OLD_READERS if each.from_head else Affected.NEW_READERS) in finding.affected
    ]
    for direction in chosen:
        make = _BY_RULE.get(finding.rule.name, _by_subject)
        yield from make(finding, subjects, subject, direction)


_Make = Callable[[Finding, Subjects, Subject, Direction], Iterator[Trial]]


def _by_subject(
    _: Finding, __: Subjects, subject: Subject, direction: Direction
) -> Iterator[Trial]:
    """Set what the finding is about, in every way that may tell."""
    writer, reader = direction.pick(subject.base, subject.head)
    if isinstance(writer, TableDefinition) and isinstance(reader, TableDefinition):
        yield from _fields_set(subject, direction)
        return
    if writer is None or reader is None:
        return
    for value in _values_of(subject, direction):
        yield from _held(subject, direction, value)


def _fields_set(subject: Subject, direction: Direction) -> Iterator[Trial]:
    own, _ = direction.pick(subject.base_part, subject.head_part)
    if own is None:
        return
    for place in places(direction.writer, writer_of(subject, direction).full_name):
        for value in direction.values.telling(own):
            yield trial_at(place, subject, direction, {own.id: value})
        if not own.is_mandatory:
            yield trial_at(place, subject, direction, {own.id: None})


def _left_out(
    finding: Finding, _: Subjects, subject: Subject, direction: Direction
) -> Iterator[Trial]:
    """Leave a field out; where the writer's code would not, take it out of the bytes."""
    own, _other = direction.pick(subject.base_part, subject.head_part)
    expected = {
        "FIELD_SAME_REQUIRED": "REQUIRED_FIELD_MISSING",
        "FIELD_NO_NEW_REQUIRED": "REQUIRED_FIELD_MISSING",
        "FIELD_SAME_PRESENT": "FIELD_ABSENT",
    }.get(finding.rule.name)
    rules = frozenset({expected} if expected else ())
    by_number = finding.rule.name == "FIELD_SAME_DEFAULT"
    for place in places(direction.writer, writer_of(subject, direction).full_name):
        if own is None or not (own.is_mandatory or own.reads_default):
            fields = {} if own is None else {own.id: None}
            yield trial_at(place, subject, direction, fields, rules=rules, by_number=by_number)
            continue
        width = 2 if (own.type.element or own.type).kind is TypeKind.UNION else 1
        for value in direction.values.telling(own):
            yield trial_at(
                place,
                subject,
                direction,
                {own.id: value},
                rules=rules,
                change=_taking_out(place, own, width),
                by_number=by_number,
            )


def _taking_out(place: Place, own: Field, width: int) -> Callable[[bytes], bytes]:
    return lambda buffer: without_field(buffer, place.slots, own.id, width)


def _values_of(subject: Subject, direction: Direction) -> Iterator[Json]:
    """Yield values of a struct, an enum or a union that have what the finding is about."""
    writer = writer_of(subject, direction)
    own, other = direction.pick(subject.base_part, subject.head_part)
    if isinstance(writer, StructDefinition):
        yield direction.values.struct(writer.full_name)
        for value in () if own is None else direction.values.of_type(own.type):
            yield direction.values.struct(writer.full_name, {own.offset: value})
    elif isinstance(writer, EnumDefinition):
        members = [own] if own is not None else list(writer.members)
        yield from ({"enum": member.value} for member in reversed(members))
        if other is not None and any(m.value == other.value for m in writer.members):
            yield {"enum": other.value}
    elif isinstance(writer, UnionDefinition):
        tags = [own.tag] if own is not None else [member.tag for member in writer.members]
        yield from (direction.values.member(writer.full_name, tag) for tag in tags)
    elif isinstance(writer, TableDefinition):
        yield direction.values.rich_table(writer.full_name)
        yield direction.values.table(writer.full_name)


def _held(subject: Subject, direction: Direction, value: Json) -> Iterator[Trial]:
    """Put a value where the schema has its type, and then into a table made for it."""
    writer = writer_of(subject, direction)
    own, other = direction.pick(subject.base_part, subject.head_part)
    names = frozenset(part.name for part in (own, other) if part is not None)
    for table, each, in_vector in _uses(direction.writer, writer.full_name):
        counterpart = direction.identity.counterpart(table.full_name, each)
        if counterpart is None:
            continue
        found = Subject(
            *direction.pick(
                table, direction.reader.table(direction.identity.types[table.full_name])
            ),
            *direction.pick(each, counterpart),
            None,
        )
        for place in places(direction.writer, table.full_name):
            item = {"items": [value, value]} if in_vector else value
            yield trial_at(place, found, direction, {each.id: item}, names=names)
    assert subject.holder is not None
    holder = direction.writer.table(subject.holder)
    for each in holder.fields:
        item = {"items": [value] * 3} if each.type.kind is TypeKind.VECTOR else value
        yield Trial(
            direction,
            subject.holder,
            subject.holder,
            direction.values.table(subject.holder, {each.id: item}),
            frozenset({each.name}),
            names,
        )


def _uses(schema: Schema, name: str) -> Iterator[tuple[TableDefinition, Field, bool]]:
    """Yield the fields that hold a type, and whether in a vector."""
    for table in schema.tables:
        for each in table.fields:
            if each.deprecated or table.full_name.startswith(HOLDER):
                continue
            if each.type.ref == name:
                yield table, each, False
            elif each.type.element is not None and each.type.element.ref == name:
                yield table, each, True


def _other_root(
    finding: Finding, subjects: Subjects, _: Subject, direction: Direction
) -> Iterator[Trial]:
    """Read a file by the root of the other schema."""
    roots = subjects.roots(finding.path)
    if roots is None:  # no root is named; the table that files began with is gone
        written, read, as_file = finding.path, finding.path, False
        if direction.from_head or written not in direction.writer.definitions:
            return
    else:
        own, other = direction.pick(*roots)
        if own is None:
            return
        written, as_file = own.table, True
        read = other.table if other is not None else direction.identity.types.get(own.table, "")
    for value in (direction.values.rich_table(written), direction.values.table(written)):
        yield Trial(direction, written, read, value, frozenset({""}), as_file=as_file)


def _other_identifier(
    finding: Finding, subjects: Subjects, _: Subject, direction: Direction
) -> Iterator[Trial]:
    roots = subjects.roots(finding.path)
    own, other = direction.pick(*roots) if roots is not None else (None, None)
    if own is None or other is None:
        return
    yield Trial(
        direction,
        own.table,
        other.table,
        direction.values.rich_table(own.table),
        frozenset({""}),
        rules=frozenset({"WRONG_IDENTIFIER", "BUFFER_TOO_SMALL"}),
        check_identifier=True,
    )


def _other_message(
    finding: Finding, subjects: Subjects, _: Subject, direction: Direction
) -> Iterator[Trial]:
    """Read what a method takes or returns by the other schema."""
    service, _dot, name = finding.path.rpartition(".")
    old, new = (
        next(
            m
            for s in schema.services
            if s.full_name == service
            for m in s.methods
            if m.name == name
        )
        for schema in (subjects.base, subjects.head)
    )
    for before, after in ((old.request, new.request), (old.response, new.response)):
        if subjects.names.get(before) != after:
            written, read = direction.pick(before, after)
            for value in (direction.values.rich_table(written), direction.values.table(written)):
                yield Trial(direction, written, read, value, frozenset({""}))


def _other_key(_: Finding, __: Subjects, subject: Subject, direction: Direction) -> Iterator[Trial]:
    """Put entries into a vector in every order, and look them up by the reader's key."""
    writer, reader = direction.pick(subject.base, subject.head)
    key = next((each for each in reader.fields if each.key), None)
    if key is None or subject.holder is None:
        return
    back = {
        other.name: each
        for each, other in direction.identity.fields(writer, reader)[0]
        if other is not None
    }
    vector = direction.writer.table(subject.holder).fields[-1]
    for entries in _entries(writer, back.get(key.name), direction.values):
        yield Trial(
            direction,
            subject.holder,
            subject.holder,
            direction.values.table(subject.holder, {vector.id: {"items": entries}}),
            frozenset({"values"}),
            rules=frozenset({"LOOKUP_MISSES"}),
        )


def _entries(
    writer: TableDefinition | StructDefinition, wanted: Field | None, values: Values
) -> Iterator[list[Json]]:
    """Yield entries sorted in every way, by the reader's key and by the writer's."""
    is_table = isinstance(writer, TableDefinition)
    sorted_by = next((each for each in writer.fields if each.key), None)

    def choices(each: Field | None) -> list[dict[int, Json]]:
        if each is None:
            return [{}]
        place = each.id if is_table else each.offset
        found = ["a", "b", "c"] if each.type.kind is TypeKind.STRING else []
        found = found or list(values.of_type(each.type))[:3]
        return [{place: value} for value in found]

    keys, others = choices(wanted), choices(sorted_by if sorted_by is not wanted else None)
    count = max(2, len(keys), len(others))
    for one in permutations(keys):
        for other in permutations(others):
            fields = [one[n % len(one)] | other[n % len(other)] for n in range(count)]
            make = values.table if is_table else values.struct
            yield [make(writer.full_name, each) for each in fields]


_BY_RULE: dict[str, _Make] = {
    "FIELD_SAME_REQUIRED": _left_out,
    "FIELD_NO_NEW_REQUIRED": _left_out,
    "FIELD_SAME_PRESENT": _left_out,
    "FIELD_SAME_DEFAULT": _left_out,
    "FIELD_SAME_KEY": _other_key,
    "FIELD_SAME_ALIGNMENT": less_aligned,
    "STRUCT_SAME_PADDING": used_padding,
    "ENUM_SAME_SIGN": unnamed_number,
    "SCHEMA_SAME_ROOT": _other_root,
    "SCHEMA_SAME_IDENTIFIER": _other_identifier,
    "SCHEMA_SAME_HEADER": other_header,
    "RPC_METHOD_SAME_TYPES": _other_message,
}
