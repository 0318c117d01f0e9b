"""The model as the records of a binary schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

from .bfbs_format import (
    ARRAYS,
    BASE_TYPES,
    DEFAULT_VECTORS_AND_STRINGS,
    FILE_PREFIX,
    OPTIONAL_SCALARS,
    SCALARS,
    VECTORS_OF_UNIONS,
    AttributeRecord,
    BaseType,
    CallRecord,
    EnumRecord,
    FieldRecord,
    FileRecord,
    MemberRecord,
    ObjectRecord,
    SchemaRecord,
    ServiceRecord,
    TypeRecord,
)
from .includes import BINARY_SUFFIX
from .layout import vtable_offset
from .model import (
    AttributeValue,
    Definition,
    EnumDefinition,
    Field,
    Schema,
    SchemaFile,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
)

_Object: TypeAlias = TableDefinition | StructDefinition
_DefinitionT = TypeVar("_DefinitionT", bound=Definition)

_OFFSET_SIZE = 4
_SIZES: Mapping[BaseType, int] = {
    BaseType.NONE: 1,
    BaseType.UTYPE: 1,
    BaseType.VECTOR64: 8,
    **{base: scalar.size for base, scalar in SCALARS.items()},
}
"""What the format says of a type's size; whatever is not listed has that of an offset."""

_NO_TYPE = TypeRecord(base_type=BaseType.NONE, base_size=1, element_size=1)


def records_of(schema: Schema) -> SchemaRecord:
    """Describe a schema of one entry file."""
    return _Describer(schema).schema()


def _by_name(definitions: Iterable[_DefinitionT]) -> list[_DefinitionT]:
    return sorted(definitions, key=lambda definition: definition.full_name)


class _Describer:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._objects: list[_Object] = _by_name([*schema.tables, *schema.structs])
        self._enums: list[EnumDefinition | UnionDefinition] = _by_name(
            [*schema.enums, *schema.unions]
        )
        self._index = {
            definition.full_name: index
            for definitions in (self._objects, self._enums)
            for index, definition in enumerate(definitions)
        }

    def schema(self) -> SchemaRecord:
        schema = self._schema
        entry = schema.sources[-1]
        objects = {object_.full_name: self._object(object_) for object_ in self._objects}
        return SchemaRecord(
            objects=tuple(objects.values()),
            enums=tuple(
                self._union(enum) if isinstance(enum, UnionDefinition) else self._enum(enum)
                for enum in self._enums
            ),
            file_ident=entry.identifier or "",
            file_ext=entry.extension or "",
            root_table=objects[schema.roots[0].table] if schema.roots else None,
            services=tuple(self._services(objects)),
            advanced_features=self._advanced_features(),
            fbs_files=tuple(_files(schema.sources)),
        )

    def _enum(self, enum: EnumDefinition) -> EnumRecord:
        return EnumRecord(
            name=enum.full_name,
            values=tuple(
                MemberRecord(
                    name=member.name,
                    value=_signed(member.value),
                    union_type=_NO_TYPE,
                    documentation=_documentation(member.doc),
                    attributes=_attributes(member.attributes),
                )
                for member in enum.members
            ),
            underlying_type=self._sized(BASE_TYPES[enum.underlying], enum.full_name),
            attributes=_attributes(enum.attributes),
            documentation=_documentation(enum.doc),
            declaration_file=_declaration_file(enum),
        )

    def _union(self, union: UnionDefinition) -> EnumRecord:
        members = [
            MemberRecord(
                name=member.name,
                value=_signed(member.tag),
                union_type=self._type(member.type),
                documentation=_documentation(member.doc),
                attributes=_attributes(member.attributes),
            )
            for member in union.members
        ]
        none = MemberRecord(name="NONE", value=0, union_type=_NO_TYPE)
        tag = BASE_TYPES[union.underlying] if union.names_tag_type else BaseType.UTYPE
        return EnumRecord(
            name=union.full_name,
            values=tuple(sorted([none, *members], key=lambda member: member.value)),
            is_union=True,
            underlying_type=self._sized(tag, union.full_name),
            attributes=_attributes(union.attributes),
            documentation=_documentation(union.doc),
            declaration_file=_declaration_file(union),
        )

    def _object(self, object_: _Object) -> ObjectRecord:
        is_struct = isinstance(object_, StructDefinition)
        fields = []
        for field, padding in zip(object_.fields, self._paddings(object_), strict=True):
            fields.append(self._field(field, padding, in_struct=is_struct))
            if (field.type.element or field.type).kind is TypeKind.UNION:
                fields.append(self._tag_field(field))
        return ObjectRecord(
            name=object_.full_name,
            fields=tuple(sorted(fields, key=lambda field: field.name)),
            is_struct=is_struct,
            minalign=object_.alignment if isinstance(object_, StructDefinition) else 1,
            bytesize=object_.size if isinstance(object_, StructDefinition) else 0,
            attributes=_attributes(object_.attributes),
            documentation=_documentation(object_.doc),
            declaration_file=_declaration_file(object_),
        )

    def _paddings(self, object_: _Object) -> list[int]:
        """Unused bytes behind each field of a struct; there are none in a table."""
        if isinstance(object_, TableDefinition):
            return [0] * len(object_.fields)
        starts = [*(field.offset for field in object_.fields), object_.size]
        return [
            following - start - self._inline_size(field.type)
            for field, (start, following) in zip(object_.fields, pairwise(starts), strict=True)
        ]

    def _field(self, field: Field, padding: int, *, in_struct: bool) -> FieldRecord:
        scalar = field.type.scalar if field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM) else None
        is_float = scalar is not None and scalar.is_float
        default = 0 if scalar is None or field.default is None else field.default
        attributes = dict(field.attributes)
        if "cpp_type" in attributes:
            attributes.setdefault("cpp_ptr_type", "naked")  # flatc adds it
        if scalar is not None:
            optional = field.optional
        else:
            optional = not in_struct and not field.required and field.default_content is None
        return FieldRecord(
            name=field.name,
            type=self._type(field.type, is_vector64="vector64" in attributes),
            id=field.id,
            offset=field.offset,
            default_integer=0 if is_float else _signed(int(default)),
            default_real=float(default) if is_float else 0.0,
            deprecated=field.deprecated,
            required=field.required,
            key=field.key,
            attributes=_attributes(attributes),
            documentation=_documentation(field.doc),
            optional=optional,
            padding=padding,
            offset64="offset64" in attributes or "vector64" in attributes,
        )

    def _tag_field(self, field: Field) -> FieldRecord:
        """The field that holds the tag of a union, or the tags of a vector of unions."""
        is_vector = field.type.kind is TypeKind.VECTOR
        union = field.type.element if is_vector else field.type
        assert union is not None
        assert union.ref is not None
        type_ = self._sized(BaseType.UTYPE, union.ref)
        if is_vector:
            type_ = self._holding(BaseType.VECTOR, BaseType.UTYPE, union.ref, 1)
        return FieldRecord(
            name=f"{field.name}_type",
            type=type_,
            id=field.id - 1,
            offset=vtable_offset(field.id - 1),
            deprecated=field.deprecated,
            required=is_vector and field.required,
            attributes=_attributes({"id": field.id - 1} if "id" in field.attributes else {}),
            optional=is_vector and not field.required and field.default_content is None,
        )

    def _type(self, type_: Type, *, is_vector64: bool = False) -> TypeRecord:
        if type_.element is None:
            return self._sized(_base_type(type_), type_.ref)
        base = BaseType.VECTOR64 if is_vector64 else BaseType.VECTOR
        if type_.kind is TypeKind.ARRAY:
            base = BaseType.ARRAY
        element, element_base = type_.element, _base_type(type_.element)
        size = self._inline_size(element)
        if base is BaseType.ARRAY:
            size = _SIZES.get(element_base, _OFFSET_SIZE)  # as flatc has it, for structs too
        return self._holding(base, element_base, element.ref, size, type_.length or 0)

    def _sized(self, base: BaseType, ref: str | None) -> TypeRecord:
        return TypeRecord(
            base_type=base,
            index=-1 if ref is None else self._index[ref],
            base_size=_SIZES.get(base, _OFFSET_SIZE),
            element_size=1,
        )

    def _holding(
        self, base: BaseType, element: BaseType, ref: str | None, size: int, length: int = 0
    ) -> TypeRecord:
        return TypeRecord(
            base_type=base,
            element=element,
            index=-1 if ref is None else self._index[ref],
            fixed_length=length,
            base_size=_SIZES.get(base, _OFFSET_SIZE),
            element_size=size,
        )

    def _inline_size(self, type_: Type) -> int:
        """Bytes where a value or the offset to it lies."""
        if type_.kind is TypeKind.ARRAY:
            assert type_.element is not None
            assert type_.length is not None
            return self._inline_size(type_.element) * type_.length
        if type_.kind is TypeKind.STRUCT:
            assert type_.ref is not None
            return self._schema.struct(type_.ref).size
        return _SIZES.get(_base_type(type_), _OFFSET_SIZE)

    def _services(self, objects: Mapping[str, ObjectRecord]) -> Iterator[ServiceRecord]:
        for service in _by_name(self._schema.services):
            yield ServiceRecord(
                name=service.full_name,
                calls=tuple(
                    CallRecord(
                        name=method.name,
                        request=objects[method.request],
                        response=objects[method.response],
                        attributes=_attributes(method.attributes),
                        documentation=_documentation(method.doc),
                    )
                    for method in service.methods
                ),
                attributes=_attributes(service.attributes),
                documentation=_documentation(service.doc),
                declaration_file=_declaration_file(service),
            )

    def _advanced_features(self) -> int:
        """What a reader of the schema must know, besides what there has always been."""
        found = 0
        for object_ in self._objects:
            for field in object_.fields:
                kind, element = field.type.kind, field.type.element
                if kind is TypeKind.ARRAY:
                    found |= ARRAYS
                elif kind is TypeKind.VECTOR and element and element.kind is TypeKind.UNION:
                    found |= VECTORS_OF_UNIONS
                if field.optional:
                    found |= OPTIONAL_SCALARS
                if field.default_content is not None:
                    found |= DEFAULT_VECTORS_AND_STRINGS
        return found


def _base_type(type_: Type) -> BaseType:
    if type_.kind in (TypeKind.SCALAR, TypeKind.ENUM):
        assert type_.scalar is not None
        return BASE_TYPES[type_.scalar]
    return {
        TypeKind.STRING: BaseType.STRING,
        TypeKind.STRUCT: BaseType.OBJ,
        TypeKind.TABLE: BaseType.OBJ,
        TypeKind.UNION: BaseType.UNION,
    }[type_.kind]


def _attributes(attributes: Mapping[str, AttributeValue]) -> tuple[AttributeRecord, ...]:
    """Sorted by name; one without a value has a 0 in its place, as flatc writes it."""
    return tuple(
        AttributeRecord(key=name, value="0" if value is True else str(value))
        for name, value in sorted(attributes.items())
    )


def _documentation(doc: Sequence[str]) -> tuple[str, ...]:
    """The lines with the blank that usually follows `///`, which the model leaves out."""
    return tuple(f" {line}" if line else "" for line in doc)


def _declaration_file(definition: Definition) -> str:
    """The file of a definition; empty for one of a binary schema that does not name any."""
    path = definition.location.path
    return "" if path.endswith(BINARY_SUFFIX) else FILE_PREFIX + path


def _files(sources: Iterable[SchemaFile]) -> Iterator[FileRecord]:
    for source in sorted(sources, key=lambda source: source.path):
        if not source.path.endswith(BINARY_SUFFIX):
            included = (FILE_PREFIX + path for path in sorted(set(source.includes)))
            yield FileRecord(filename=FILE_PREFIX + source.path, included_filenames=tuple(included))


def _signed(value: int) -> int:
    """The value as the format holds it, whose integers have a sign."""
    return value - (1 << 64) if value >= 1 << 63 else value
