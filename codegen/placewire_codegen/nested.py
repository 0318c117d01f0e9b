"""FlatBuffers inside `[ubyte]` fields: how the buffer around them must align their bytes."""

from __future__ import annotations

from collections.abc import Iterator

from .model import Field, Schema, Type, TypeKind

_OFFSET_SIZE = 4


def vector_alignment(schema: Schema, field: Field) -> int:
    """Return the alignment of a vector's first element in bytes, 0 if nothing asks for one.

    A FlatBuffer is aligned as the strictest thing that its root can reach, so that all in it lies
    as well in the buffer around it as it did in its own.
    """
    if field.nested is None:
        return field.force_align
    inside = (
        max(other.force_align, *_alignments(schema, other.type))
        for table in _reachable(schema, field.nested)
        for other in schema.table(table).fields
    )
    return max(field.force_align, _OFFSET_SIZE, *inside)


def _reachable(schema: Schema, root: str) -> set[str]:
    """Return the tables that a buffer of `root` can hold, those of buffers inside it included."""
    reached = {root}
    pending = [root]
    while pending:
        for field in schema.table(pending.pop()).fields:
            types = [field.type.element or field.type]
            if types[0].kind is TypeKind.UNION:
                types = [member.type for member in schema.union(_reference(types[0])).members]
            found = {type_.ref for type_ in types if type_.kind is TypeKind.TABLE}
            for table in sorted({*filter(None, (*found, field.nested))} - reached):
                reached.add(table)
                pending.append(table)
    return reached


def _alignments(schema: Schema, type_: Type) -> Iterator[int]:
    """Yield the alignments of what a field of this type puts into a buffer, tables aside."""
    yield _OFFSET_SIZE
    match type_.kind:
        case TypeKind.SCALAR | TypeKind.ENUM:
            assert type_.scalar is not None
            yield type_.scalar.size
        case TypeKind.STRUCT:
            yield schema.struct(_reference(type_)).alignment
        case TypeKind.VECTOR:
            assert type_.element is not None
            yield from _alignments(schema, type_.element)
        case TypeKind.UNION:
            for member in schema.union(_reference(type_)).members:
                if member.type.kind is TypeKind.STRUCT:
                    yield schema.struct(_reference(member.type)).alignment
        case _:
            pass


def _reference(type_: Type) -> str:
    assert type_.ref is not None
    return type_.ref
