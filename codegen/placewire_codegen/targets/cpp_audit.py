"""View of `<module>/audit.h`: what a verified buffer must still be asked before it is trusted."""

from __future__ import annotations

from collections.abc import Iterator
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
from .cpp_module import ModuleBuilder
from .cpp_names import CppNames
from .cpp_order import has_classes, has_enums
from .cpp_text import filled, string_literal
from .rules import MEANING_RULES, STRUCTURE_RULES, Rule


@dataclass(frozen=True)
class AuditCase:
    """A member of a union that can hold an unknown value: its enumerator and its view."""

    tag: str
    view: str


@dataclass(frozen=True)
class UnionAuditView:
    """A union, by the enum of its tags."""

    name: str
    cases: tuple[AuditCase, ...]


@dataclass(frozen=True)
class InlineCheckView:
    """One statement about a field of a struct; with `count`, about each element of an array."""

    statement: str
    count: int


@dataclass(frozen=True)
class StructAuditView:
    """A struct that holds an enum, itself or in a struct inside it."""

    name: str
    checks: tuple[InlineCheckView, ...]


@dataclass(frozen=True)
class TableAuditView:
    """A table and its checks, whole statements in the order in which findings are reported."""

    name: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class AuditView:
    """Everything that the template of a module's audit.h places."""

    includes: tuple[str, ...]
    structs: tuple[StructAuditView, ...]
    unions: tuple[UnionAuditView, ...]
    tables: tuple[TableAuditView, ...]


def audit_rules() -> tuple[Rule, ...]:
    """Return the rules that an audit reports: those of the codec, and that it was too much work."""
    meanings = [rule for rule in MEANING_RULES if rule.name != "MORE_FINDINGS"]
    budget = [rule for rule in STRUCTURE_RULES if rule.name == "BUDGET_EXCEEDED"]
    return (*meanings, *budget)


def audit_view(schema: Schema, names: CppNames, namespace: str) -> AuditView:
    """Return the view of one namespace; it is empty if the namespace has nothing to audit."""
    return _AuditBuilder(schema, names, namespace).build()


class _AuditBuilder(ModuleBuilder):
    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        super().__init__(schema, names, namespace)
        self._used = {namespace}

    def build(self) -> AuditView:
        structs = tuple(
            self._struct(struct)
            for struct in self._schema.structs
            if struct.namespace == self._module.namespace and self._has_enum(struct)
        )
        unions = tuple(
            self._union(union)
            for union in self._schema.unions
            if union.namespace == self._module.namespace
        )
        tables = tuple(
            TableAuditView(self._names.local_type(table), tuple(self._table_checks(table)))
            for table in self._schema.tables
            if table.namespace == self._module.namespace
        )
        return AuditView(tuple(sorted(self._includes())), structs, unions, tables)

    def _includes(self) -> Iterator[str]:
        own = self._module.namespace
        yield f"{self._names.include_prefix}/audit.h"
        for namespace in self._used:
            if namespace != own and self._is_audited(namespace):
                yield self._names.include(namespace, "audit.h")
            if has_enums(self._schema, namespace):
                yield self._names.include(namespace, "enums.h")
        if has_classes(self._schema, own):
            yield self._names.include(own, "views.h")

    def _is_audited(self, namespace: str) -> bool:
        """Whether a namespace has a header of this kind."""
        structs = (struct for struct in self._schema.structs if self._has_enum(struct))
        audited = (*structs, *self._schema.unions, *self._schema.tables)
        return any(definition.namespace == namespace for definition in audited)

    def _table_checks(self, table: TableDefinition) -> Iterator[str]:
        known = 1 + max((field.id for field in table.fields), default=-1)
        yield f"wire::audit_slots(table, {known});"
        for field in table.fields:
            place = f"table, {string_literal(field.name)}, {field.offset}"
            if field.present:
                yield f"wire::audit_present({place});"
            yield from self._field_checks(field.type, place)

    def _field_checks(self, type_: Type, place: str) -> Iterator[str]:
        """Yield the check of a field; `s` at the end of a name is for a vector of such values."""
        value, s = (type_, "") if type_.element is None else (type_.element, "s")
        match value.kind:
            case TypeKind.ENUM:
                enum, text = self._enum(value)
                yield f"wire::audit_enum{s}<{enum}>({place}, {text});"
            case TypeKind.TABLE:
                yield f"wire::audit_table{s}<{self._type(value)}>({place});"
            case TypeKind.STRUCT if self._has_enum(self._struct_of(value)):
                yield f"wire::audit_struct{s}<{self._type(value)}>({place});"
            case TypeKind.UNION:
                text = string_literal(self._schema.union(_reference(value)).name)
                yield f"wire::audit_union{s}<{self._type(value)}>({place}, {text});"
            case _:
                pass

    def _union(self, union: UnionDefinition) -> UnionAuditView:
        return UnionAuditView(
            self._names.local_type(union),
            tuple(
                AuditCase(self._names.member(union.full_name, member.name), self._type(member.type))
                for member in union.members
                if self._is_audited_member(member)
            ),
        )

    def _is_audited_member(self, member: UnionMember) -> bool:
        if member.type.kind is TypeKind.STRUCT:
            return self._has_enum(self._struct_of(member.type))
        return member.type.kind is TypeKind.TABLE

    def _struct(self, struct: StructDefinition) -> StructAuditView:
        return StructAuditView(
            self._names.local_type(struct),
            tuple(check for field in struct.fields for check in self._struct_checks(field)),
        )

    def _struct_checks(self, field: Field) -> Iterator[InlineCheckView]:
        type_, position = field.type, f"position + {field.offset}"
        count = 0
        path = f"Path(path, {string_literal(field.name)})"
        if type_.kind is TypeKind.ARRAY:
            assert type_.element is not None
            assert type_.length is not None
            count = type_.length
            type_ = type_.element
            position += f" + index * {self._inline_size(type_)}"
            path = f"Path(path, {string_literal(field.name)}, index)"
        indent = 4 if count else 2
        if type_.kind is TypeKind.ENUM:
            enum, text = self._enum(type_)
            start, arguments = f"wire::audit_enum_at<{enum}>(", [position, text, path, "run"]
        elif type_.kind is TypeKind.STRUCT and self._has_enum(self._struct_of(type_)):
            start, arguments = "audit(", [f"{self._type(type_)}({position})", path, "run"]
        else:
            return
        yield InlineCheckView(filled(start, arguments, ");", indent=indent).lstrip(), count)

    def _inline_size(self, type_: Type) -> int:
        if type_.kind is TypeKind.STRUCT:
            return self._struct_of(type_).size
        assert type_.scalar is not None
        return type_.scalar.size

    def _has_enum(self, struct: StructDefinition) -> bool:
        """Whether a struct, or one inside it, has a field that can hold an unknown value."""
        for field in struct.fields:
            type_ = field.type.element or field.type
            if type_.kind is TypeKind.ENUM:
                return True
            if type_.kind is TypeKind.STRUCT and self._has_enum(self._struct_of(type_)):
                return True
        return False

    def _struct_of(self, type_: Type) -> StructDefinition:
        return self._schema.struct(_reference(type_))

    def _type(self, type_: Type) -> str:
        full_name = _reference(type_)
        self._used.add(self._schema.definitions[full_name].namespace)
        return self._module.reference(type_)

    def _enum(self, type_: Type) -> tuple[str, str]:
        """Return an enum as C++ spells it, and its name in findings as a literal."""
        name = self._schema.enum(_reference(type_)).name
        return self._type(type_), string_literal(name)


def _reference(type_: Type) -> str:
    assert type_.ref is not None
    return type_.ref
