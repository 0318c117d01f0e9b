"""The resolved schema: a frozen, typed model that every target renders from.

`resolve` builds it from the syntax tree; nothing in it refers to source text except `Location` and
`doc`, which are left out of the stamp. Types refer to definitions by full name (`a.b.Name`), so the
model is a plain tree that can be hashed, compared and dumped.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from operator import itemgetter
from typing import ClassVar, Self, TypeAlias

from pydantic import BaseModel, ConfigDict

AttributeValue: TypeAlias = bool | int | float | str | None
"""Value of an attribute; a bare one, such as `(required)`, has the value True."""


class Frozen(BaseModel):
    """Base of all model classes: immutable, and strict about unknown names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def known(cls, values: dict[str, object]) -> Self:
        """Make one of values that the front end has made itself, so that nothing is checked.

        A schema has so many fields that checking each again would be a third of reading it.

        Args:
            values: All that the class has, in its order, in which a dump has it. Is kept.
        """
        made = object.__new__(cls)
        assign = object.__setattr__  # the class itself is frozen
        assign(made, "__dict__", values)
        assign(made, "__pydantic_fields_set__", cls._names)
        assign(made, "__pydantic_extra__", None)
        assign(made, "__pydantic_private__", None)
        return made

    _names: ClassVar[set[str]]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        cls._names = set(cls.model_fields)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a declaration stands. Lines and columns count from 1; columns count characters.

    What comes from a binary schema has the line and column 0, since nobody knows them.
    """

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}" if self.line else self.path


class ScalarKind(str, Enum):
    """The scalar types of FlatBuffers, named by their sized spelling (`ubyte` is `UINT8`).

    What is known of one is kept: it is asked for with every field.
    """

    BOOL = "bool"
    INT8 = "int8"
    UINT8 = "uint8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    UINT32 = "uint32"
    INT64 = "int64"
    UINT64 = "uint64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"

    @cached_property
    def size(self) -> int:
        """Bytes on the wire; also the alignment."""
        return _SCALAR_SIZES[self]

    @cached_property
    def is_float(self) -> bool:
        return self in (ScalarKind.FLOAT32, ScalarKind.FLOAT64)

    @cached_property
    def is_signed(self) -> bool:
        return self.value.startswith(("int", "float"))

    @cached_property
    def is_integer(self) -> bool:
        """True for the integer kinds; `bool` is not one of them."""
        return not self.is_float and self is not ScalarKind.BOOL

    @cached_property
    def minimum(self) -> int:
        """Least value of an integer kind or `bool`."""
        return -(1 << (8 * self.size - 1)) if self.is_signed else 0

    @cached_property
    def maximum(self) -> int:
        """Greatest value of an integer kind or `bool`."""
        if self is ScalarKind.BOOL:
            return 1
        bits = 8 * self.size - (1 if self.is_signed else 0)
        return (1 << bits) - 1


_SCALAR_SIZES = {
    kind: 1 if kind is ScalarKind.BOOL else int(kind.value.lstrip("uintfloa")) // 8
    for kind in ScalarKind
}


class TypeKind(str, Enum):
    SCALAR = "scalar"
    ENUM = "enum"
    STRING = "string"
    STRUCT = "struct"
    TABLE = "table"
    UNION = "union"
    VECTOR = "vector"
    ARRAY = "array"


class Type(Frozen):
    """The type of a field, a union member or a vector element.

    Attributes:
        scalar: The wire scalar of SCALAR and ENUM; of UNION, the type of its tag.
        ref: Full name of the definition behind ENUM, STRUCT, TABLE and UNION.
        element: What a VECTOR or an ARRAY holds.
        length: Number of elements of an ARRAY.
    """

    kind: TypeKind
    scalar: ScalarKind | None = None
    ref: str | None = None
    element: Type | None = None
    length: int | None = None

    @property
    def is_bytes(self) -> bool:
        """True for `[ubyte]`, which Python sees as `bytes`."""
        return self.kind is TypeKind.VECTOR and self._holds_bytes

    @property
    def is_byte_array(self) -> bool:
        """True for `[ubyte:N]`, which Python sees as `bytes` too."""
        return self.kind is TypeKind.ARRAY and self._holds_bytes

    @property
    def _holds_bytes(self) -> bool:
        element = self.element
        return (
            element is not None
            and element.kind is TypeKind.SCALAR
            and element.scalar is ScalarKind.UINT8
        )

    @property
    def is_inline(self) -> bool:
        """True if a table stores the value itself, not an offset to it."""
        return self.kind in (TypeKind.SCALAR, TypeKind.ENUM, TypeKind.STRUCT)


class Definition(Frozen):
    """What all named definitions share. `namespace` is dotted and empty for the global one."""

    name: str
    namespace: str
    location: Location
    doc: tuple[str, ...] = ()
    attributes: dict[str, AttributeValue] = {}

    @property
    def full_name(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name

    def means_the_same_as(self, other: Definition) -> bool:
        """Whether only comments and places distinguish the two."""
        return type(self) is type(other) and (
            _without_positions(self.model_dump(mode="json"))
            == _without_positions(other.model_dump(mode="json"))
        )


class EnumMember(Frozen):
    name: str
    value: int
    location: Location
    doc: tuple[str, ...] = ()
    attributes: dict[str, AttributeValue] = {}


class EnumDefinition(Definition):
    """An enum; members are sorted by value. With `bit_flags`, values are masks, not positions."""

    underlying: ScalarKind
    bit_flags: bool
    members: tuple[EnumMember, ...]


class UnionMember(Frozen):
    """One alternative of a union. NONE (tag 0) is implied and not listed."""

    name: str
    tag: int
    type: Type
    location: Location
    doc: tuple[str, ...] = ()
    attributes: dict[str, AttributeValue] = {}


class UnionDefinition(Definition):
    """A union; members are sorted by tag.

    Attributes:
        underlying: Type of the tag.
        names_tag_type: The schema says that type. Only a binary schema tells an explicit `ubyte`
            from the usual one.
    """

    underlying: ScalarKind
    names_tag_type: bool = False
    members: tuple[UnionMember, ...]


class Field(Frozen):
    """A table or struct field.

    Attributes:
        id: Slot number in a table, position in a struct. A union's id is that of its value; its tag
            has the id before it.
        offset: In a table, the byte offset of the slot within the vtable (4 + 2 * id). In a struct,
            the byte offset of the value.
        default: Value of an absent scalar or enum field; `None` for all other fields and where
            `optional` is set (`= null`).
        default_content: What an absent string or vector reads as: a text, or `()` for `[]`; `None`
            where the schema sets nothing.
        present: The schema promises that every writer writes the field (our attribute), so its
            Python type has no `None`.
        force_align: Alignment in bytes of a vector's first element or a string's first byte, 0
            where the schema sets none.
        nested: Full name of the table at the root of the FlatBuffer that a `[ubyte]` holds.
    """

    name: str
    type: Type
    id: int
    offset: int
    location: Location
    default: int | float | None = None
    default_content: str | tuple[()] | None = None
    optional: bool = False
    required: bool = False
    present: bool = False
    deprecated: bool = False
    key: bool = False
    force_align: int = 0
    nested: str | None = None
    doc: tuple[str, ...] = ()
    attributes: dict[str, AttributeValue] = {}

    @property
    def is_mandatory(self) -> bool:
        """True if an absent value is an error: `required` by the wire or `present` by promise."""
        return self.required or self.present

    @property
    def reads_default(self) -> bool:
        """True for a string or vector that is never None, since an absent one has a default.

        A deprecated field is not written any more, so it must be possible to leave it out.
        """
        return self.default_content is not None and not self.deprecated


class TableDefinition(Definition):
    """A table; fields are sorted by id, which is the order of the canonical byte layout."""

    fields: tuple[Field, ...]


class StructDefinition(Definition):
    """A struct with its computed layout; `size` is a multiple of `alignment`."""

    fields: tuple[Field, ...]
    size: int
    alignment: int


AnyDefinition: TypeAlias = EnumDefinition | UnionDefinition | StructDefinition | TableDefinition


class Method(Frozen):
    """A method of a service; `request` and `response` are full names of tables."""

    name: str
    request: str
    response: str
    location: Location
    doc: tuple[str, ...] = ()
    attributes: dict[str, AttributeValue] = {}


class ServiceDefinition(Definition):
    """An `rpc_service`. Its name may also be that of a type."""

    methods: tuple[Method, ...]


class Root(Frozen):
    """A `root_type`, with the file identifier and extension of the file that declares it."""

    table: str
    identifier: str | None
    extension: str | None
    location: Location


class SchemaFile(Frozen):
    """What a schema file says of itself. A binary schema includes those that it was made from."""

    path: str
    includes: tuple[str, ...] = ()
    identifier: str | None = None
    extension: str | None = None


class Schema(Frozen):
    """Everything that one run generates from: the entry files and all that they include.

    Attributes:
        files: Schema files, repository-relative, each after those that it includes.
        services: No code is generated for them; the reference shows them.
        sources: More about `files`, in their order, and about the files that a binary schema among
            them was made from.
    """

    files: tuple[str, ...]
    enums: tuple[EnumDefinition, ...]
    unions: tuple[UnionDefinition, ...]
    structs: tuple[StructDefinition, ...]
    tables: tuple[TableDefinition, ...]
    roots: tuple[Root, ...]
    services: tuple[ServiceDefinition, ...] = ()
    sources: tuple[SchemaFile, ...] = ()

    @cached_property
    def definitions(self) -> dict[str, AnyDefinition]:
        """All definitions by full name, each kind sorted by it.

        Targets name things in this order, so that no name depends on where a definition stands.
        """
        kinds: tuple[tuple[AnyDefinition, ...], ...] = (
            self.enums,
            self.unions,
            self.structs,
            self.tables,
        )
        return {
            definition.full_name: definition
            for definitions in kinds
            for definition in sorted(definitions, key=lambda each: each.full_name)
        }

    def has_own_name(self, member: UnionMember) -> bool:
        """Whether a member goes by a name of its own: a string, or a type under an alias."""
        if member.type.ref is None:
            return True
        definition = self.definitions[member.type.ref]
        return member.name not in (definition.name, definition.full_name.replace(".", "_"))

    @cached_property
    def namespaces(self) -> tuple[str, ...]:
        """The namespaces that hold a definition, sorted."""
        return tuple(sorted({definition.namespace for definition in self.definitions.values()}))

    def enum(self, full_name: str) -> EnumDefinition:
        definition = self.definitions[full_name]
        assert isinstance(definition, EnumDefinition)
        return definition

    def union(self, full_name: str) -> UnionDefinition:
        definition = self.definitions[full_name]
        assert isinstance(definition, UnionDefinition)
        return definition

    def struct(self, full_name: str) -> StructDefinition:
        definition = self.definitions[full_name]
        assert isinstance(definition, StructDefinition)
        return definition

    def table(self, full_name: str) -> TableDefinition:
        definition = self.definitions[full_name]
        assert isinstance(definition, TableDefinition)
        return definition

    @cached_property
    def stamp(self) -> str:
        """Hash of the meaning: 16 hex digits that change if and only if generated code must.

        Where a definition stands says nothing, so a text and its binary schema have one stamp.
        """
        dumped = self.model_dump(mode="json", include=set(_SORT_KEYS))
        for kind, key in _SORT_KEYS.items():
            dumped[kind].sort(key=itemgetter(*key))
        meaning = _without_positions(dumped)
        text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


# What the stamp covers, and what it is sorted by.
_SORT_KEYS = {
    "enums": ("namespace", "name"),
    "unions": ("namespace", "name"),
    "structs": ("namespace", "name"),
    "tables": ("namespace", "name"),
    "roots": ("table",),
}


def _without_positions(node: object) -> object:
    if isinstance(node, dict):
        return {
            key: _without_positions(value)
            for key, value in node.items()
            if key not in ("location", "doc", "names_tag_type")
        }
    if isinstance(node, list):
        return [_without_positions(item) for item in node]
    return node
