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
)
from .cpp_module import CppModule
from .cpp_names import CppNames
from .cpp_order import has_enums, has_tables
from .cpp_text import string_literal
from .rules import MEANING_RULES, STRUCTURE_RULES, Rule


@dataclass(frozen=True)
class AuditCase:
    """What to do for one member of a union."""

    tag: str
    statement: str


@dataclass(frozen=True)
class CheckView:
    """One statement; with `cases`, the expression that a switch over them asks for."""

    statement: str
    cases: tuple[AuditCase, ...] = ()


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
    """A table and its checks, in the order in which findings are reported."""

    name: str
    checks: tuple[CheckView, ...]


@dataclass(frozen=True)
class AuditView:
    """Everything that the template of a module's audit.h places."""

    includes: tuple[str, ...]
    structs: tuple[StructAuditView, ...]
    tables: tuple[TableAuditView, ...]


def audit_rules() -> tuple[Rule, ...]:
    """Return the rules that an audit reports: those of the codec, and that it was too much work."""
    meanings = [rule for rule in MEANING_RULES if rule.name != "MORE_FINDINGS"]
    budget = [rule for rule in STRUCTURE_RULES if rule.name == "BUDGET_EXCEEDED"]
    return (*meanings, *budget)


def audit_view(schema: Schema, names: CppNames, namespace: str) -> AuditView:
    """Return the view of one namespace; it has no tables if the namespace has none."""
    return _AuditBuilder(schema, names, namespace).build()


class _AuditBuilder:
    def __init__(self, schema: Schema, names: CppNames, namespace: str) -> None:
        self._module = CppModule(schema, names, namespace)
        self._schema = schema
        self._names = names
        self._used = {namespace}

    def build(self) -> AuditView:
        structs = tuple(
            self._struct(struct)
            for struct in self._schema.structs
            if struct.namespace == self._module.namespace and self._has_enum(struct)
        )
        tables = tuple(
            TableAuditView(self._names.local_type(table), tuple(self._table_checks(table)))
            for table in self._schema.tables
            if table.namespace == self._module.namespace
        )
        return AuditView(tuple(sorted(self._includes())), structs, tables)

    def _includes(self) -> Iterator[str]:
        own = self._module.namespace
        yield f"{self._names.include_prefix}/audit.h"
        for namespace in self._used:
            if namespace != own and has_tables(self._schema, namespace):
                yield self._names.include(namespace, "audit.h")
            if has_enums(self._schema, namespace):
                yield self._names.include(namespace, "enums.h")
        if has_tables(self._schema, own):
            yield self._names.include(own, "views.h")

    def _table_checks(self, table: TableDefinition) -> Iterator[CheckView]:
        known = 1 + max((field.id for field in table.fields), default=-1)
        yield CheckView(f"wire::audit_slots(table, {known});")
        for field in table.fields:
            if field.deprecated:
                continue
            place = f"table, {string_literal(field.name)}, {field.offset}"
            if field.present:
                yield CheckView(f"wire::audit_present({place});")
            yield from self._field_checks(field, place)

    def _field_checks(self, field: Field, place: str) -> Iterator[CheckView]:
        match field.type.kind:
            case TypeKind.ENUM:
                enum, text = self._enum(field.type)
                yield CheckView(f"wire::audit_enum<{enum}>({place}, {text});")
            case TypeKind.TABLE:
                yield CheckView(f"wire::audit_table<{self._type(field.type)}>({place});")
            case TypeKind.STRUCT if self._has_enum(self._struct_of(field.type)):
                yield CheckView(f"wire::audit_struct<{self._type(field.type)}>({place});")
            case TypeKind.UNION:
                yield self._union_check(field, self._schema.union(_reference(field.type)))
            case TypeKind.VECTOR:
                assert field.type.element is not None
                yield from self._vector_checks(field.type.element, place)
            case _:
                pass

    def _vector_checks(self, element: Type, place: str) -> Iterator[CheckView]:
        match element.kind:
            case TypeKind.ENUM:
                enum, text = self._enum(element)
                yield CheckView(f"wire::audit_enums<{enum}>({place}, {text});")
            case TypeKind.TABLE:
                yield CheckView(f"wire::audit_tables<{self._type(element)}>({place});")
            case TypeKind.STRUCT if self._has_enum(self._struct_of(element)):
                yield CheckView(f"wire::audit_structs<{self._type(element)}>({place});")
            case _:
                pass

    def _union_check(self, field: Field, union: UnionDefinition) -> CheckView:
        name = string_literal(field.name)
        tag_type = self._type(field.type)
        tag = f"table, {name}, {field.offset - 2}, {string_literal(union.name)}"
        cases = tuple(
            AuditCase(
                f"{tag_type}::{self._names.member(union.full_name, member.name)}",
                f"wire::audit_table<{self._type(member.type)}>(table, {name}, {field.offset});",
            )
            for member in union.members
            if member.type.kind is TypeKind.TABLE
        )
        expression = f"wire::audit_tag<{tag_type}>({tag})"
        return CheckView(expression if cases else f"{expression};", cases)

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
        if type_.kind is TypeKind.ENUM:
            enum, text = self._enum(type_)
            check = f"wire::audit_enum_at<{enum}>({position}, {text}, {path}, run);"
            yield InlineCheckView(check, count)
        elif type_.kind is TypeKind.STRUCT and self._has_enum(self._struct_of(type_)):
            yield InlineCheckView(f"audit({self._type(type_)}({position}), {path}, run);", count)

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
