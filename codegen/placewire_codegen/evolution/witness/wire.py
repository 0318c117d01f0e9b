"""Finds and changes single bytes of a FlatBuffer, for what no generated writer writes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

__all__ = ["Slots", "field_position", "follow", "vector_start", "without_field"]

Slots = Sequence[tuple[int, bool]]
"""A way from the root table to another: the slot of an offset, and whether it leads to a vector."""


def follow(buffer: bytes, slots: Slots) -> int:
    """Return where the table at the end of a way is; of a vector, that is its first element."""
    table = _target(buffer, 0)
    for slot, is_vector in slots:
        position = field_position(buffer, table, slot)
        assert position, f"slot {slot} is not set"
        table = _target(buffer, position)
        if is_vector:
            table = _target(buffer, table + 4)
    return table


def field_position(buffer: bytes, table: int, slot: int) -> int:
    """Return where a field of a table is, 0 if it is left out."""
    entry = _entry(buffer, table, slot)
    offset = 0 if entry is None else struct.unpack_from("<H", buffer, entry)[0]
    return table + offset if offset else 0


def vector_start(buffer: bytes, table: int, slot: int) -> int:
    """Return where the first element of a vector, or the first byte of a string, is."""
    return _target(buffer, field_position(buffer, table, slot)) + 4


def without_field(buffer: bytes, slots: Slots, slot: int, width: int = 1) -> bytes:
    """Return the buffer with a field left out of the table at the end of a way.

    Args:
        buffer: The FlatBuffer.
        slots: The way to the table.
        slot: The field.
        width: How many slots it has, the last of which is `slot`: 2 for a union.
    """
    changed = bytearray(buffer)
    table = follow(buffer, slots)
    for each in range(slot - width + 1, slot + 1):
        entry = _entry(buffer, table, each)
        if entry is not None:
            changed[entry : entry + 2] = bytes(2)
    return bytes(changed)


def _entry(buffer: bytes, table: int, slot: int) -> int | None:
    """Return where the vtable has the offset of a field; None if it ends before."""
    vtable = table - struct.unpack_from("<i", buffer, table)[0]
    entry = 4 + 2 * slot
    return vtable + entry if entry + 2 <= struct.unpack_from("<H", buffer, vtable)[0] else None


def _target(buffer: bytes, position: int) -> int:
    target: int = position + struct.unpack_from("<I", buffer, position)[0]
    return target
