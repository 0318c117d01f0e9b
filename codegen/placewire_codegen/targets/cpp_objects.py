"""View of `<module>/objects.h`: one plain value type per table, one variant per union.

The value types of structs, and of members of unions that are strings or structs under an alias, are
in one header for all modules, structs.h: a variant or an optional needs them complete, and modules
may need each other's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ..model import (
    Field,
    ScalarKind,
    Schema,
    StructDefinition,
    TableDefinition,
    Type,
    TypeKind,
    UnionDefinition,
    UnionMember,
)
from ..names import NameScope
from .cpp_names import SCALAR_TYPES, CppNames
from .cpp_order import has_classes, has_enums, used_namespaces
from .cpp_text import comment, filled, float_literal, integer_literal
from .cpp_view_class import text_default, union_of


@dataclass(frozen=True)
class MemberView:
    """A member of a value type, without the semicolon."""

    doc: tuple[str, ...]
    declaration: str


@dataclass(frozen=True)
class StructView:
    """A value type. `base` is the type that an alias stands for, with a colon in front."""

    name: str
    doc: tuple[str, ...]
    fields: tuple[MemberView, ...]
    base: str = ""


@dataclass(frozen=True)
class StructGroupView:
    """Value types of structs that follow each other in one namespace."""

    namespace: str
    structs: tuple[StructView, ...]


@dataclass(frozen=True)
class UnionView:
    """A union: the whole alias, without the semicolon."""

    doc: tuple[str, ...]
    declaration: str


@dataclass(frozen=True)
class ForwardView:
    """Value types of another module that are mentioned before its header is included.

    Attributes:
        unions: Its unions that this module has fields of: whole aliases, without the semicolon.
    """

    namespace: str
    structs: tuple[str, ...]
    unions: tuple[str, ...]


@dataclass(frozen=True)
class ObjectsView:
    """Everything that the template of objects.h places.

    Attributes:
        declared: Names of the value types of tables.
        aliases: Types that stand for tables in a union; behind everything, for what they stand for
            may be of another module.
    """

    includes: tuple[str, ...]
    late_includes: tuple[str, ...]
    forward: tuple[ForwardView, ...]
    declared: tuple[str, ...]
    unions: tuple[UnionView, ...]
    structs: tuple[StructView, ...]
    aliases: tuple[StructView, ...]


class ObjectNames:
    """How the value types and their members are spelled.

    Attributes:
        cpp: The names that all C++ targets share.
    """

    def __init__(self, schema: Schema, cpp: CppNames) -> None:
        """Claim a name for every field, and for members of unions, in schema order."""
        self.cpp = cpp
        self._schema = schema
        self._fields = {}
        definitions: tuple[StructDefinition | TableDefinition, ...] = (
            *schema.structs,
            *schema.tables,
        )
        for definition in definitions:
            scope = cpp.field_scope(cpp.local_type(definition), definition.namespace, "objects")
            names = {field.name: scope.claim(field.name) for field in definition.fields}
            self._fields[definition.full_name] = names
        scopes = {
            namespace: NameScope(cpp.attribute_scope(namespace)) for namespace in schema.namespaces
        }
        self._member_classes = {
            (union.full_name, member.tag): scopes[union.namespace].claim(member.name)
            for union in sorted(schema.unions, key=lambda union: union.full_name)
            for member in union.members
            if schema.has_own_name(member)
        }

    def member_class(self, union: UnionDefinition, member: UnionMember) -> str | None:
        """Spell the type that a member has for itself as code in its module must, if it has one."""
        return self._member_classes.get((union.full_name, member.tag))

    def alternative(
        self, union: UnionDefinition, member: UnionMember, *, seen_from: str | None = None
    ) -> str:
        """Spell the value type of a member as code in the module of `seen_from`, or none, must."""
        name = self.member_class(union, member)
        if name is None:
            assert member.type.ref is not None
            return self.table(member.type.ref, seen_from=seen_from)
        if union.namespace == seen_from:
            return name
        return f"{self.namespace(union.namespace)}::{name}"

    def namespace(self, namespace: str) -> str:
        """Spell the namespace of a module's value types, seen from that around the modules."""
        return f"{self.cpp.module(namespace)}::objects"

    def table(self, full_name: str, *, seen_from: str | None = None) -> str:
        """Spell the value type of a definition as code in the module `seen_from`, or none, must."""
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

    def field(self, table: TableDefinition | StructDefinition, field: Field) -> str:
        """Spell a member."""
        return self._fields[table.full_name][field.name]

    def default(self, field: Field, *, seen_from: str | None = None) -> str:
        """Return the default of a scalar or an enum as an expression."""
        default = field.default
        assert default is not None
        return self.literal(field.type, default, seen_from=seen_from)

    def literal(self, type_: Type, value: int | float, *, seen_from: str | None = None) -> str:
        """Return a scalar or an enum as an expression."""
        assert type_.scalar is not None
        if type_.kind is TypeKind.ENUM:
            return self._enum_default(type_, int(value), seen_from)
        if type_.scalar.is_float:
            return float_literal(float(value), type_.scalar) or "0.0"
        if type_.scalar is ScalarKind.BOOL:
            return "true" if value else "false"
        return integer_literal(int(value), type_.scalar)

    def value(self, type_: Type, *, seen_from: str | None = None) -> str:
        """Spell what is stored in place: a scalar, an enum or a struct."""
        if type_.kind is TypeKind.STRUCT:
            assert type_.ref is not None
            return self.table(type_.ref, seen_from=seen_from)
        return self.scalar(type_, seen_from=seen_from)

    def _enum_default(self, type_: Type, value: int, seen_from: str | None) -> str:
        assert type_.ref is not None
        enum = self._schema.enum(type_.ref)
        name = self.scalar(type_, seen_from=seen_from)
        for member in enum.members:
            if member.value == value:
                return f"{name}::{self.cpp.member(enum.full_name, member.name)}"
        return f"static_cast<{name}>({integer_literal(value, enum.underlying)})"


def struct_groups(schema: Schema, names: ObjectNames) -> Iterator[StructGroupView]:
    """Yield all that structs.h holds, each value type behind those that it needs."""
    made = [
        *((struct.namespace, _struct_view(names, struct)) for struct in schema.structs),
        *(
            (union.namespace, _member_view(names, union, member))
            for union in schema.unions
            for member in union.members
            if member.type.kind is not TypeKind.TABLE and names.member_class(union, member)
        ),
    ]
    for namespace, group in groupby(made, key=lambda item: item[0]):
        full_name = f"{names.cpp.namespace}::{names.namespace(namespace)}"
        yield StructGroupView(full_name, tuple(view for _, view in group))


def _struct_view(names: ObjectNames, struct: StructDefinition) -> StructView:
    return StructView(
        names.cpp.local_type(struct),
        comment(struct.doc),
        tuple(
            MemberView(
                comment(field.doc, indent=2),
                _struct_member(names, field.type, names.field(struct, field), struct.namespace),
            )
            for field in struct.fields
        ),
    )


def _struct_member(names: ObjectNames, type_: Type, name: str, namespace: str) -> str:
    match type_.kind:
        case TypeKind.ARRAY:
            assert type_.element is not None
            element = names.value(type_.element, seen_from=namespace)
            return f"std::array<{element}, {type_.length}> {name}{{}}"
        case TypeKind.STRUCT:
            return f"{names.value(type_, seen_from=namespace)} {name}"
    zero = names.literal(type_, 0, seen_from=namespace)
    return f"{names.scalar(type_, seen_from=namespace)} {name} = {zero}"


def _member_view(names: ObjectNames, union: UnionDefinition, member: UnionMember) -> StructView:
    """Return the type that stands for a member of a union which goes by a name of its own."""
    name = names.member_class(union, member) or ""
    doc = comment(member.doc or (f"The member `{member.name}` of the union `{union.name}`.",))
    if member.type.ref is None:
        return StructView(name, doc, (MemberView((), "std::string value"),))
    base = names.table(member.type.ref, seen_from=union.namespace)
    return StructView(name, doc, (), f" : {base}")


class ObjectsBuilder:
    """Builds the view of one module's objects.h."""

    def __init__(self, schema: Schema, names: ObjectNames, namespace: str) -> None:
        self._schema = schema
        self._names = names
        self._namespace = namespace

    def build(self) -> ObjectsView:
        """Return the view."""
        cpp = self._names.cpp
        used = used_namespaces(self._schema, self._namespace)
        others = [other for other in used if has_classes(self._schema, other)]
        includes = [f"{cpp.include_prefix}/box.h"]
        if any(struct_groups(self._schema, self._names)):
            includes.append(f"{cpp.include_prefix}/structs.h")
        includes += [
            cpp.include(other, "enums.h")
            for other in (self._namespace, *used)
            if has_enums(self._schema, other)
        ]
        tables = [table for table in self._schema.tables if table.namespace == self._namespace]
        unions = [union for union in self._schema.unions if union.namespace == self._namespace]
        aliases = [
            _member_view(self._names, union, member)
            for union in unions
            for member in union.members
            if member.type.kind is TypeKind.TABLE and self._names.member_class(union, member)
        ]
        forward = [self._forward(other) for other in others]
        declared = self._table_types(self._namespace)
        if any(group.unions for group in forward):
            # They may have tables of this module as members.
            name = f"{cpp.namespace}::{self._names.namespace(self._namespace)}"
            forward.append(ForwardView(name, declared, ()))
            declared = ()
        return ObjectsView(
            includes=tuple(sorted(includes)),
            late_includes=tuple(cpp.include(other, "objects.h") for other in others),
            forward=tuple(forward),
            declared=declared,
            unions=tuple(self._union(union) for union in unions),
            structs=tuple(self._struct(table) for table in tables),
            aliases=tuple(aliases),
        )

    def _forward(self, namespace: str) -> ForwardView:
        full_name = f"{self._names.cpp.namespace}::{self._names.namespace(namespace)}"
        unions = (
            self._alias(union)
            for union in self._schema.unions
            if union.namespace == namespace and self._has_field_of(union)
        )
        return ForwardView(full_name, self._table_types(namespace), tuple(unions))

    def _has_field_of(self, union: UnionDefinition) -> bool:
        """Whether a table of this module has a field of the union, or a vector of it."""
        return any(
            union_of(field.type) == union.full_name
            for table in self._schema.tables
            if table.namespace == self._namespace
            for field in table.fields
        )

    def _table_types(self, namespace: str) -> tuple[str, ...]:
        """Return the value types of the tables of a module, those under an alias, too."""
        aliases = (
            self._names.member_class(union, member)
            for union in self._schema.unions
            for member in union.members
            if union.namespace == namespace and member.type.kind is TypeKind.TABLE
        )
        tables = (table for table in self._schema.tables if table.namespace == namespace)
        return (
            *(self._names.cpp.local_type(table) for table in tables),
            *(name for name in aliases if name is not None),
        )

    def _union(self, union: UnionDefinition) -> UnionView:
        doc = (*union.doc, "") if union.doc else ()
        return UnionView(
            comment((*doc, "The first alternative stands for an absent union.")), self._alias(union)
        )

    def _alias(self, union: UnionDefinition) -> str:
        """Return a union as its own module declares it."""
        name = self._names.cpp.local_type(union)
        return filled(f"using {name} = std::variant<", self._alternatives(union), ">")

    def _alternatives(self, union: UnionDefinition) -> Iterator[str]:
        yield "std::monostate"
        for member in union.members:
            type_ = self._names.alternative(union, member, seen_from=union.namespace)
            yield f"Box<{type_}>" if member.type.kind is TypeKind.TABLE else type_

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
        elif text := text_default(field):
            declaration += f" = {text}"
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
                return self._names.table(field.type.ref, seen_from=self._namespace)
            case TypeKind.STRING:
                type_ = "std::string"
            case TypeKind.STRUCT:
                type_ = self._names.value(field.type, seen_from=self._namespace)
            case _:
                assert field.type.element is not None
                type_ = f"std::vector<{self._element(field.type.element)}>"
        is_always_there = field.is_mandatory or field.reads_default
        return type_ if is_always_there else f"std::optional<{type_}>"

    def _element(self, element: Type) -> str:
        match element.kind:
            case TypeKind.STRING:
                return "std::string"
            case TypeKind.TABLE | TypeKind.UNION:
                assert element.ref is not None
                return self._names.table(element.ref, seen_from=self._namespace)
        return self._names.value(element, seen_from=self._namespace)
