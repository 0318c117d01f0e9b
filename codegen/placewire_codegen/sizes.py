"""How many bytes tables and structs take in place, which 16-bit numbers on the wire must hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .features import Feature
from .layout import MAXIMUM_INLINE_SIZE
from .model import Field, StructDefinition, TableDefinition, Type, TypeKind
from .presence import DeclaredTable

# The offset to the vtable, and what may have to stand in front of it.
_HEAD_SIZE = 8
# An offset and the tag of a union, with all that may have to stand in front of them.
_WIDEST_WITHOUT_STRUCT = 4 + 3 + 2 * 8 - 1


def inline_bound(table: TableDefinition, structs: Mapping[str, StructDefinition]) -> int:
    """Return an upper bound of a table's own bytes, padding included, if all fields are there."""
    return _HEAD_SIZE + sum(_field_bound(field, structs) for field in table.fields)


def inline_extent(type_: Type, structs: Mapping[str, StructDefinition]) -> tuple[int, int]:
    """Return size and alignment of what a table stores for a field of this type."""
    if type_.kind is TypeKind.STRUCT:
        assert type_.ref is not None
        struct = structs.get(type_.ref)
        # One that is not known has a defect, which is reported.
        return (0, 1) if struct is None else (struct.size, struct.alignment)
    size = type_.scalar.size if type_.is_inline and type_.scalar is not None else 4
    return size, size


def _field_bound(field: Field, structs: Mapping[str, StructDefinition]) -> int:
    size, alignment = inline_extent(field.type, structs)
    bound = size + alignment - 1
    if (field.type.element or field.type).kind is TypeKind.UNION:
        tag_size = 4 if field.type.scalar is None else field.type.scalar.size
        bound += 2 * tag_size - 1
    return bound


def check_sizes(tables: Iterable[DeclaredTable], structs: Mapping[str, StructDefinition]) -> None:
    """Report tables that may not fit into what a vtable can say."""
    widest = max((struct.size + struct.alignment for struct in structs.values()), default=0)
    few_fields = (MAXIMUM_INLINE_SIZE - _HEAD_SIZE) // max(widest, _WIDEST_WITHOUT_STRUCT)
    for table in tables:
        if len(table.definition.fields) <= few_fields:
            continue  # nearly always, and to add up what each takes is slow
        bound = inline_bound(table.definition, structs)
        if bound > MAXIMUM_INLINE_SIZE:
            table.context.require(
                Feature.LARGE_LAYOUTS,
                table.node.name,
                hint=f"the fields of `{table.definition.name}` take up to {bound} bytes, "
                f"{MAXIMUM_INLINE_SIZE} is the maximum; put some into a table of their own",
            )
