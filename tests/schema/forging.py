"""Makes FlatBuffers by hand, and breaks sound ones in one place, to see what a verifier says.

Positions are bytes from the start of the buffer, numbers are little endian, and nothing here knows
a schema.
"""

from __future__ import annotations

import struct


class Forged(bytearray):
    """A FlatBuffer in which parts can be found, followed and overwritten."""

    def u16(self, place: int) -> int:
        """Return the 16-bit number at `place`."""
        return int(struct.unpack_from("<H", self, place)[0])

    def u32(self, place: int) -> int:
        """Return the 32-bit number at `place`."""
        return int(struct.unpack_from("<I", self, place)[0])

    def put(self, place: int, size: int, value: int) -> None:
        """Overwrite `size` bytes at `place`; negative numbers wrap."""
        self[place : place + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def follow(self, place: int) -> int:
        """Return where the offset at `place` leads."""
        return place + self.u32(place)

    def root(self) -> int:
        """Return where the root table is."""
        return self.follow(0)

    def vtable(self, table: int) -> int:
        """Return where the vtable of a table is."""
        return table - int(struct.unpack_from("<i", self, table)[0])

    def slot(self, table: int, id_: int) -> int:
        """Return where the vtable entry of field `id_` is."""
        place = self.vtable(table) + 4 + 2 * id_
        assert place + 2 <= self.vtable(table) + self.u16(self.vtable(table))
        return place

    def field(self, table: int, id_: int) -> int:
        """Return where the value of field `id_` is, which must be there."""
        entry = self.u16(self.slot(table, id_))
        assert entry
        return table + entry

    def child(self, table: int, *ids: int) -> int:
        """Return what field `ids[0]` refers to, then what field `ids[1]` of that refers to, ..."""
        for id_ in ids:
            table = self.follow(self.field(table, id_))
        return table

    def element(self, vector: int, index: int) -> int:
        """Return what an element of a vector of offsets refers to."""
        assert index < self.u32(vector)
        return self.follow(vector + 4 + 4 * index)


def with_another_slot(data: bytes) -> bytes:
    """Return a copy whose root has a vtable that reaches two bytes into what lies behind it."""
    changed = Forged(data)
    vtable = changed.vtable(changed.root())
    changed.put(vtable, 2, changed.u16(vtable) + 2)
    return bytes(changed)


def hand_made(*parts: bytes, identifier: bytes = b"") -> Forged:
    """Return a buffer of `parts`; the root offset in front leads behind the identifier.

    The first part must be a table.
    """
    head = struct.pack("<I", 4 + len(identifier)) + identifier
    return Forged(head + b"".join(parts))


def numbers(layout: str, *values: float) -> bytes:
    """Pack little-endian numbers, as `struct.pack` does."""
    return struct.pack("<" + layout, *values)
