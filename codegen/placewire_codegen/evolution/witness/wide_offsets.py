"""Fields with 64-bit offsets, which no generated code handles: written and read by the format."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ...model import Field

__all__ = ["Form"]


@dataclass(frozen=True)
class Form:
    """How a vector is reached.

    Attributes:
        offset: Bytes of the offset to it: 4 or 8.
        count: Bytes of the number of its elements: 4 or 8.
    """

    offset: int
    count: int

    @classmethod
    def of(cls, field: Field) -> Form:
        """Return the form that the attributes of a field ask for."""
        is_long = "vector64" in field.attributes
        is_far = is_long or "offset64" in field.attributes
        return cls(8 if is_far else 4, 8 if is_long else 4)

    def write(self, slot: int, data: bytes) -> bytes:
        """Return a file whose root has nothing but that field."""
        vtable = struct.pack("<HH", 6 + 2 * slot, 8 + self.offset)
        vtable += bytes(2 * slot) + struct.pack("<H", 8)
        table = 4 + len(vtable) + -(4 + len(vtable)) % 8
        field = table + 8
        vector = field + self.offset + (8 if self.offset == 8 else 4)
        head = (struct.pack("<I", table) + vtable).ljust(table, b"\0")
        body = struct.pack("<iI", table - 4, 0) + (vector - field).to_bytes(self.offset, "little")
        count = len(data).to_bytes(self.count, "little")
        return (head + body).ljust(vector, b"\0") + count + data

    def read(self, slot: int, buffer: bytes) -> bytes | str:
        """Return the bytes of the vector, or what is wrong."""
        (table,) = struct.unpack_from("<I", buffer)
        vtable = table - struct.unpack_from("<i", buffer, table)[0]
        entry, inline = (
            struct.unpack_from("<H", buffer, vtable + at)[0] for at in (4 + 2 * slot, 2)
        )
        if entry + self.offset > inline:
            return f"the field reaches byte {entry + self.offset} of a table of {inline} bytes"
        field = table + entry
        vector = field + int.from_bytes(buffer[field : field + self.offset], "little")
        if vector + self.count > len(buffer):
            return f"the offset leads to byte {vector} of {len(buffer)}"
        first = vector + self.count
        count = int.from_bytes(buffer[vector:first], "little")
        if first + count > len(buffer):
            return f"the elements reach byte {first + count} of {len(buffer)}"
        return buffer[first : first + count]
