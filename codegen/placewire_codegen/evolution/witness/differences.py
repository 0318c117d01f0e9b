"""Where two readings of one file differ, compared by what a field is and not by its name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model import (
    EnumDefinition,
    Field,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
)
from .identity import Identity
from .spelling import spelled_value

__all__ = ["Difference", "find_differences"]

Json = Any


@dataclass(frozen=True)
class Difference:
    """A place that is not read as it was written.

    Attributes:
        path: Where, from the root of the file: `items[0].price`. The names are the writer's, but
            the reader's in what it refuses, or where the writer has nothing.
        written: What the writer's own code reads there.
        read: What the reader's code reads there, or why it refuses the file.
        rule: What the reader's code found, if that is the difference: `REQUIRED_FIELD_MISSING`.
    """

    path: str
    written: str
    read: str
    rule: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{where}{self.written} was written, {self.read}"


def find_differences(
    own: Json, other: Json, identity: Identity, *, by_number: bool = False
) -> list[Difference]:
    """Compare what the writer's code and the reader's code say of one file.

    Args:
        own: The writer's answer: a value and findings.
        other: The reader's answer.
        identity: What is what.
        by_number: Members of enums must have the same number, too. They need not where the number
            is in the file, since one side has then written what it means.
    """
    found = [_refusal(finding) for finding in _new_findings(own, other, identity)]
    if own["value"] is None and other["value"] is not None and not found:
        refused = own["findings"][0]
        text = f"what the writer's own code refuses ({refused['message']})"
        return [Difference(refused["path"], text, "and it is read")]
    if own["value"] is not None and other["value"] is not None:
        readings = _Readings(identity, by_number=by_number)
        return [*readings.tables(own["value"], other["value"], ""), *found]
    return found


def _new_findings(own: Json, other: Json, identity: Identity) -> list[Json]:
    """Return what the reader finds wrong and the writer does not.

    That a deprecated field is missing is nothing wrong: most writers do not write it any more.
    """
    deprecated = {f.name for table in identity.writer.tables for f in table.fields if f.deprecated}
    known = {
        finding["rule"]
        for finding in own["findings"]
        if finding["path"].rpartition(".")[2] not in deprecated
    }
    return [finding for finding in other["findings"] if finding["rule"] not in known]


def _refusal(finding: Json) -> Difference:
    is_lenient = finding["rule"].startswith("UNKNOWN_") or finding["rule"] == "FIELD_ABSENT"
    read = f"{'but strict code refuses it' if is_lenient else 'but it is refused'}: "
    return Difference(finding["path"], "a sound file", read + finding["message"], finding["rule"])


class _Readings:
    """Compares values; yields a difference for each place where they are not the same."""

    def __init__(self, identity: Identity, *, by_number: bool) -> None:
        self._identity = identity
        self._by_number = by_number

    def tables(self, own: Json, other: Json, path: str) -> Iterator[Difference]:
        """Compare two tables, which need not be of the same type."""
        writer = self._identity.writer.table(own["table"])
        reader = self._identity.reader.table(other["table"])
        if self._identity.types.get(writer.full_name) != reader.full_name:
            yield Difference(
                path,
                f"table {writer.full_name} {_own(writer, own)}",
                f"and is read as table {reader.full_name} {_own(reader, other)}",
            )
            return
        yield from self._fields(writer, reader, own, other, path)

    def _fields(
        self,
        writer: TableDefinition | StructDefinition,
        reader: TableDefinition | StructDefinition,
        own: Json,
        other: Json,
        path: str,
    ) -> Iterator[Difference]:
        pairs, only_read = self._identity.fields(writer, reader)
        for field, counterpart in pairs:
            value = own["fields"][str(_place(writer, field))]
            where = _joined(path, field.name)
            if field.deprecated and (counterpart is None or counterpart.deprecated):
                continue
            if field.deprecated:
                value = None  # code of that schema does not show it
            if counterpart is None:
                if not _is_unset(field, value):
                    text = spelled_value(self._identity.writer, field.type, value)
                    yield Difference(where, text, "and there is no such field to read")
                continue
            read = other["fields"][str(_place(reader, counterpart))]
            if field.deprecated and read is not None and not _is_unset(counterpart, read):
                text = spelled_value(self._identity.reader, counterpart.type, read)
                yield Difference(where, "a deprecated field", f"and {text} is read")
            elif not field.deprecated and not counterpart.deprecated:
                yield from self._values(field.type, counterpart.type, value, read, where)
        for field in only_read:
            read = other["fields"][str(_place(reader, field))]
            if not field.deprecated and not _is_unset(field, read):
                text = spelled_value(self._identity.reader, field.type, read)
                where = _joined(path, field.name)
                yield Difference(where, "nothing", f"and {text} is read")

    def _values(
        self, own_type: Type, other_type: Type, own: Json, other: Json, path: str
    ) -> Iterator[Difference]:
        kinds = (own_type.kind, other_type.kind)
        if own is None or other is None:
            if own is not other:
                yield self._difference(own_type, other_type, own, other, path)
        elif kinds == (TypeKind.TABLE, TypeKind.TABLE):
            yield from self.tables(own, other, path)
        elif kinds == (TypeKind.STRUCT, TypeKind.STRUCT):
            yield from self._structs(own, other, path)
        elif kinds == (TypeKind.UNION, TypeKind.UNION):
            yield from self._unions(own_type, other_type, own, other, path)
        elif kinds == (TypeKind.ENUM, TypeKind.ENUM):
            if not self._is_same_number(own_type, other_type, own["enum"], other["enum"]):
                yield self._difference(own_type, other_type, own, other, path)
        elif "nested" in (own if isinstance(own, dict) else {}) and "nested" in (
            other if isinstance(other, dict) else {}
        ):
            yield from self.tables(own["nested"], other["nested"], path)
        elif own_type.element is not None and other_type.element is not None:
            yield from self._sequences(own_type, other_type, own, other, path)
        elif _plain(own) != _plain(other):
            yield self._difference(own_type, other_type, own, other, path)

    def _structs(self, own: Json, other: Json, path: str) -> Iterator[Difference]:
        writer = self._identity.writer.struct(own["struct"])
        reader = self._identity.reader.struct(other["struct"])
        if self._identity.types.get(writer.full_name) != reader.full_name:
            kinds = (
                Type(kind=TypeKind.STRUCT, ref=writer.full_name),
                Type(kind=TypeKind.STRUCT, ref=reader.full_name),
            )
            yield self._difference(*kinds, own, other, path)
            return
        yield from self._fields(writer, reader, own, other, path)

    def _unions(
        self, own_type: Type, other_type: Type, own: Json, other: Json, path: str
    ) -> Iterator[Difference]:
        assert own_type.ref is not None
        assert other_type.ref is not None
        tags = {}
        if self._identity.types.get(own_type.ref) == other_type.ref:
            tags = self._identity.tags(own_type.ref, other_type.ref)
        if tags.get(own["tag"]) != other["tag"] or other["value"] is None:
            yield self._difference(own_type, other_type, own, other, path)
            return
        writer, reader = self._identity.writer, self._identity.reader
        own_member, other_member = (
            next(m.type for m in schema.union(ref).members if m.tag == value["tag"])
            for schema, ref, value in (
                (writer, own_type.ref, own),
                (reader, other_type.ref, other),
            )
        )
        yield from self._values(own_member, other_member, own["value"], other["value"], path)

    def _sequences(
        self, own_type: Type, other_type: Type, own: Json, other: Json, path: str
    ) -> Iterator[Difference]:
        if not (isinstance(own, dict) and isinstance(other, dict)) or own.keys() != other.keys():
            yield self._difference(own_type, other_type, own, other, path)
            return
        if "items" not in own:
            if own["bytes"] != other["bytes"]:
                yield self._difference(own_type, other_type, own, other, path)
            return
        if other["missed"] and not own["missed"]:
            index = other["missed"][0]
            yield Difference(
                f"{path}[{index}]",
                "an entry",
                "and `lookup` misses it by its own key",
                "LOOKUP_MISSES",
            )
        if len(own["items"]) != len(other["items"]):
            yield self._difference(own_type, other_type, own, other, path)
            return
        assert own_type.element is not None
        assert other_type.element is not None
        for index, pair in enumerate(zip(own["items"], other["items"], strict=True)):
            yield from self._values(own_type.element, other_type.element, *pair, f"{path}[{index}]")

    def _is_same_number(self, own: Type, other: Type, written: int, read: int) -> bool:
        """Whether two numbers of enums have one name; those without any are compared as such."""
        assert own.ref is not None
        assert other.ref is not None
        writer, reader = self._identity.writer.enum(own.ref), self._identity.reader.enum(other.ref)
        names = (
            self._identity.member_names(writer, reader)
            if self._identity.types.get(own.ref) == other.ref
            else {member.name: member.name for member in writer.members}
        )
        there = {names.get(name, f"no {name}") for name in _names(writer, written)}
        if (self._by_number or not there) and written != read:
            return False
        if not there and not _names(reader, read):
            return True
        return there == set(_names(reader, read))

    def _difference(
        self, own_type: Type, other_type: Type, own: Json, other: Json, path: str
    ) -> Difference:
        written = spelled_value(self._identity.writer, own_type, own)
        read = spelled_value(self._identity.reader, other_type, other)
        if written == read:
            written, read = (
                f"{written} ({own_type.kind.value})",
                f"{read} ({other_type.kind.value})",
            )
        return Difference(path, written, f"and {read} is read")


def _names(enum: EnumDefinition, value: int) -> list[str]:
    """Return the names of a number; of bit flags, those of its bits."""
    exact = [member.name for member in enum.members if member.value == value]
    if exact or not enum.bit_flags:
        return exact
    return [member.name for member in enum.members if member.value & value]


def _place(definition: TableDefinition | StructDefinition, field: Field) -> int:
    return field.id if isinstance(definition, TableDefinition) else field.offset


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _own(definition: TableDefinition, value: Json) -> str:
    """Spell what is set in a table of another type than expected."""
    told = [f.name for f in definition.fields if not _is_unset(f, value["fields"][str(f.id)])]
    return f"with {', '.join(told)}" if told else "with nothing in it"


def _is_unset(field: Field, value: Json) -> bool:
    """Whether a value is what a field reads as that is not there."""
    if value is None or value in ({"items": [], "missed": []}, {"bytes": ""}):
        return True
    if field.default is not None:
        return bool(_plain(value) == _plain_number(field))
    if field.default_content is not None:
        return bool(value == field.default_content)
    # A number in a struct has no default: 0 is what unused bytes hold.
    return not field.optional and value in (0, {"enum": 0}, {"float": (0.0).hex()})


def _plain_number(field: Field) -> Json:
    assert field.default is not None
    assert field.type.scalar is not None
    if field.type.scalar.is_float:
        return float(field.default).hex()
    return int(field.default)


def _plain(value: Json) -> Json:
    """Return a number without its Python type; floats by their bits, so that NaN is itself."""
    if isinstance(value, dict):
        return value.get("enum", value.get("float", value.get("bytes")))
    return int(value) if isinstance(value, bool) else value
