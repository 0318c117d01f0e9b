"""Where things lie on the wire: slots of table fields, and the layout of structs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# A vtable is measured by a 16-bit number and begins with two of them.
MAXIMUM_SLOTS = (0xFFFF - 4) // 2

# The bytes that a table itself takes are counted by a 16-bit number, too.
MAXIMUM_INLINE_SIZE = 0xFFFF

# The sizes of structs in binary schemas, and those of buffers, are 32-bit numbers with a sign.
MAXIMUM_STRUCT_SIZE = (1 << 31) - 1

# Tools keep the offsets of struct fields in 16 bits too.
MAXIMUM_STRUCT_OFFSET = 0xFFFF


def vtable_offset(slot: int) -> int:
    """Byte offset of a field's entry in the vtable, from the field's id."""
    return 4 + 2 * slot


class Extent(NamedTuple):
    """Size and alignment of a value that is stored in place, in bytes."""

    size: int
    alignment: int


class StructLayout(NamedTuple):
    """Byte offset of each field, and the size with padding and alignment of the whole."""

    offsets: tuple[int, ...]
    size: int
    alignment: int


def lay_out_struct(fields: Iterable[Extent], force_align: int = 0) -> StructLayout:
    """Place fields in order, each at the next offset that its alignment allows.

    Args:
        fields: Extents of the fields.
        force_align: Alignment that the schema asks for, 0 for none; not less than the natural one.

    >>> lay_out_struct([Extent(1, 1), Extent(4, 4), Extent(2, 2)])
    StructLayout(offsets=(0, 4, 8), size=12, alignment=4)
    """
    offsets: list[int] = []
    end = 0
    alignment = 1
    for field in fields:
        start = align(end, field.alignment)
        offsets.append(start)
        end = start + field.size
        alignment = max(alignment, field.alignment)
    alignment = max(alignment, force_align)
    return StructLayout(tuple(offsets), align(end, alignment), alignment)


def align(offset: int, alignment: int) -> int:
    """The least multiple of `alignment`, a power of two, that is not below `offset`."""
    return (offset + alignment - 1) & -alignment
