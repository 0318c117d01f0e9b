"""Cases in the first bytes: size, identifier, extended header, root."""

from __future__ import annotations

from collections.abc import Iterator

from ..forging import Forged
from .case import (
    SIZES,
    Expected,
    Made,
    StructureCase,
    case,
    sound_program,
    sound_tensor,
)


def short_buffers() -> Iterator[StructureCase]:
    for size in range(12):
        data = bytes(sound_program()[:size])
        expected = Expected("BUFFER_TOO_SMALL", "", 0, size, 12)
        yield StructureCase(f"a_program_of_{size}_bytes", "Program", data, expected)
    for size in range(8):
        data = bytes(sound_tensor()[:size])
        expected = Expected("BUFFER_TOO_SMALL", "", 0, size, 8)
        yield StructureCase(f"a_tensor_of_{size}_bytes", "Tensor", data, expected)


@case
def sound() -> Made:
    return "Program", sound_program(), None


@case
def wrong_identifier() -> Made:
    data = sound_program()
    data[4:8] = b"ET99"
    found, expected = data.u32(4), int.from_bytes(b"ET12", "little")
    return "Program", data, Expected("WRONG_IDENTIFIER", "", 4, found, expected)


def _with_header(length: int, size: int) -> Forged:
    """Insert an extended header of 32 bytes behind the identifier."""
    data = sound_program()
    numbers = length.to_bytes(4, "little") + size.to_bytes(8, "little") + bytes(16)
    framed = Forged(data[:8] + b"eh00" + numbers + data[8:])
    framed.put(0, 4, data.u32(0) + 32)
    return framed


@case
def sound_with_header() -> Made:
    return "Program", _with_header(32, len(sound_program()) + 32) + b"segments", None


@case
def header_too_short() -> Made:
    data = _with_header(23, len(sound_program()) + 32)
    return "Program", data, Expected("HEADER_INVALID", "", 12, 23, 24)


@case
def header_with_a_program_of_seven_bytes() -> Made:
    data = _with_header(32, 7)
    return "Program", data, Expected("HEADER_INVALID", "", 16, 7, len(data))


@case
def header_with_a_program_beyond_the_end() -> Made:
    data = _with_header(32, len(sound_program()) + 33)
    return "Program", data, Expected("HEADER_INVALID", "", 16, len(data) + 1, len(data))


@case
def header_with_the_largest_program() -> Made:
    data = _with_header(32, (1 << 64) - 1)
    return "Program", data, Expected("HEADER_INVALID", "", 16, (1 << 63) - 1, len(data))


@case
def header_with_a_program_of_ten_bytes() -> Made:
    return "Program", _with_header(32, 10), Expected("BUFFER_TOO_SMALL", "", 0, 10, 12)


@case
def root_offset_zero() -> Made:
    data = sound_tensor()
    data.put(0, 4, 0)
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "", 0, 0, len(data))


@case
def root_offset_into_the_last_three_bytes() -> Made:
    data = sound_tensor()
    data.put(0, 4, len(data) - 3)
    expected = Expected("OFFSET_OUT_OF_BOUNDS", "", 0, len(data) - 3, len(data))
    return "Tensor", data, expected


@case
def root_offset_that_would_wrap() -> Made:
    data = sound_tensor()
    data.put(0, 4, 0xFFFFFFFC)
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "", 0, 0xFFFFFFFC, len(data))


@case
def child_offset_that_would_wrap() -> Made:
    data = sound_tensor()
    place = data.field(data.root(), SIZES)
    data.put(place, 4, 0xFFFFFFFF)
    found = place + 0xFFFFFFFF
    return "Tensor", data, Expected("OFFSET_OUT_OF_BOUNDS", "sizes", place, found, len(data))


@case
def misaligned_root() -> Made:
    data = sound_tensor()
    root = data.root() + 2
    data.put(0, 4, root)
    return "Tensor", data, Expected("MISALIGNED", "", root, root, 4)
