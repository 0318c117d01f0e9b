"""What a binary schema (.bfbs) is made of: its tables, as records that say where each field lies.

Names, slots, types and defaults are facts of the format, as FlatBuffers 25.12.19 has it (its
`reflection.fbs`). A field that the format requires has no default here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import IntEnum
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin, get_type_hints

from .model import ScalarKind

IDENTIFIER = b"BFBS"
FILE_PREFIX = "//"
"""Begins the name of a file: it is relative to the root of the project."""

ARRAYS, VECTORS_OF_UNIONS, OPTIONAL_SCALARS, DEFAULT_VECTORS_AND_STRINGS = 1, 2, 4, 8
KNOWN_FEATURES = 15
"""All bits of `SchemaRecord.advanced_features` that have a meaning."""


class BaseType(IntEnum):
    """The kinds of types; `UTYPE` is the tag of a union."""

    NONE = 0
    UTYPE = 1
    BOOL = 2
    BYTE = 3
    UBYTE = 4
    SHORT = 5
    USHORT = 6
    INT = 7
    UINT = 8
    LONG = 9
    ULONG = 10
    FLOAT = 11
    DOUBLE = 12
    STRING = 13
    VECTOR = 14
    OBJ = 15
    UNION = 16
    ARRAY = 17
    VECTOR64 = 18


SCALARS: Mapping[BaseType, ScalarKind] = {
    BaseType.BOOL: ScalarKind.BOOL,
    BaseType.BYTE: ScalarKind.INT8,
    BaseType.UBYTE: ScalarKind.UINT8,
    BaseType.SHORT: ScalarKind.INT16,
    BaseType.USHORT: ScalarKind.UINT16,
    BaseType.INT: ScalarKind.INT32,
    BaseType.UINT: ScalarKind.UINT32,
    BaseType.LONG: ScalarKind.INT64,
    BaseType.ULONG: ScalarKind.UINT64,
    BaseType.FLOAT: ScalarKind.FLOAT32,
    BaseType.DOUBLE: ScalarKind.FLOAT64,
}
BASE_TYPES: Mapping[ScalarKind, BaseType] = {scalar: base for base, scalar in SCALARS.items()}


@dataclass(frozen=True, slots=True)
class At:
    """Where a field lies: its slot in the table, and the type of a scalar.

    `if_empty` says that flatc writes the vector even if it is empty.
    """

    slot: int
    wire: str = ""
    if_empty: bool = False


class Record:
    """Base of the tables. A field without a default is required by the format."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TypeRecord(Record):
    """A type. `index` is the place of its definition in the list of objects or of enums."""

    base_type: Annotated[int, At(0, "int8")] = 0
    element: Annotated[int, At(1, "int8")] = 0
    index: Annotated[int, At(2, "int32")] = -1
    fixed_length: Annotated[int, At(3, "uint16")] = 0
    base_size: Annotated[int, At(4, "uint32")] = 4
    element_size: Annotated[int, At(5, "uint32")] = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeRecord(Record):
    key: Annotated[str, At(0)]
    value: Annotated[str | None, At(1)] = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberRecord(Record):
    """A member of an enum or a union."""

    name: Annotated[str, At(0)]
    value: Annotated[int, At(1, "int64")] = 0
    union_type: Annotated[TypeRecord | None, At(3)] = None
    documentation: Annotated[tuple[str, ...], At(4)] = ()
    attributes: Annotated[tuple[AttributeRecord, ...], At(5)] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EnumRecord(Record):
    """An enum or a union."""

    name: Annotated[str, At(0)]
    values: Annotated[tuple[MemberRecord, ...], At(1)]
    is_union: Annotated[bool, At(2, "bool")] = False
    underlying_type: Annotated[TypeRecord, At(3)]
    attributes: Annotated[tuple[AttributeRecord, ...], At(4)] = ()
    documentation: Annotated[tuple[str, ...], At(5)] = ()
    declaration_file: Annotated[str | None, At(6)] = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FieldRecord(Record):
    name: Annotated[str, At(0)]
    type: Annotated[TypeRecord, At(1)]
    id: Annotated[int, At(2, "uint16")] = 0
    offset: Annotated[int, At(3, "uint16")] = 0
    default_integer: Annotated[int, At(4, "int64")] = 0
    default_real: Annotated[float, At(5, "float64")] = 0.0
    deprecated: Annotated[bool, At(6, "bool")] = False
    required: Annotated[bool, At(7, "bool")] = False
    key: Annotated[bool, At(8, "bool")] = False
    attributes: Annotated[tuple[AttributeRecord, ...], At(9)] = ()
    documentation: Annotated[tuple[str, ...], At(10)] = ()
    optional: Annotated[bool, At(11, "bool")] = False
    padding: Annotated[int, At(12, "uint16")] = 0
    offset64: Annotated[bool, At(13, "bool")] = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObjectRecord(Record):
    """A table or a struct."""

    name: Annotated[str, At(0)]
    fields: Annotated[tuple[FieldRecord, ...], At(1)]
    is_struct: Annotated[bool, At(2, "bool")] = False
    minalign: Annotated[int, At(3, "int32")] = 0
    bytesize: Annotated[int, At(4, "int32")] = 0
    attributes: Annotated[tuple[AttributeRecord, ...], At(5)] = ()
    documentation: Annotated[tuple[str, ...], At(6)] = ()
    declaration_file: Annotated[str | None, At(7)] = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallRecord(Record):
    """A method of a service."""

    name: Annotated[str, At(0)]
    request: Annotated[ObjectRecord, At(1)]
    response: Annotated[ObjectRecord, At(2)]
    attributes: Annotated[tuple[AttributeRecord, ...], At(3)] = ()
    documentation: Annotated[tuple[str, ...], At(4)] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ServiceRecord(Record):
    name: Annotated[str, At(0)]
    calls: Annotated[tuple[CallRecord, ...], At(1)] = ()
    attributes: Annotated[tuple[AttributeRecord, ...], At(2)] = ()
    documentation: Annotated[tuple[str, ...], At(3)] = ()
    declaration_file: Annotated[str | None, At(4)] = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileRecord(Record):
    """A schema file and those that it includes."""

    filename: Annotated[str, At(0)]
    included_filenames: Annotated[tuple[str, ...], At(1, if_empty=True)] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchemaRecord(Record):
    """The root. Each list is sorted by name."""

    objects: Annotated[tuple[ObjectRecord, ...], At(0)]
    enums: Annotated[tuple[EnumRecord, ...], At(1)]
    file_ident: Annotated[str | None, At(2)] = None
    file_ext: Annotated[str | None, At(3)] = None
    root_table: Annotated[ObjectRecord | None, At(4)] = None
    services: Annotated[tuple[ServiceRecord, ...], At(5, if_empty=True)] = ()
    advanced_features: Annotated[int, At(6, "uint64")] = 0
    fbs_files: Annotated[tuple[FileRecord, ...], At(7)] = ()


class Slot(NamedTuple):
    """A field of a record as it lies in a file.

    Attributes:
        wire: Type of a scalar; empty for strings, tables and vectors.
        if_empty: An empty vector is written too.
        target: `str` or the class of a record: of the value, or of a vector's elements.
    """

    name: str
    number: int
    wire: str
    default: object
    required: bool
    is_vector: bool
    if_empty: bool
    target: type


_known_slots: dict[type[Record], tuple[Slot, ...]] = {}


def slots_of(record: type[Record]) -> tuple[Slot, ...]:
    """The fields of a class of records."""
    slots = _known_slots.get(record)
    if slots is None:
        slots = _known_slots[record] = tuple(_read_slots(record))
    return slots


def _read_slots(record: type[Record]) -> Iterator[Slot]:
    hints = get_type_hints(record, include_extras=True)
    for each in fields(cast(Any, record)):
        hint, at = get_args(hints[each.name])
        required = each.default is MISSING
        yield Slot(
            name=each.name,
            number=at.slot,
            wire=at.wire,
            default=None if required else each.default,
            required=required,
            is_vector=get_origin(hint) is tuple,
            if_empty=required or at.if_empty,
            target=(get_args(hint) or (hint,))[0],
        )
