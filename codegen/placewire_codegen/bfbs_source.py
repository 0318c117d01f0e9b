"""A binary schema as the text that it stands for, which the front end then reads like any other.

So the rules of the language are checked in one place, and a message can quote what is wrong. What
only a binary schema can get wrong (types by number, computed offsets) is checked here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter

from .attributes import KNOWN
from .bfbs_format import (
    DEFAULT_VECTORS_AND_STRINGS,
    FILE_PREFIX,
    KNOWN_FEATURES,
    SCALARS,
    AttributeRecord,
    BaseType,
    EnumRecord,
    FieldRecord,
    MemberRecord,
    ObjectRecord,
    SchemaRecord,
    ServiceRecord,
    TypeRecord,
)
from .bfbs_wire import DamagedError
from .diagnostics import Source
from .layout import Extent, lay_out_struct, vtable_offset
from .lexer import INTEGER_SPELLING, read_integer
from .model import ScalarKind
from .scope import BUILTIN_SCALARS, spelling_of

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FULL_NAME = re.compile(rf"{_NAME.pattern}(?:\.{_NAME.pattern})*")
_WRITTEN_WITH_NUMBER = frozenset({"id", "force_align"})
_VECTORS = (BaseType.VECTOR, BaseType.VECTOR64)


class BinarySource(Source):
    """The text of a binary schema. It knows which file each line was declared in."""

    def __init__(self, path: str, model_path: str, lines: Sequence[tuple[str, str]]) -> None:
        """Join `lines`, each a text and the file that it comes from, empty if that is not known."""
        super().__init__(path, "".join(f"{text}\n" for text, _ in lines), model_path=model_path)
        self._files = [file for _, file in lines]
        self._starts = [0]
        for text, _ in lines:
            self._starts.append(self._starts[-1] + len(text) + 1)

    def declared_at(self, offset: int) -> tuple[str, int, int]:
        return self._files[bisect_right(self._starts, offset) - 1] or self.model_path, 0, 0


def source_of(schema: SchemaRecord, *, path: str, model_path: str) -> BinarySource:
    """Write a binary schema as text.

    Args:
        schema: What `read_records` gave.
        path: What messages call the file.
        model_path: What the model calls it.

    Raises:
        DamagedError: The records contradict each other, or say what this version does not know.
    """
    unknown = schema.advanced_features & ~KNOWN_FEATURES
    if unknown:
        raise DamagedError(
            f"the schema uses features newer than this version knows (advanced_features has "
            f"the bits 0x{unknown:X})",
            "update placewire, or write the schema with an older flatc",
        )
    lines = list(_Text(schema).lines())
    return BinarySource(path, model_path, lines)


def file_name(written: str | None) -> str:
    """The name of a file without the mark of the project's root; empty if it is not given."""
    return (written or "").removeprefix(FILE_PREFIX)


class _Text:
    def __init__(self, schema: SchemaRecord) -> None:
        self._schema = schema
        self._namespace = ""
        self._numbered = _numbered_attributes(schema)
        self._structs: dict[str, Extent] = {}

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each line with the file that it was declared in."""
        schema = self._schema
        yield "namespace ;", ""  # a text needs a statement
        names = {attribute.key for attribute in _all_attributes(schema)}
        for name in sorted(names - KNOWN):
            yield f"attribute {_quoted(name)};", ""
        for enum in schema.enums:
            yield from self._declaration(enum, self._enum(enum))
        for struct in self._structs_in_order():
            yield from self._declaration(struct, self._struct(struct))
        for table in schema.objects:
            if not table.is_struct:
                yield from self._declaration(table, self._table(table))
        for service in schema.services:
            yield from self._declaration(service, self._service(service))
        if schema.file_ident:
            yield f"file_identifier {_quoted(schema.file_ident)};", ""
        if schema.file_ext:
            yield f"file_extension {_quoted(schema.file_ext)};", ""
        if schema.root_table is not None:
            yield f"root_type {self._object_name(schema.root_table)};", ""

    def _declaration(
        self, record: EnumRecord | ObjectRecord | ServiceRecord, body: Iterable[str]
    ) -> Iterator[tuple[str, str]]:
        file = file_name(record.declaration_file)
        namespace = _checked_full_name(record.name).rpartition(".")[0]
        if namespace != self._namespace:
            self._namespace = namespace
            yield f"namespace {namespace};", file
        for line in (*_doc(record.documentation), *body):
            yield line, file

    def _enum(self, enum: EnumRecord) -> Iterator[str]:
        name = enum.name.rpartition(".")[2]
        base = _base_type(enum.underlying_type.base_type, enum.name)
        if base is BaseType.UTYPE and enum.is_union:
            declared = f"union {name}"
            scalar = ScalarKind.UINT8
        elif base in SCALARS:
            scalar = SCALARS[base]
            declared = f"{'union' if enum.is_union else 'enum'} {name} : {spelling_of(scalar)}"
        else:
            raise DamagedError(f"`{enum.name}` cannot consist of values of type {base.name}")
        attributes = self._attributes(enum.attributes)
        members = list(enum.values)
        if [(member.name, member.value) for member in members] == [("NONE", 0)]:
            members = []  # what flatc gives to an enum without members, and to every union
        yield f"{declared}{attributes} {{"
        bit_flags = any(attribute.key == "bit_flags" for attribute in enum.attributes)
        for member in members:
            if enum.is_union and member.name == "NONE":
                continue
            yield from _doc(member.documentation)
            value = member.value % (1 << 64) if scalar is ScalarKind.UINT64 else member.value
            if bit_flags and not enum.is_union:
                value = _bit_of(value, f"{enum.name}.{member.name}")
            type_ = f": {self._member_type(member)}" if enum.is_union else ""
            attributes = self._attributes(member.attributes)
            yield f"  {_checked_name(member.name)}{type_} = {value}{attributes},"
        yield "}"

    def _member_type(self, member: MemberRecord) -> str:
        type_ = member.union_type
        base = BaseType.NONE if type_ is None else _base_type(type_.base_type, member.name)
        if type_ is None or base not in (BaseType.OBJ, BaseType.STRING):
            raise DamagedError(f"union member `{member.name}` cannot be of type {base.name}")
        return self._inner_type(type_, base, member.name)

    def _structs_in_order(self) -> Iterator[ObjectRecord]:
        """The structs, each behind those that it holds."""
        structs = {object_.name: object_ for object_ in self._schema.objects if object_.is_struct}
        held = {
            name: [
                self._object(field.type.index, f"{name}.{field.name}").name
                for field in struct.fields
                if BaseType.OBJ in (field.type.base_type, field.type.element)
            ]
            for name, struct in structs.items()
        }
        try:
            order = [*TopologicalSorter(held).static_order()]
        except CycleError as error:
            raise DamagedError(f"struct `{error.args[1][0]}` contains itself") from None
        return (structs[name] for name in order if name in structs)

    def _struct(self, struct: ObjectRecord) -> Iterator[str]:
        fields = sorted(struct.fields, key=lambda field: field.id)
        extents = [self._extent(field, f"{struct.name}.{field.name}") for field in fields]
        natural = lay_out_struct(extents)
        layout = natural
        attributes = list(struct.attributes)
        if struct.minalign > natural.alignment and struct.minalign & (struct.minalign - 1) == 0:
            layout = lay_out_struct(extents, struct.minalign)
            if all(attribute.key != "force_align" for attribute in attributes):
                attributes.append(AttributeRecord(key="force_align", value=str(struct.minalign)))
        said = ([field.offset for field in fields], struct.bytesize, struct.minalign)
        if said != (list(layout.offsets), layout.size, layout.alignment):
            raise DamagedError(
                f"struct `{struct.name}` has the offsets, size and alignment {said}, but its "
                f"fields give {(list(layout.offsets), layout.size, layout.alignment)}"
            )
        self._structs[struct.name] = Extent(layout.size, layout.alignment)
        yield f"struct {struct.name.rpartition('.')[2]}{self._attributes(attributes)} {{"
        for field in fields:
            yield from self._field(field, f"{struct.name}.{field.name}", in_struct=True)
        yield "}"

    def _extent(self, field: FieldRecord, path: str) -> Extent:
        base = _base_type(field.type.base_type, path)
        count = 1
        if base is BaseType.ARRAY:
            base = _base_type(field.type.element, path)
            count = field.type.fixed_length
        if base in SCALARS:
            return Extent(SCALARS[base].size * count, SCALARS[base].size)
        extent = None
        if base is BaseType.OBJ:
            extent = self._structs.get(self._object(field.type.index, path).name)
        if extent is None:
            raise DamagedError(f"`{path}`: a struct cannot hold a value of type {base.name}")
        return Extent(extent.size * count, extent.alignment)

    def _table(self, table: ObjectRecord) -> Iterator[str]:
        tags = {field.name: field for field in table.fields if _is_tag(field.type)}
        yield f"table {table.name.rpartition('.')[2]}{self._attributes(table.attributes)} {{"
        for field in sorted(table.fields, key=lambda field: field.id):
            path = f"{table.name}.{field.name}"
            if field.offset != vtable_offset(field.id):
                raise DamagedError(
                    f"`{path}` has the id {field.id} and the offset {field.offset}; expected "
                    f"{vtable_offset(field.id)}"
                )
            if BaseType.UNION in (field.type.base_type, field.type.element):
                tag = tags.pop(f"{field.name}_type", None)
                if tag is None or tag.id != field.id - 1 or tag.type.index != field.type.index:
                    raise DamagedError(
                        f"`{path}` is a union, but no field `{field.name}_type` of that union has "
                        f"the id {field.id - 1}"
                    )
            if not _is_tag(field.type):
                yield from self._field(field, path, in_struct=False)
        for name in tags:
            raise DamagedError(f"`{table.name}.{name}` is the tag of a union that is not there")
        yield "}"

    def _field(self, field: FieldRecord, path: str, *, in_struct: bool) -> Iterator[str]:
        yield from _doc(field.documentation)
        name = _checked_name(field.name)
        default = "" if in_struct else self._default(field, path)
        attributes = [
            attribute
            for attribute in field.attributes
            # flatc adds this one to a `cpp_type`.
            if (attribute.key, attribute.value) != ("cpp_ptr_type", "naked")
        ]
        keys = {attribute.key for attribute in attributes}
        is_string_key = field.key and field.type.base_type == BaseType.STRING
        is_vector64 = field.type.base_type == BaseType.VECTOR64
        for key, is_set in (
            ("deprecated", field.deprecated),
            ("key", field.key),
            ("required", field.required and not is_string_key),
            ("vector64", is_vector64),
            ("offset64", field.offset64 and not is_vector64),
        ):
            if is_set and key not in keys:
                attributes.append(AttributeRecord(key=key, value="0"))
        yield f"  {name}: {self._type(field.type, path)}{default}{self._attributes(attributes)};"

    def _default(self, field: FieldRecord, path: str) -> str:
        base = _base_type(field.type.base_type, path)
        scalar = SCALARS.get(base)
        if scalar is None:
            has_defaults = self._schema.advanced_features & DEFAULT_VECTORS_AND_STRINGS
            if not has_defaults or field.optional or field.required:
                return ""
            if base is BaseType.STRING:
                raise DamagedError(
                    f"`{path}` has a default, but a .bfbs does not hold those of strings",
                    "use the .fbs file",
                )
            return " = []" if base in _VECTORS else ""
        if field.optional:
            return " = null"
        if scalar.is_float:
            return f" = {field.default_real!r}" if repr(field.default_real) != "0.0" else ""
        value = field.default_integer
        if scalar is ScalarKind.UINT64:
            value %= 1 << 64
        return f" = {value}" if value else ""

    def _type(self, type_: TypeRecord, path: str) -> str:
        base = _base_type(type_.base_type, path)
        if base in _VECTORS:
            return f"[{self._inner_type(type_, _base_type(type_.element, path), path)}]"
        if base is BaseType.ARRAY:
            element = self._inner_type(type_, _base_type(type_.element, path), path)
            return f"[{element}:{type_.fixed_length}]"
        return self._inner_type(type_, base, path)

    def _inner_type(self, type_: TypeRecord, base: BaseType, path: str) -> str:
        if base is BaseType.STRING:
            return "string"
        if base is BaseType.OBJ:
            return self._object_name(self._object(type_.index, path))
        if base in SCALARS and type_.index < 0:
            return spelling_of(SCALARS[base])
        if base in SCALARS or base is BaseType.UNION:
            return self._enum_name(type_.index, base, path)
        raise DamagedError(f"`{path}` cannot hold values of type {base.name}")

    def _object(self, index: int, path: str) -> ObjectRecord:
        objects = self._schema.objects
        if not 0 <= index < len(objects):
            raise DamagedError(f"`{path}` is of object {index}; the file has {len(objects)}")
        return objects[index]

    def _object_name(self, object_: ObjectRecord) -> str:
        return _referable(object_.name)

    def _enum_name(self, index: int, base: BaseType, path: str) -> str:
        enums = self._schema.enums
        if not 0 <= index < len(enums):
            raise DamagedError(f"`{path}` is of enum {index}; the file has {len(enums)}")
        enum = enums[index]
        is_union = base is BaseType.UNION
        if enum.is_union != is_union or not (is_union or enum.underlying_type.base_type == base):
            raise DamagedError(f"`{path}` is a {base.name} of `{enum.name}`, which is none")
        return _referable(enum.name)

    def _service(self, service: ServiceRecord) -> Iterator[str]:
        name = service.name.rpartition(".")[2]
        yield f"rpc_service {name}{self._attributes(service.attributes)} {{"
        for call in service.calls:
            yield from _doc(call.documentation)
            request, response = self._object_name(call.request), self._object_name(call.response)
            attributes = self._attributes(call.attributes)
            yield f"  {_checked_name(call.name)}({request}): {response}{attributes};"
        yield "}"

    def _attributes(self, attributes: Iterable[AttributeRecord]) -> str:
        written = ", ".join(map(self._attribute, attributes))
        return f" ({written})" if written else ""

    def _attribute(self, attribute: AttributeRecord) -> str:
        name, value = attribute.key, attribute.value or ""
        if not _NAME.fullmatch(name):
            name = _quoted(name)
        if value == "0" and attribute.key not in self._numbered:
            return name
        if INTEGER_SPELLING.fullmatch(value) and (
            ScalarKind.INT32.minimum <= read_integer(value) <= ScalarKind.INT32.maximum
        ):
            return f"{name}: {value}"
        return f"{name}: {_quoted(value)}"


def _all_attributes(schema: SchemaRecord) -> Iterator[AttributeRecord]:
    for enum in schema.enums:
        yield from enum.attributes
        for member in enum.values:
            yield from member.attributes
    for object_ in schema.objects:
        yield from object_.attributes
        for field in object_.fields:
            yield from field.attributes
    for service in schema.services:
        yield from service.attributes
        for call in service.calls:
            yield from call.attributes


def _numbered_attributes(schema: SchemaRecord) -> frozenset[str]:
    """Names of attributes whose 0 is a number: those that have another number somewhere.

    A binary schema has a 0 for the value of an attribute that was written without one.
    """
    numbers = Counter(
        attribute.key
        for attribute in _all_attributes(schema)
        if attribute.value != "0" and INTEGER_SPELLING.fullmatch(attribute.value or "")
    )
    return _WRITTEN_WITH_NUMBER | (numbers.keys() - KNOWN)


def _is_tag(type_: TypeRecord) -> bool:
    return BaseType.UTYPE in (type_.base_type, type_.element)


def _bit_of(mask: int, path: str) -> int:
    """The position of the only bit of a mask."""
    if mask <= 0 or mask & (mask - 1):
        raise DamagedError(f"`{path}` is a bit flag, but {mask} is not one bit")
    return mask.bit_length() - 1


def _base_type(number: int, path: str) -> BaseType:
    try:
        return BaseType(number)
    except ValueError:
        raise DamagedError(
            f"`{path}` is of the unknown type {number}; {max(BaseType)} is the last known one"
        ) from None


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise DamagedError(f"{name!r} is not a name")
    return name


def _checked_full_name(name: str) -> str:
    if not _FULL_NAME.fullmatch(name):
        raise DamagedError(f"{name!r} is not the name of a type or service")
    return name


def _referable(name: str) -> str:
    """The name of a definition as a type; that of a built-in type would mean the latter."""
    if name in BUILTIN_SCALARS or name == "string":
        raise DamagedError(f"a definition called `{name}` cannot be referred to")
    return _checked_full_name(name)


def _doc(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        for part in line.split("\n"):
            yield f"///{part}"


def _quoted(text: str) -> str:
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char >= " " else f"\\x{ord(char):02X}"
        for char in text
    )
    return f'"{escaped}"'
