"""View of `<module>/objects.h`: one plain value type per table, one variant per union."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Field, ScalarKind, Schema, TableDefinition, Type, TypeKind, UnionDefinition
from .cpp_names import SCALAR_TYPES, CppNames
from .cpp_order import used_namespaces
from .cpp_text import comment, filled, float_literal, integer_literal


@dataclass(frozen=True)
class MemberView:
    """A member of a value type, without the semicolon."""

    doc: tuple[str, ...]
    declaration: str


@dataclass(frozen=True)
class StructView:
    """A value type."""

    name: str
    doc: tuple[str, ...]
    fields: tuple[MemberView, ...]


@dataclass(frozen=True)
class UnionView:
    """A union: the whole alias, without the semicolon."""

    doc: tuple[str, ...]
    declaration: str


@dataclass(frozen=True)
class ForwardView:
    """Value types of another module that are mentioned before its header is included."""

    namespace: str
    structs: tuple[str, ...]


@dataclass(frozen=True)
class ObjectsView:
    """Everything that the template of objects.h places."""

    includes: tuple[str, ...]
    late_includes: tuple[str, ...]
    forward: tuple[ForwardView, ...]
    unions: tuple[UnionView, ...]
    structs: tuple[StructView, ...]


class ObjectNames:
    """How the value types and their members are spelled.

    Attributes:
        cpp: The names that all C++ targets share.
    """

    def __init__(self, schema: Schema, cpp: CppNames) -> None:
        """Claim a name for every field of every table, in schema order."""
        self.cpp = cpp
        self._schema = schema
        self._fields = {}
        for table in schema.tables:
            scope = cpp.field_scope(cpp.local_type(table), table.namespace, "objects")
            self._fields[table.full_name] = {f.name: scope.claim(f.name) for f in table.fields}

    def namespace(self, namespace: str) -> str:
        """Spell the namespace of a module's value types, seen from that around the modules."""
        return f"{self.cpp.module(namespace)}::objects"

    def table(self, full_name: str, *, seen_from: str | None = None) -> str:
        """Spell a value type as code in the module of `seen_from`, or in none, must."""
        definition = self._schema.definitions[full_name]
        name = self.cpp.local_type(definition)
        if definition.namespace == seen_from:
            return name
        return f"{self.namespace(definition.namespace)}::{name}"

    def scalar(self, type_: Type, *, seen_from: str | None = None) -> str:
        """Spell the type of a scalar or an enum as code in `seen_from`, or in no module, must."""
        if type_.kind is TypeKind.ENUM:
            assert type_.ref is not None
            definition = self._schema.definitions[type_.ref]
            name = self.cpp.local_type(definition)
            if definition.namespace == seen_from:
                return name
            return f"{self.cpp.module(definition.namespace)}::{name}"
        assert type_.scalar is not None
        return SCALAR_TYPES[type_.scalar]

    def tag_type(self, union: str) -> str:
        """Spell the enum of a union's tags as code in no module must."""
        definition = self._schema.definitions[union]
        return f"{self.cpp.module(definition.namespace)}::{self.cpp.local_type(definition)}"

    def field(self, table: TableDefinition, field: Field) -> str:
        """Spell a member."""
        return self._fields[table.full_name][field.name]

    def default(self, field: Field, *, seen_from: str | None = None) -> str:
        """Return the default of a scalar or an enum as an expression."""
        default = field.default
        assert default is not None
        assert field.type.scalar is not None
        if field.type.kind is TypeKind.ENUM:
            return self._enum_default(field.type, int(default), seen_from)
        if field.type.scalar.is_float:
            return float_literal(float(default), field.type.scalar) or "0.0"
        if field.type.scalar is ScalarKind.BOOL:
            return "true" if default else "false"
        return integer_literal(int(default), field.type.scalar)

    def _enum_default(self, type_: Type, value: int, seen_from: str | None) -> str:
        assert type_.ref is not None
        enum = self._schema.enum(type_.ref)
        name = self.scalar(type_, seen_from=seen_from)
        for member in enum.members:
            if member.value == value:
                return f"{name}::{self.cpp.member(enum.full_name, member.name)}"
        return f"static_cast<{name}>({integer_literal(value, enum.underlying)})"


class ObjectsBuilder:
    """Builds the view of one module's objects.h."""

    def __init__(self, schema: Schema, names: ObjectNames, namespace: str) -> None:
        self._schema = schema
        self._names = names
        self._namespace = namespace

    def build(self) -> ObjectsView:
        """Return the view; it has no structs if the module has no tables."""
        cpp = self._names.cpp
        used = used_namespaces(self._schema, self._namespace)
        with_enums = {item.namespace for item in (*self._schema.enums, *self._schema.unions)}
        with_tables = {table.namespace for table in self._schema.tables}
        others = [other for other in used if other in with_tables]
        return ObjectsView(
            includes=tuple(
                sorted(
                    [f"{cpp.include_prefix}/box.h"]
                    + [
                        cpp.include(other, "enums.h")
                        for other in (self._namespace, *used)
                        if other in with_enums
                    ]
                )
            ),
            late_includes=tuple(cpp.include(other, "objects.h") for other in others),
            forward=tuple(self._forward(other) for other in others),
            unions=tuple(
                self._union(union)
                for union in self._schema.unions
                if union.namespace == self._namespace
            ),
            structs=tuple(
                self._struct(table)
                for table in self._schema.tables
                if table.namespace == self._namespace
            ),
        )

    def _forward(self, namespace: str) -> ForwardView:
        tables = [table for table in self._schema.tables if table.namespace == namespace]
        return ForwardView(
            f"{self._names.cpp.namespace}::{self._names.namespace(namespace)}",
            tuple(self._names.cpp.local_type(table) for table in tables),
        )

    def _union(self, union: UnionDefinition) -> UnionView:
        name = self._names.cpp.local_type(union)
        doc = (*union.doc, "") if union.doc else ()
        return UnionView(
            comment((*doc, "The first alternative stands for an absent union.")),
            filled(f"using {name} = std::variant<", self._alternatives(union), ">"),
        )

    def _alternatives(self, union: UnionDefinition) -> Iterator[str]:
        yield "std::monostate"
        for member in union.members:
            if member.type.kind is not TypeKind.TABLE:
                raise NotImplementedError(
                    f"{member.location}: only tables can be members of a union so far"
                )
            assert member.type.ref is not None
            yield f"Box<{self._names.table(member.type.ref, seen_from=self._namespace)}>"

    def _struct(self, table: TableDefinition) -> StructView:
        return StructView(
            self._names.cpp.local_type(table),
            comment(table.doc),
            tuple(self._member(table, field) for field in table.fields),
        )

    def _member(self, table: TableDefinition, field: Field) -> MemberView:
        name = self._names.field(table, field)
        type_ = self._type(field)
        declaration = f"{type_} {name}"
        if field.type.kind in (TypeKind.SCALAR, TypeKind.ENUM) and not field.optional:
            declaration += f" = {self._names.default(field, seen_from=self._namespace)}"
        doc = field.doc
        if field.is_mandatory and field.type.kind in (TypeKind.TABLE, TypeKind.UNION):
            doc = (*doc, "Always written.")
        return MemberView(comment(doc, indent=2), declaration)

    def _type(self, field: Field) -> str:
        match field.type.kind:
            case TypeKind.SCALAR | TypeKind.ENUM:
                type_ = self._names.scalar(field.type, seen_from=self._namespace)
                return f"std::optional<{type_}>" if field.optional else type_
            case TypeKind.TABLE:
                assert field.type.ref is not None
                return f"Box<{self._names.table(field.type.ref, seen_from=self._namespace)}>"
            case TypeKind.UNION:
                assert field.type.ref is not None
                return self._union_type(self._schema.union(field.type.ref))
            case TypeKind.STRING:
                type_ = "std::string"
            case TypeKind.VECTOR:
                assert field.type.element is not None
                type_ = f"std::vector<{self._element(field.type.element, field)}>"
            case _:
                kind = field.type.kind.value
                raise NotImplementedError(
                    f"{field.location}: a field of kind {kind} cannot be packed yet"
                )
        return type_ if field.is_mandatory else f"std::optional<{type_}>"

    def _union_type(self, union: UnionDefinition) -> str:
        """Spell a union; that of another module in full, because its alias may come later."""
        if union.namespace == self._namespace:
            return self._names.cpp.local_type(union)
        return f"std::variant<{', '.join(self._alternatives(union))}>"

    def _element(self, element: Type, field: Field) -> str:
        match element.kind:
            case TypeKind.SCALAR | TypeKind.ENUM:
                return self._names.scalar(element, seen_from=self._namespace)
            case TypeKind.STRING:
                return "std::string"
            case TypeKind.TABLE:
                assert element.ref is not None
                return self._names.table(element.ref, seen_from=self._namespace)
        raise NotImplementedError(
            f"{field.location}: a vector of {element.kind.value} cannot be packed yet"
        )
