"""What lies at each byte of a struct, structs inside structs and arrays taken apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model import ScalarKind, Schema, Type, TypeKind

__all__ = ["Scalar", "scalars_of", "struct_scalars"]


class Scalar(NamedTuple):
    """A number in a struct: its byte offset, its type, and the enum that names it, if one does."""

    offset: int
    kind: ScalarKind
    enum: str | None

    @property
    def end(self) -> int:
        return self.offset + self.kind.size


def struct_scalars(schema: Schema, name: str) -> Iterator[Scalar]:
    """Yield the numbers of a struct, in order."""
    for field in schema.struct(name).fields:
        yield from scalars_of(schema, field.type, field.offset)


def scalars_of(schema: Schema, type_: Type, start: int = 0) -> Iterator[Scalar]:
    """Yield the numbers of a value that lies in a struct at byte `start`, in order."""
    # No recursion: a schema may nest structs deeper than Python can call.
    pending = [(start, type_)]
    while pending:
        offset, type_ = pending.pop()
        match type_.kind:
            case TypeKind.ARRAY:
                assert type_.element is not None
                assert type_.length is not None
                size = _size(schema, type_.element)
                offsets = range(offset, offset + type_.length * size, size)
                pending += [(each, type_.element) for each in reversed(offsets)]
            case TypeKind.STRUCT:
                assert type_.ref is not None
                fields = schema.struct(type_.ref).fields
                pending += [(offset + field.offset, field.type) for field in reversed(fields)]
            case _:
                assert type_.scalar is not None
                yield Scalar(offset, type_.scalar, type_.ref)


def _size(schema: Schema, type_: Type) -> int:
    if type_.kind is TypeKind.STRUCT:
        assert type_.ref is not None
        return schema.struct(type_.ref).size
    assert type_.scalar is not None
    return type_.scalar.size
