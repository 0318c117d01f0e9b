"""View of `<module>/writer.h`: the encoder of each table and union."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..config import ProjectConfig
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
from ..nested import vector_alignment
from ..render import GeneratedFile, Templates
from ..sizes import inline_bound, inline_extent
from .cpp_names import CppNames
from .cpp_objects import ObjectNames, ObjectsBuilder, struct_groups
from .cpp_order import has_classes, used_namespaces
from .cpp_text import filled, string_literal
from .cpp_view_class import text_default, union_of
from .cpp_views import root_function

_SUPPORT_HEADERS = (
    "box.h",
    "builder.h",
    "encoder.h",
    "pack_options.h",
    "pack_result.h",
    "sort.h",
    "table_schema.h",
)


@dataclass(frozen=True)
class AlignmentView:
    """A member of `Alignments`: a vector of inline values and its alignment in bytes."""

    name: str
    default: int


@dataclass(frozen=True)
class CaseView:
    """One alternative of a union: its enumerator, and the statement that visits its UnionMember."""

    member: str
    visit: str


@dataclass(frozen=True)
class UnionSchemaView:
    """What the encoder knows about a union, by the enum of its tags."""

    tag_type: str
    cases: tuple[CaseView, ...]


@dataclass(frozen=True)
class FieldView:
    """The constant that describes a field: its name, and its whole definition."""

    name: str
    constant: str


@dataclass(frozen=True)
class TableSchemaView:
    """What the encoder knows about a table.

    Attributes:
        type: The value type.
        number: Index of the table in the schema.
        slots: Number of its vtable slots.
        inline_size: Upper bound of its inline bytes.
        identifier: File identifier as a literal, or `nullptr`.
        key: Member that is the key, or nothing.
    """

    type: str
    number: int
    slots: int
    inline_size: int
    identifier: str
    key: str
    fields: tuple[FieldView, ...]


@dataclass(frozen=True)
class StructSchemaView:
    """What the encoder knows about a struct; `type` is the value type, `key` the member, if any."""

    type: str
    size: int
    alignment: int
    key: str
    fields: tuple[FieldView, ...]


@dataclass(frozen=True)
class RootView:
    """`pack_...` of a root table. `signature` is all that comes before its body."""

    name: str
    signature: str


@dataclass(frozen=True)
class WriterView:
    """Everything that the template of writer.h places."""

    includes: tuple[str, ...]
    late_includes: tuple[str, ...]
    unions: tuple[UnionSchemaView, ...]
    structs: tuple[StructSchemaView, ...]
    tables: tuple[TableSchemaView, ...]
    roots: tuple[RootView, ...]


def slot_count(table: TableDefinition) -> int:
    """Return the number of vtable slots that the schema knows."""
    return max((field.id for field in table.fields), default=-1) + 1


def alignment_views(schema: Schema, names: CppNames) -> Iterator[AlignmentView]:
    """Yield a member for every vector of inline values, in schema order."""
    structs = {struct.full_name: struct for struct in schema.structs}
    for table in schema.tables:
        for field in table.fields:
            if is_inline_vector(field.type):
                assert field.type.element is not None
                _, alignment = inline_extent(field.type.element, structs)
                default = max(vector_alignment(schema, field), alignment)
                yield AlignmentView(names.alignment(table, field), default)


def is_inline_vector(type_: Type) -> bool:
    """Return whether `type_` is a vector of inline values, whose alignment can be chosen."""
    return type_.kind is TypeKind.VECTOR and type_.element is not None and type_.element.is_inline


class WriterBuilder:
    """Builds the view of one module's writer.h."""

    def __init__(self, schema: Schema, names: ObjectNames, namespace: str) -> None:
        self._schema = schema
        self._names = names
        self._namespace = namespace
        self._structs = {struct.full_name: struct for struct in schema.structs}
        self._numbers = {table.full_name: number for number, table in enumerate(schema.tables)}

    def build(self) -> WriterView:
        """Return the view."""
        cpp = self._names.cpp
        others = used_namespaces(self._schema, self._namespace)
        return WriterView(
            includes=tuple(sorted(self._includes())),
            late_includes=tuple(
                cpp.include(other, "writer.h")
                for other in others
                if has_classes(self._schema, other)
            ),
            unions=tuple(
                self._union(union)
                for union in self._schema.unions
                if union.namespace == self._namespace
            ),
            structs=tuple(
                self._struct(struct)
                for struct in self._schema.structs
                if struct.namespace == self._namespace
            ),
            tables=tuple(
                self._table(table)
                for table in self._schema.tables
                if table.namespace == self._namespace
            ),
            roots=tuple(
                self._root(self._schema.table(root.table))
                for root in self._schema.roots
                if self._schema.table(root.table).namespace == self._namespace
            ),
        )

    def _includes(self) -> Iterator[str]:
        cpp = self._names.cpp
        yield f"{cpp.include_prefix}/encoder.h"
        yield cpp.include(self._namespace, "objects.h")
        nested = {
            self._schema.table(field.nested).namespace
            for table in self._schema.tables
            if table.namespace == self._namespace
            for field in table.fields
            if field.nested is not None
        }
        for namespace in nested:
            yield cpp.include(namespace, "verifier.h")

    def _root(self, table: TableDefinition) -> RootView:
        name = self._names.cpp.local_type(table)
        arguments = (
            f"const objects::{name}& object",
            "std::vector<std::uint8_t>& out",
            "const Alignments& alignments = {}",
        )
        start = f"inline PackResult {root_function('pack', table)}("
        return RootView(name, filled(start, arguments, ") {").removesuffix(" {"))

    def _union(self, union: UnionDefinition) -> UnionSchemaView:
        return UnionSchemaView(
            self._names.tag_type(union.full_name),
            tuple(
                CaseView(
                    self._names.cpp.member(union.full_name, member.name),
                    self._visit(union, member, place),
                )
                for place, member in enumerate(union.members, 1)
            ),
        )

    def _visit(self, union: UnionDefinition, member: UnionMember, place: int) -> str:
        """Return the statement that visits the alternative at `place` of the variant."""
        held = self._names.alternative(union, member)
        is_string = member.type.ref is None
        type_ = "std::string" if member.type.ref is None else self._names.table(member.type.ref)
        is_struct = member.type.kind is TypeKind.STRUCT
        kind = "kString" if is_string else "kStruct" if is_struct else "kTable"
        arguments = [type_, str(place), f"MemberKind::{kind}", held]
        if held == type_:
            arguments = arguments[: 3 if is_struct else 2]
        start = "return visitor(UnionMember<"
        return filled(start, arguments, ">{});", indent=8).lstrip()

    def _struct(self, struct: StructDefinition) -> StructSchemaView:
        scope = self._names.cpp.description_scope()
        return StructSchemaView(
            self._names.table(struct.full_name),
            struct.size,
            struct.alignment,
            self._key(struct),
            tuple(
                self._struct_member(struct, index, field, scope.claim(field.name))
                for index, field in enumerate(struct.fields)
            ),
        )

    def _struct_member(
        self, struct: StructDefinition, index: int, field: Field, name: str
    ) -> FieldView:
        member = f"&Object::{self._names.field(struct, field)}"
        arguments = [str(index), str(field.offset), string_literal(field.name), member]
        constant = filled(f"static constexpr StructMember {name}{{", arguments, "};", indent=2)
        return FieldView(name, constant)

    def _table(self, table: TableDefinition) -> TableSchemaView:
        scope = self._names.cpp.description_scope()
        return TableSchemaView(
            type=self._names.table(table.full_name),
            number=self._numbers[table.full_name],
            slots=slot_count(table),
            inline_size=inline_bound(table, self._structs),
            identifier=self._identifier(table),
            key=self._key(table),
            fields=tuple(
                self._field(table, index, field, scope.claim(field.name))
                for index, field in enumerate(table.fields)
            ),
        )

    def _field(self, table: TableDefinition, index: int, field: Field, name: str) -> FieldView:
        kind, extra = self._field_kind(table, field)
        member = f"&Object::{self._names.field(table, field)}"
        arguments = [str(index), str(field.id), string_literal(field.name), member, *extra]
        if field.nested is not None:
            vector = f"{kind}{{{', '.join(arguments)}}}"
            kind, arguments = "NestedField", [vector, f"RootView<{self._view(field.nested)}>{{}}"]
        constant = filled(f"static constexpr {kind} {name}{{", arguments, "};", indent=2)
        return FieldView(name, constant)

    def _view(self, table: str) -> str:
        definition = self._schema.table(table)
        module = self._names.cpp.module(definition.namespace)
        return f"{module}::{self._names.cpp.local_type(definition)}"

    def _field_kind(self, table: TableDefinition, field: Field) -> tuple[str, list[str]]:
        """Return the class that describes a field, and what only that class wants to know."""
        if field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM):
            return "ScalarField", [self._absent(field)]
        presence = _presence(field)
        union = union_of(field.type)
        if union is not None:
            kind = "UnionField" if field.type.kind is TypeKind.UNION else "UnionVectorField"
            return kind, [presence, f"{self._names.tag_type(union)}::NONE"]
        if field.type.kind is TypeKind.STRUCT:
            return "StructField", [presence]
        if is_inline_vector(field.type):
            alignment = self._names.cpp.alignment(table, field)
            return "VectorField", [presence, f"&Alignments::{alignment}"]
        text = text_default(field)
        if field.type.kind is TypeKind.STRING and field.force_align:
            return "ChildField", [presence, text or "{}", str(field.force_align)]
        return "ChildField", [presence, text] if text else [presence]

    def _absent(self, field: Field) -> str:
        """Return what a reader sees if the field is absent, as an expression of its own type."""
        type_ = self._names.scalar(field.type)
        if field.optional:
            return f"{type_}{{}}"
        default = self._names.default(field)
        return default if field.type.kind is TypeKind.ENUM else f"{type_}{{{default}}}"

    def _key(self, definition: TableDefinition | StructDefinition) -> str:
        keys = [field for field in definition.fields if field.key]
        return self._names.field(definition, keys[0]) if keys else ""

    def _identifier(self, table: TableDefinition) -> str:
        for root in self._schema.roots:
            if root.table == table.full_name and root.identifier is not None:
                return string_literal(root.identifier)
        return "nullptr"


def _presence(field: Field) -> str:
    """Return what is known about a field that is not a scalar, as an enumerator."""
    if field.is_mandatory:
        return "Presence::kMandatory"
    return "Presence::kDefaulted" if field.reads_default else "Presence::kOptional"


def render_writer(
    schema: Schema, config: ProjectConfig, templates: Templates
) -> Iterator[GeneratedFile]:
    """Yield the headers that pack: support code, then value types and encoders of every module."""
    cpp = CppNames(schema, config)
    names = ObjectNames(schema, cpp)
    directory = config.header_directory.as_posix()
    fields: dict[str, Any] = {
        "namespace": cpp.namespace,
        "include_prefix": cpp.include_prefix,
        "table_count": len(schema.tables),
        "max_slots": max(map(slot_count, schema.tables), default=0),
        "alignments": tuple(alignment_views(schema, cpp)),
    }
    for header in _SUPPORT_HEADERS:
        text = templates.render(f"cpp/{header}.jinja", **fields)
        yield GeneratedFile(f"{directory}/{header}", text)
    groups = tuple(struct_groups(schema, names))
    if groups:
        enums = sorted({enum.namespace for enum in schema.enums})
        includes = [cpp.include(namespace, "enums.h") for namespace in enums]
        text = templates.render("cpp/structs.h.jinja", groups=groups, includes=includes)
        yield GeneratedFile(f"{directory}/structs.h", text)
    for namespace in schema.namespaces:
        if not has_classes(schema, namespace):
            continue
        module = cpp.module(namespace)
        described = f"namespace {namespace}" if namespace else "the global namespace"
        objects = ObjectsBuilder(schema, names, namespace).build()
        text = templates.render(
            "cpp/objects.h.jinja",
            namespace=f"{cpp.namespace}::{names.namespace(namespace)}",
            purpose=f"Value types for the tables and unions of {described}.",
            objects=objects,
        )
        yield GeneratedFile(f"{directory}/{module}/objects.h", text)
        text = templates.render(
            "cpp/writer.h.jinja",
            namespace=cpp.namespace,
            module_namespace=f"{cpp.namespace}::{module}",
            purpose=f"Packs the value types of {described} (objects.h).",
            writer=WriterBuilder(schema, names, namespace).build(),
        )
        yield GeneratedFile(f"{directory}/{module}/writer.h", text)
