"""View of the schema as data: what the module `_descriptors/<module>.py` says about each table."""

from __future__ import annotations

from dataclasses import dataclass

from ..model import (
    Field,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from ..names import Name
from ..nested import vector_alignment
from .python_names import PythonNames, scalar_literal, sort_key, string_literal


@dataclass(frozen=True)
class _UnionMember:
    tag: int
    name: str
    type: str


@dataclass(frozen=True)
class _Union:
    constant: str
    name: str
    tag: str
    members: list[_UnionMember]
    others: list[str]


@dataclass(frozen=True)
class _Field:
    """A field, as the arguments of its `FieldInfo` or `StructFieldInfo`."""

    arguments: list[str]


@dataclass(frozen=True)
class _Struct:
    reference: str
    wire_name: str
    size: int
    alignment: int
    fields: list[_Field]


@dataclass(frozen=True)
class _Table:
    reference: str
    wire_name: str
    slots: int
    fields: list[_Field]
    root: str | None


@dataclass(frozen=True)
class DescriptorModule:
    """One module of descriptors, as finished expressions.

    Attributes:
        imports: Sibling modules whose types are named.
        reflection_names: What is imported from `reflection`.
    """

    name: str
    imports: list[str]
    reflection_names: list[str]
    unions: list[_Union]
    structs: list[_Struct]
    tables: list[_Table]


def descriptor_module(schema: Schema, names: PythonNames, module: str) -> DescriptorModule:
    """Describe the tables of `module`."""
    return _Describer(schema, names, module).module()


class _Describer:
    """Collects what the expressions use while it writes them."""

    def __init__(self, schema: Schema, names: PythonNames, module: str) -> None:
        self._schema = schema
        self._names = names
        self._module = module
        self._imports: set[str] = set()
        self._used: set[str] = {"StructInfo", "TableInfo"}

    def module(self) -> DescriptorModule:
        here = self._names.definitions_of(self._module)
        used = {
            type_.ref
            for table in here.tables
            for field in table.fields
            for type_ in (field.type, field.type.element)
            if type_ is not None
        }
        # A union may stand in another module than the tables that have fields of it.
        unions = [self._union(union) for union in self._schema.unions if union.full_name in used]
        tables = [self._table(table) for table in here.tables]
        structs = [self._struct(struct) for struct in here.structs]
        return DescriptorModule(
            self._module,
            sorted(self._imports),
            sorted(self._used, key=sort_key),
            unions,
            structs,
            tables,
        )

    def _union(self, union: UnionDefinition) -> _Union:
        self._used.add("UnionInfo")
        members = [
            _UnionMember(member.tag, member.name, self._member_reference(union, member))
            for member in union.members
        ]
        return _Union(
            self._union_constant(union.full_name),
            union.name,
            self._use(union.underlying.name),
            members,
            [*_tags(union, TypeKind.STRING, "strings"), *_tags(union, TypeKind.STRUCT, "structs")],
        )

    def _member_reference(self, union: UnionDefinition, member: UnionMember) -> str:
        name = self._names.member_class(union, member)
        if name is None:
            return self._type_reference(member.type.ref or "")
        module = self._names.module_of(union.full_name)
        self._imports.add(module)
        return f"{module}.{name}"

    def _struct(self, struct: StructDefinition) -> _Struct:
        attributes = self._names.field_names(struct)
        self._used.add("StructFieldInfo")
        return _Struct(
            self._type_reference(struct.full_name),
            struct.full_name,
            struct.size,
            struct.alignment,
            [
                _Field(
                    [
                        f'"{attributes[field.name]}"',
                        f'"{field.name}"',
                        str(field.offset),
                        self._type(field.type),
                        *(["key=True"] if field.key else []),
                    ]
                )
                for field in struct.fields
            ],
        )

    def _table(self, table: TableDefinition) -> _Table:
        attributes = self._names.field_names(table)
        fields = [self._field(field, attributes[field.name]) for field in table.fields]
        slots = max((field.id for field in table.fields), default=-1) + 1
        return _Table(
            self._type_reference(table.full_name),
            table.full_name,
            slots,
            fields,
            self._root(table),
        )

    def _root(self, table: TableDefinition) -> str | None:
        for root in self._schema.roots:
            if root.table == table.full_name:
                self._used.add("RootInfo")
                header = table.attributes.get("extended_header")
                arguments = [repr(_ascii(root.identifier))]
                if header is not None:
                    arguments.append(repr(_ascii(str(header))))
                return f"RootInfo({', '.join(arguments)})".replace("'", '"')
        return None

    def _field(self, field: Field, name: str) -> _Field:
        self._used.add("FieldInfo")
        arguments = [f'"{name}"', f'"{field.name}"', str(field.id), self._type(field.type)]
        default = self._default(field)
        if default is not None:
            arguments.append(f"default={default}")
        arguments += [f"{flag}=True" for flag in ("required", "present") if getattr(field, flag)]
        alignment = vector_alignment(self._schema, field)
        if alignment:
            arguments.append(f"force_align={alignment}")
        if field.nested is not None:
            root = Type(kind=TypeKind.TABLE, ref=field.nested)
            arguments.append(f"nested={self._type(root)}")
        if field.key:
            arguments.append("key=True")
        return _Field(arguments)

    def _default(self, field: Field) -> str | None:
        if field.reads_default:
            if isinstance(field.default_content, str):
                return string_literal(field.default_content)
            return 'b""' if field.type.is_bytes else "()"
        if field.default is None:
            return None
        if field.type.kind is TypeKind.ENUM:
            enum = self._schema.enum(field.type.ref or "")
            member = self._names.member_with_value(enum, int(field.default))
            reference = self._type_reference(enum.full_name)
            return f"{reference}({field.default})" if member is None else f"{reference}.{member}"
        return scalar_literal(field.type, field.default)

    def _type(self, type_: Type) -> str:
        """Return the expression for a type."""
        match type_.kind:
            case TypeKind.SCALAR:
                assert type_.scalar is not None
                return self._use(type_.scalar.name)
            case TypeKind.STRING:
                return self._use("STRING")
            case TypeKind.ENUM:
                assert type_.scalar is not None
                assert type_.ref is not None
                reference, scalar = self._type_reference(type_.ref), self._use(type_.scalar.name)
                return f"{self._use('EnumInfo')}({reference}, {scalar})"
            case TypeKind.TABLE:
                return f"{self._use('TableReference')}({self._type_reference(type_.ref or '')})"
            case TypeKind.STRUCT:
                return f"{self._use('StructReference')}({self._type_reference(type_.ref or '')})"
            case TypeKind.ARRAY:
                assert type_.element is not None
                return f"{self._use('ArrayInfo')}({self._type(type_.element)}, {type_.length})"
            case TypeKind.UNION:
                return self._union_constant(type_.ref or "")
            case TypeKind.VECTOR:
                assert type_.element is not None
                return f"{self._use('VectorInfo')}({self._type(type_.element)})"

    def _type_reference(self, full_name: str) -> str:
        module = self._names.module_of(full_name)
        self._imports.add(module)
        return f"{module}.{self._names.type_name(full_name)}"

    def _union_constant(self, full_name: str) -> str:
        return f"_{Name(self._names.type_name(full_name)).upper_snake}"

    def _use(self, name: str) -> str:
        self._used.add(name)
        return name


def _tags(union: UnionDefinition, kind: TypeKind, argument: str) -> list[str]:
    """Return the argument of `UnionInfo` that lists the tags of a kind, if there are any."""
    tags = [str(member.tag) for member in union.members if member.type.kind is kind]
    return [f"{argument}=frozenset({{{', '.join(tags)}}})"] if tags else []


def _ascii(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
