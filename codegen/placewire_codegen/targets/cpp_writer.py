"""View of `<module>/writer.h`: the encoder of each table and union."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..config import ProjectConfig
from ..model import Field, Schema, TableDefinition, Type, TypeKind, UnionDefinition
from ..names import CPP_KEYWORDS, NameScope
from ..render import GeneratedFile, Templates
from .cpp_names import DESCRIPTION_NAMES, CppNames
from .cpp_objects import ObjectNames, ObjectsBuilder
from .cpp_order import used_namespaces
from .cpp_text import filled, string_literal
from .cpp_views import root_function

_LARGEST_INLINE_SIZE = 0xFFFF


@dataclass(frozen=True)
class AlignmentView:
    """A member of `Alignments`: a vector of scalars and its alignment in bytes."""

    name: str
    default: int


@dataclass(frozen=True)
class CaseView:
    """One alternative of a union: its enumerator and its value type."""

    member: str
    type: str


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
    """

    type: str
    number: int
    slots: int
    inline_size: int
    identifier: str
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
    tables: tuple[TableSchemaView, ...]
    roots: tuple[RootView, ...]


def slot_count(table: TableDefinition) -> int:
    """Return the number of vtable slots that the schema knows."""
    return max((field.id for field in table.fields), default=-1) + 1


def alignment_views(schema: Schema, names: CppNames) -> Iterator[AlignmentView]:
    """Yield a member for every vector of scalars or enums, in schema order."""
    for table in schema.tables:
        for field in table.fields:
            if is_scalar_vector(field.type):
                assert field.type.element is not None
                assert field.type.element.scalar is not None
                default = max(field.force_align, field.type.element.scalar.size)
                yield AlignmentView(alignment_name(table, field, names), default)


def alignment_name(table: TableDefinition, field: Field, names: CppNames) -> str:
    """Return the member of `Alignments` for a vector."""
    return f"{names.module(table.namespace)}_{names.local_type(table)}_{field.name}"


def is_scalar_vector(type_: Type) -> bool:
    """Return whether `type_` is a vector of scalars or enums, whose alignment can be chosen."""
    return (
        type_.kind is TypeKind.VECTOR
        and type_.element is not None
        and type_.element.kind in (TypeKind.SCALAR, TypeKind.ENUM)
    )


class WriterBuilder:
    """Builds the view of one module's writer.h."""

    def __init__(self, schema: Schema, names: ObjectNames, namespace: str) -> None:
        self._schema = schema
        self._names = names
        self._namespace = namespace
        self._numbers = {table.full_name: number for number, table in enumerate(schema.tables)}

    def build(self) -> WriterView:
        """Return the view; it has no tables if the module has none."""
        cpp = self._names.cpp
        with_tables = {table.namespace for table in self._schema.tables}
        others = used_namespaces(self._schema, self._namespace)
        return WriterView(
            includes=tuple(
                sorted(
                    [f"{cpp.include_prefix}/encoder.h", cpp.include(self._namespace, "objects.h")]
                )
            ),
            late_includes=tuple(
                cpp.include(other, "writer.h") for other in others if other in with_tables
            ),
            unions=tuple(
                self._union(union)
                for union in self._schema.unions
                if union.namespace == self._namespace
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
                    self._names.table(member.type.ref or ""),
                )
                for member in union.members
            ),
        )

    def _table(self, table: TableDefinition) -> TableSchemaView:
        inline_size = sum(2 * _inline_size(field) for field in table.fields) + 8
        if inline_size > _LARGEST_INLINE_SIZE:
            raise NotImplementedError(f"{table.location}: the table has too many fields")
        scope = NameScope(CPP_KEYWORDS | DESCRIPTION_NAMES | {"std"})
        return TableSchemaView(
            type=self._names.table(table.full_name),
            number=self._numbers[table.full_name],
            slots=slot_count(table),
            inline_size=inline_size,
            identifier=self._identifier(table),
            fields=tuple(
                self._field(table, index, field, scope.claim(field.name))
                for index, field in enumerate(table.fields)
            ),
        )

    def _field(self, table: TableDefinition, index: int, field: Field, name: str) -> FieldView:
        kind, extra = self._field_kind(table, field)
        member = f"&Object::{self._names.field(table, field)}"
        arguments = [str(index), str(field.id), string_literal(field.name), member, *extra]
        constant = filled(f"static constexpr {kind} {name}{{", arguments, "};", indent=2)
        return FieldView(name, constant)

    def _field_kind(self, table: TableDefinition, field: Field) -> tuple[str, list[str]]:
        """Return the class that describes a field, and what only that class wants to know."""
        if field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM):
            return "ScalarField", [self._absent(field)]
        presence = "Presence::kMandatory" if field.is_mandatory else "Presence::kOptional"
        if field.type.kind is TypeKind.UNION:
            assert field.type.ref is not None
            return "UnionField", [presence, f"{self._names.tag_type(field.type.ref)}::NONE"]
        if is_scalar_vector(field.type):
            alignment = alignment_name(table, field, self._names.cpp)
            return "VectorField", [presence, f"&Alignments::{alignment}"]
        return "ChildField", [presence]

    def _absent(self, field: Field) -> str:
        """Return what a reader sees if the field is absent, as an expression of its own type."""
        type_ = self._names.scalar(field.type)
        if field.optional:
            return f"{type_}{{}}"
        default = self._names.default(field)
        return default if field.type.kind is TypeKind.ENUM else f"{type_}{{{default}}}"

    def _identifier(self, table: TableDefinition) -> str:
        for root in self._schema.roots:
            if root.table == table.full_name and root.identifier is not None:
                return string_literal(root.identifier)
        return "nullptr"


def _inline_size(field: Field) -> int:
    if field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM):
        assert field.type.scalar is not None
        return field.type.scalar.size
    return 8


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
    for header in ("box.h", "builder.h", "encoder.h", "pack_options.h", "table_schema.h"):
        text = templates.render(f"cpp/{header}.jinja", **fields)
        yield GeneratedFile(f"{directory}/{header}", text)
    for namespace in dict.fromkeys(table.namespace for table in schema.tables):
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
