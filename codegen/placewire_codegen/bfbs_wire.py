"""Binary schemas as bytes: reads them into records and writes them from records.

Both follow the slots that the classes of `bfbs_format` name. FlatBuffers' own package finds and
places the bytes; since its reader checks nothing, every step is checked here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from flatbuffers import Builder, number_types
from flatbuffers.table import Table

from .bfbs_format import IDENTIFIER, Record, SchemaRecord, Slot, slots_of

_SMALLEST = 12  # root offset, identifier, and the root's way to its vtable
_LARGEST = 2**31 - 1
_COST_OF_A_VISIT = 16
_BUDGET_PER_BYTE = 16
_FLAGS: Mapping[str, Any] = {
    "bool": number_types.BoolFlags,
    "int8": number_types.Int8Flags,
    "uint16": number_types.Uint16Flags,
    "int32": number_types.Int32Flags,
    "uint32": number_types.Uint32Flags,
    "int64": number_types.Int64Flags,
    "uint64": number_types.Uint64Flags,
    "float64": number_types.Float64Flags,
}
_RecordT = TypeVar("_RecordT", bound=Record)


class DamagedError(Exception):
    """The bytes are no binary schema; the message says what is wrong, the hint what to do."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def read_records(data: bytes) -> SchemaRecord:
    """Read the bytes of a .bfbs.

    Strings, offsets and lengths are checked; what the records say is not.

    Raises:
        DamagedError: The bytes are something else, or cut short, or damaged.
    """
    if len(data) < _SMALLEST:
        raise DamagedError(
            f"not a binary schema: the file has {len(data)} bytes, the least is {_SMALLEST}"
        )
    if data[4:8] != IDENTIFIER:
        raise DamagedError(
            f"not a binary schema: bytes 4 to 8 are {data[4:8]!r}, expected {IDENTIFIER!r}",
            "write one with `flatc -b --schema --bfbs-comments --bfbs-builtins`",
        )
    if len(data) > _LARGEST:
        raise DamagedError(f"{len(data)} bytes are too many, {_LARGEST} is the maximum")
    return _Reader(data).root()


class _Reader:
    """Reads tables, each position once; a budget bounds what shared parts can cost."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._budget = _BUDGET_PER_BYTE * len(data)
        self._known: dict[tuple[type[Record], int], Record] = {}

    def root(self) -> SchemaRecord:
        return self._record(SchemaRecord, self._follow(0, "root"), "")

    def _record(self, class_: type[_RecordT], position: int, path: str) -> _RecordT:
        self._spend(_COST_OF_A_VISIT, path)
        found = self._known.get((class_, position))
        if found is None:
            table = Table(self._data, position)
            values = {
                slot.name: self._value(table, slot, f"{path}.{slot.name}" if path else slot.name)
                for slot in slots_of(class_)
            }
            found = self._known[class_, position] = class_(**values)
        assert isinstance(found, class_)
        return found

    def _value(self, table: Table, slot: Slot, path: str) -> object:
        offset = self._slot_offset(table, slot, path)
        if offset == 0:
            if slot.required:
                raise DamagedError(f"`{path}` is missing", "the file is damaged; write it anew")
            return slot.default
        position = table.Pos + offset
        if slot.wire:
            return self._scalar(slot.wire, position, path)
        target = self._follow(position, path)
        if slot.is_vector:
            return tuple(self._elements(slot, target, path))
        return self._target(slot, target, path)

    def _slot_offset(self, table: Table, slot: Slot, path: str) -> int:
        try:
            return int(table.Offset(4 + 2 * slot.number))
        except (TypeError, struct.error):
            raise _outside(table.Pos, path) from None

    def _scalar(self, wire: str, position: int, path: str) -> int | float | bool:
        flags = _FLAGS[wire]
        try:
            value: int | float | bool = Table(self._data, 0).Get(flags, position)
        except (TypeError, struct.error):
            raise _outside(position, path) from None
        return value

    def _elements(self, slot: Slot, position: int, path: str) -> Iterable[object]:
        length = int(self._scalar("uint32", position, path))
        if position + 4 + 4 * length > len(self._data):
            raise _outside(position, path)
        for index in range(length):
            name = f"{path}[{index}]"
            yield self._target(slot, self._follow(position + 4 + 4 * index, name), name)

    def _target(self, slot: Slot, position: int, path: str) -> object:
        if slot.target is str:
            return self._string(position, path)
        assert issubclass(slot.target, Record)
        return self._record(slot.target, position, path)

    def _string(self, position: int, path: str) -> str:
        length = int(self._scalar("uint32", position, path))
        content = self._data[position + 4 : position + 4 + length]
        if len(content) < length:
            raise _outside(position, path)
        self._spend(_COST_OF_A_VISIT + length, path)
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise DamagedError(f"`{path}`, at byte {position + 4}, is not UTF-8") from None

    def _follow(self, position: int, path: str) -> int:
        """Where the offset at `position` leads."""
        target = position + int(self._scalar("uint32", position, path))
        if target + 4 > len(self._data):
            raise _outside(position, path)
        return target

    def _spend(self, cost: int, path: str) -> None:
        self._budget -= cost
        if self._budget < 0:
            raise DamagedError(
                f"`{path}`: the parts of the file refer to each other more than is reasonable"
            )


def _outside(position: int, path: str) -> DamagedError:
    return DamagedError(
        f"`{path}`, at byte {position}, lies outside of the file or leads there",
        "the file is cut short or damaged; write it anew",
    )


def write_records(schema: SchemaRecord) -> bytes:
    """Write records as a .bfbs; equal records give equal bytes."""
    return _Writer().finish(schema)


class _Writer:
    """Writes tables, each record once."""

    def __init__(self) -> None:
        self._builder = Builder(1 << 14)
        self._written: dict[int, int] = {}

    def finish(self, schema: SchemaRecord) -> bytes:
        self._builder.Finish(self._record(schema), IDENTIFIER)
        return bytes(self._builder.Output())

    def _record(self, record: Record) -> int:
        written = self._written.get(id(record))
        if written is not None:
            return written
        slots = slots_of(type(record))
        values = [self._outside(slot, getattr(record, slot.name)) for slot in slots]
        builder = self._builder
        builder.StartObject(max(slot.number for slot in slots) + 1)
        for slot, value in zip(slots, values, strict=True):
            # By spelling, which tells -0.0 from 0.0.
            if value is None or (slot.wire and repr(value) == repr(slot.default)):
                continue
            if slot.wire:
                builder.Prepend(_FLAGS[slot.wire], value)
            else:
                builder.PrependUOffsetTRelative(value)
            builder.Slot(slot.number)
        self._written[id(record)] = builder.EndObject()
        return self._written[id(record)]

    def _outside(self, slot: Slot, value: object) -> object:
        """Write what a table refers to; return its position, or a scalar as it is."""
        if slot.wire or value is None:
            return value
        if not isinstance(value, tuple):
            return self._target(value)
        if not value and not slot.if_empty:
            return None
        positions = [self._target(element) for element in value]
        self._builder.StartVector(4, len(positions), 4)
        for position in reversed(positions):
            self._builder.PrependUOffsetTRelative(position)
        return self._builder.EndVector()

    def _target(self, value: object) -> int:
        if isinstance(value, Record):
            return self._record(value)
        return int(self._builder.CreateString(value))
