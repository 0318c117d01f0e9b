"""Values for a witness: as small as a schema allows, with something telling in one place.

They are written as `read_witness` takes them: by full names, slots and offsets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Field, ScalarKind, Schema, TableDefinition, Type, TypeKind

__all__ = ["NoSuchValueError", "Values"]

Json = Any

_MOST_MEMBERS = 8
"""How many members of an enum or a union are tried."""


class NoSuchValueError(Exception):
    """There is no finite value: a table cannot be without another of its own type."""


class Values:
    """Makes values of one schema.

    Args:
        schema: What they are values of.
        also_required: Table and slot of fields that are filled although the schema asks for
            nothing, because the other one does.
    """

    def __init__(self, schema: Schema, also_required: frozenset[tuple[str, int]]) -> None:
        self.schema = schema
        self.also_required = also_required

    def table(self, name: str, fields: dict[int, Json] | None = None) -> Json:
        """Return a table with what it must have, and `fields` by slot; None leaves one out."""
        return self._table(name, fields or {}, ())

    def rich_table(self, name: str) -> Json:
        """Return a table in which everything holds something that is no table."""
        fields = {
            field.id: next(self.telling(field), None)
            for field in self.schema.table(name).fields
            if not field.deprecated and _holds_no_table(field) and not _is_wide(field)
        }
        return self.table(name, {slot: v for slot, v in fields.items() if v is not None})

    def telling(self, field: Field) -> Iterator[Json]:
        """Yield values of a field that differ from what it reads as when it is left out."""
        if "flexbuffer" in field.attributes:
            yield {"bytes": "070401"}  # the number 7
            return
        if field.nested is not None:
            yield {"nested": self.rich_table(field.nested)}
            yield {"nested": self.table(field.nested)}
            return
        for value in self.of_type(field.type):
            if value != _default(field):
                yield value

    def of_type(self, type_: Type) -> Iterator[Json]:
        """Yield telling values of a type, the plainest first."""
        match type_.kind:
            case TypeKind.SCALAR:
                assert type_.scalar is not None
                yield from _numbers(type_.scalar)
            case TypeKind.ENUM:
                assert type_.ref is not None
                members = self.schema.enum(type_.ref).members
                yield from ({"enum": m.value} for m in reversed(members[:_MOST_MEMBERS]))
            case TypeKind.STRING:
                yield "telling"
                yield "a longer text, which says more"
            case TypeKind.STRUCT:
                assert type_.ref is not None
                yield self.struct(type_.ref)
            case TypeKind.TABLE:
                assert type_.ref is not None
                yield self.rich_table(type_.ref)
                yield self.table(type_.ref)
            case TypeKind.UNION:
                assert type_.ref is not None
                for member in self.schema.union(type_.ref).members[:_MOST_MEMBERS]:
                    yield self.member(type_.ref, member.tag)
            case TypeKind.VECTOR | TypeKind.ARRAY:
                yield from self._sequences(type_)

    def member(self, union: str, tag: int) -> Json:
        """Return a member of a union with something in it."""
        member = next(m for m in self.schema.union(union).members if m.tag == tag)
        return {"tag": tag, "value": next(self.of_type(member.type))}

    def struct(self, name: str, fields: dict[int, Json] | None = None) -> Json:
        """Return a struct with other numbers in all fields; `fields` by offset replace them."""
        told = {
            field.offset: self._nth(field.type, index)
            for index, field in enumerate(self.schema.struct(name).fields)
        }
        return {"struct": name, "fields": {str(k): v for k, v in (told | (fields or {})).items()}}

    def zero(self, type_: Type) -> Json:
        """Return what so many zero bytes in a struct are."""
        if type_.kind is TypeKind.STRUCT:
            assert type_.ref is not None
            fields = self.schema.struct(type_.ref).fields
            return self.struct(type_.ref, {field.offset: self.zero(field.type) for field in fields})
        if type_.kind is TypeKind.ARRAY:
            assert type_.element is not None
            if type_.is_byte_array:
                return {"bytes": "00" * (type_.length or 0)}
            return {"items": [self.zero(type_.element)] * (type_.length or 0)}
        assert type_.scalar is not None
        if type_.kind is TypeKind.ENUM:
            return {"enum": 0}
        if type_.scalar is ScalarKind.BOOL:
            return False
        return {"float": (0.0).hex()} if type_.scalar.is_float else 0

    def _nth(self, type_: Type, index: int) -> Json:
        """Return one of the values of a type, so that neighbours have different ones."""
        found = list(self.of_type(type_))
        return found[index % len(found)]

    def _sequences(self, type_: Type) -> Iterator[Json]:
        assert type_.element is not None
        if type_.is_bytes:
            yield {"bytes": "07fe5a07fe"}
            return
        if type_.is_byte_array:
            yield {"bytes": ("07fe5a" * (type_.length or 0))[: 2 * (type_.length or 0)]}
            return
        elements = list(self.of_type(type_.element))
        count = type_.length if type_.kind is TypeKind.ARRAY else None
        if count is None:
            for element in elements:
                yield {"items": [element, element]}
            yield {"items": elements}
            return
        yield {"items": [elements[index % len(elements)] for index in range(count)]}

    def _table(self, name: str, fields: dict[int, Json], inside: tuple[str, ...]) -> Json:
        if name in inside:
            raise NoSuchValueError(f"{name} cannot be without another {name} inside")
        definition = self.schema.table(name)
        filled = {
            field.id: self._smallest(field, (*inside, name))
            for field in definition.fields
            if field.id not in fields and self._must_be_there(definition, field)
        }
        present = {slot: value for slot, value in (filled | fields).items() if value is not None}
        return {"table": name, "fields": {str(slot): value for slot, value in present.items()}}

    def _must_be_there(self, table: TableDefinition, field: Field) -> bool:
        is_mandatory = field.is_mandatory and not field.deprecated
        return is_mandatory or (table.full_name, field.id) in self.also_required

    def _smallest(self, field: Field, inside: tuple[str, ...]) -> Json:
        """Return the least that a mandatory field can hold."""
        type_ = field.type
        if field.nested is not None:
            return {"nested": self._table(field.nested, {}, inside)}
        if type_.kind is TypeKind.TABLE:
            assert type_.ref is not None
            return self._table(type_.ref, {}, inside)
        if type_.kind is TypeKind.UNION:
            return self._smallest_member(type_, inside)
        if type_.kind is TypeKind.VECTOR:
            return {"bytes": ""} if type_.is_bytes else {"items": []}
        return "" if type_.kind is TypeKind.STRING else next(self.of_type(type_))

    def _smallest_member(self, type_: Type, inside: tuple[str, ...]) -> Json:
        assert type_.ref is not None
        for member in self.schema.union(type_.ref).members:
            if member.type.kind is not TypeKind.TABLE:
                return self.member(type_.ref, member.tag)
            assert member.type.ref is not None
            try:
                return {"tag": member.tag, "value": self._table(member.type.ref, {}, inside)}
            except NoSuchValueError:
                continue
        raise NoSuchValueError(f"every member of {type_.ref} is inside itself")


def _holds_no_table(field: Field) -> bool:
    inner = field.type.element or field.type
    return field.nested is None and inner.kind not in (TypeKind.TABLE, TypeKind.UNION)


def _is_wide(field: Field) -> bool:
    """Whether a field has a 64-bit offset, which generated code does not handle."""
    return "offset64" in field.attributes or "vector64" in field.attributes


def _numbers(kind: ScalarKind) -> Iterator[Json]:
    if kind is ScalarKind.BOOL:
        yield True
        yield False
        return
    if kind.is_float:
        yield {"float": (1.5).hex()}
        yield {"float": (-2.25).hex()}
        return
    yield 7
    yield -1 if kind.is_signed else kind.maximum
    yield int.from_bytes(bytes(range(1, kind.size + 1)), "big")
    yield 0


def _default(field: Field) -> Json:
    if field.default is None:
        return None
    assert field.type.scalar is not None
    if field.type.kind is TypeKind.ENUM:
        return {"enum": int(field.default)}
    if field.type.scalar.is_float:
        return {"float": float(field.default).hex()}
    return bool(field.default) if field.type.scalar is ScalarKind.BOOL else int(field.default)
