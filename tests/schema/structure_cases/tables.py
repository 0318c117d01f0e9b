"""Cases in vtables and in the fields of a table."""

from __future__ import annotations

from ..forging import Forged
from .case import (
    ALLOCATION,
    DATA_BUFFER,
    SCALAR_TYPE,
    SIZES,
    Expected,
    Made,
    case,
    sound_tensor,
)


@case
def vtable_before_the_buffer() -> Made:
    data = sound_tensor()
    data.put(data.root(), 4, data.root() + 2)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", data.root(), -2, len(data))


@case
def vtable_behind_the_buffer() -> Made:
    data = sound_tensor()
    root, vtable = data.root(), len(data) - 2
    data.put(root, 4, root - vtable)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", root, vtable, len(data))


@case
def vtable_as_far_as_an_offset_reaches() -> Made:
    data = sound_tensor()
    data.put(data.root(), 4, -(1 << 31))
    found = data.root() + (1 << 31)
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", data.root(), found, len(data))


@case
def odd_vtable() -> Made:
    data = sound_tensor()
    root, vtable = data.root(), data.vtable(data.root()) + 1
    data.put(root, 4, root - vtable)
    return "Tensor", data, Expected("MISALIGNED", "", vtable, vtable, 2)


def _with_vtable_size(size: int) -> tuple[Forged, int]:
    data = sound_tensor()
    vtable = data.vtable(data.root())
    data.put(vtable, 2, size)
    return data, vtable


@case
def vtable_of_two_bytes() -> Made:
    data, vtable = _with_vtable_size(2)
    return "Tensor", data, Expected("VTABLE_MALFORMED", "", vtable, 2, 4)


@case
def vtable_of_seven_bytes() -> Made:
    data, vtable = _with_vtable_size(7)
    return "Tensor", data, Expected("VTABLE_MALFORMED", "", vtable, 7, 4)


@case
def vtable_that_does_not_end_in_the_buffer() -> Made:
    data, vtable = _with_vtable_size(0xFFFE)
    found = vtable + 0xFFFE
    return "Tensor", data, Expected("VTABLE_OUT_OF_BOUNDS", "", vtable, found, len(data))


@case
def vtable_of_four_bytes_has_no_fields() -> Made:
    data, _ = _with_vtable_size(4)
    return "Tensor", data, None


def _with_inline_size(size: int) -> Forged:
    data = sound_tensor()
    data.put(data.vtable(data.root()) + 2, 2, size)
    return data


@case
def table_of_three_bytes() -> Made:
    data = _with_inline_size(3)
    root = data.root()
    return "Tensor", data, Expected("TABLE_OUT_OF_BOUNDS", "", root, root + 3, len(data))


@case
def table_that_does_not_end_in_the_buffer() -> Made:
    data = _with_inline_size(0xFFFF)
    root = data.root()
    return "Tensor", data, Expected("TABLE_OUT_OF_BOUNDS", "", root, root + 0xFFFF, len(data))


def _with_entry(id_: int, entry: int) -> tuple[Forged, int, int]:
    """Overwrite a vtable entry; return the buffer, its place and the table's inline size."""
    data = sound_tensor()
    slot = data.slot(data.root(), id_)
    data.put(slot, 2, entry)
    return data, slot, data.u16(data.vtable(data.root()) + 2)


@case
def field_over_the_offset_to_the_vtable() -> Made:
    data, slot, size = _with_entry(SCALAR_TYPE, 3)
    return "Tensor", data, Expected("FIELD_OUTSIDE_TABLE", "scalar_type", slot, 4, size)


@case
def field_one_byte_beyond_its_table() -> Made:
    size = _with_entry(DATA_BUFFER, 4)[2]
    data, slot, _ = _with_entry(DATA_BUFFER, size - 3)
    expected = Expected("FIELD_OUTSIDE_TABLE", "data_buffer_idx", slot, size + 1, size)
    return "Tensor", data, expected


@case
def field_as_far_as_an_entry_reaches() -> Made:
    data, slot, size = _with_entry(ALLOCATION, 0xFFFF)
    expected = Expected("FIELD_OUTSIDE_TABLE", "allocation_info", slot, 0xFFFF + 4, size)
    return "Tensor", data, expected


@case
def misaligned_scalar() -> Made:
    data, _, _ = _with_entry(DATA_BUFFER, 6)
    place = data.root() + 6
    return "Tensor", data, Expected("MISALIGNED", "data_buffer_idx", place, place, 4)


@case
def misaligned_offset() -> Made:
    data, _, _ = _with_entry(SIZES, 6)
    place = data.root() + 6
    return "Tensor", data, Expected("MISALIGNED", "sizes", place, place, 4)


def _with_child(id_: int, distance: int) -> tuple[Forged, int]:
    """Move what an offset refers to by some bytes; return the buffer and the new target."""
    data = sound_tensor()
    place = data.field(data.root(), id_)
    data.put(place, 4, data.u32(place) + distance)
    return data, data.follow(place)


@case
def misaligned_vector() -> Made:
    data, target = _with_child(SIZES, 2)
    return "Tensor", data, Expected("MISALIGNED", "sizes", target, target, 4)


@case
def misaligned_child_table() -> Made:
    data, target = _with_child(ALLOCATION, 1)
    return "Tensor", data, Expected("MISALIGNED", "allocation_info", target, target, 4)
