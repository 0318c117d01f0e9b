"""The extended header: where a .pte file says how long its FlatBuffer is and where segments begin.

Layout, little endian, from byte 8: magic; u32 length of the header, counted from the magic;
u64 program size and u64 segment base, counted from the start of the file; u64 segment data size.
A header of 24 bytes (before ExecuTorch 1.0) ends after the segment base. What a longer one says
beyond byte 32 belongs to a newer format and is kept. Zeros pad the header to the alignment of the
FlatBuffer, whose bytes 8.. follow; the root offset at byte 0 counts the inserted bytes.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache

from placewire_schema.errors import InternalError
from placewire_schema.program import Program
from placewire_schema.reflection import describe

__all__ = [
    "ExtendedHeader",
    "insert_header",
    "round_up",
]

_START = 8
"""Byte at which the header begins: behind the root offset and the file identifier."""

_MINIMUM_LENGTH = 24
_USUAL_LENGTH = 32

_FIELDS = struct.Struct("<4sIQQ")
_DATA_SIZE = struct.Struct("<Q")
_ROOT_OFFSET = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class ExtendedHeader:
    """The fields of the header, in bytes.

    Attributes:
        program_size: End of the FlatBuffer, counted from the start of the file.
        segment_base: Start of the segment data, counted from the start of the file.
        segment_data_size: Size of the segment data; `None` if the header is too short to say.
        extra: What a header longer than 32 bytes says beyond these fields.
    """

    program_size: int
    segment_base: int
    segment_data_size: int | None
    extra: bytes = b""

    @classmethod
    def read(cls, data: memoryview) -> ExtendedHeader | None:
        """Read the header of a file that is known to be sound; `None` if it has none."""
        if data[_START : _START + len(_magic())] != _magic():
            return None
        _, length, program_size, segment_base = _FIELDS.unpack_from(data, _START)
        if length < _USUAL_LENGTH:
            return cls(program_size, segment_base, None)
        (data_size,) = _DATA_SIZE.unpack_from(data, _START + _MINIMUM_LENGTH)
        extra = bytes(data[_START + _USUAL_LENGTH : _START + length])
        return cls(program_size, segment_base, data_size, extra)

    @property
    def length(self) -> int:
        """Bytes of the header, counted from its magic, when it is written: 32 or more."""
        return _USUAL_LENGTH + len(self.extra)

    def to_bytes(self) -> bytes:
        """Encode the header. One of 24 bytes becomes one of 32: the size is always written."""
        fields = _FIELDS.pack(_magic(), self.length, self.program_size, self.segment_base)
        return fields + _DATA_SIZE.pack(self.segment_data_size or 0) + self.extra


def insert_header(flatbuffer: bytes, header: bytes, region: int) -> tuple[bytes | memoryview, ...]:
    """Put a header into a FlatBuffer, behind its identifier.

    Args:
        flatbuffer: The FlatBuffer as the codec writes it.
        header: The encoded header.
        region: Bytes to insert, at least the header's; a multiple of the FlatBuffer's alignment, so
            that everything in it stays aligned. The rest is filled with zeros.

    Returns:
        The pieces of the file's head in order. The last is a view of `flatbuffer`.
    """
    (root,) = _ROOT_OFFSET.unpack_from(flatbuffer)
    start = _ROOT_OFFSET.pack(root + region) + flatbuffer[4:_START]
    return start, header.ljust(region, b"\0"), memoryview(flatbuffer)[_START:]


def round_up(value: int, alignment: int) -> int:
    """Round up to a multiple of `alignment`."""
    return -(-value // alignment) * alignment


@cache
def _magic() -> bytes:
    """The bytes that a header begins with."""
    root = describe(Program).root
    if root is None or root.extended_header is None:
        raise InternalError("the schema names no extended header for Program")
    return root.extended_header
