"""Tables that no writer can finish: they hold themselves in fields that are always there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from . import syntax
from .attributes import attribute_place
from .diagnostics import Note, Span
from .model import Field, TableDefinition, Type, TypeKind, UnionDefinition
from .scope import Context


class DeclaredTable(NamedTuple):
    """A table with the place of its declaration."""

    definition: TableDefinition
    node: syntax.TableNode
    context: Context

    def span(self, field: Field) -> Span:
        """Where it is said that `field` is always there."""
        node = next(node for node in self.node.fields if node.name.text == field.name)
        attribute = "present" if field.present else "required"
        if attribute not in field.attributes:  # a string that is a key
            return self.context.tree.span(node.name)
        return self.context.tree.span(attribute_place(attribute, node.attributes))


def finite_tables(
    tables: Iterable[TableDefinition], unions: Mapping[str, UnionDefinition]
) -> dict[str, int]:
    """Return the tables that have a value with all their `present` and `required` fields.

    A vector can be empty, and a union needs one member that has a value. The number is how deep the
    shallowest such value nests, from 0.
    """
    pending = {table.full_name: table for table in tables}
    finite: dict[str, int] = {}
    depth = 0
    while True:
        found = {
            name
            for name, table in pending.items()
            if all(
                any(_is_finite(type_, finite) for type_ in alternatives(field.type, unions))
                for field in table.fields
                if field.is_mandatory
            )
        }
        if not found:
            return finite
        finite.update(dict.fromkeys(found, depth))
        depth += 1
        for name in found:
            del pending[name]


def alternatives(type_: Type, unions: Mapping[str, UnionDefinition]) -> Sequence[Type]:
    """Return the types of a union's members, or the type itself if it is no union."""
    union = unions.get(type_.ref or "")
    if type_.kind is not TypeKind.UNION or union is None:
        return (type_,)
    return [member.type for member in union.members]


def _is_finite(type_: Type, finite: Mapping[str, int]) -> bool:
    return type_.kind is not TypeKind.TABLE or type_.ref in finite


def check_presence(
    tables: Mapping[str, DeclaredTable], unions: Mapping[str, UnionDefinition]
) -> None:
    """Report each circle of tables that need each other.

    flatc accepts `required` in such a circle, so one without `present` is accepted, too.
    """
    finite = finite_tables((table.definition for table in tables.values()), unions)
    reported: set[str] = set()
    for name in tables:
        if name not in finite and name not in reported:
            circle = _circle(name, tables, unions, finite)
            is_new = reported.isdisjoint(table.definition.full_name for table, _ in circle)
            if is_new and any(field.present for _, field in circle):
                _report(circle)
            reported |= {name, *(table.definition.full_name for table, _ in circle)}


def _circle(
    start: str,
    tables: Mapping[str, DeclaredTable],
    unions: Mapping[str, UnionDefinition],
    finite: Mapping[str, int],
) -> list[tuple[DeclaredTable, Field]]:
    """Return the tables of a circle that `start` leads to, with the fields that make it one."""
    steps: dict[str, tuple[DeclaredTable, Field]] = {}
    name = start
    while name not in steps:
        table = tables[name]
        field, target = next(_endless(table.definition, unions, finite))
        steps[name] = table, field
        name = target
    names = list(steps)
    return [steps[each] for each in names[names.index(name) :]]


def _endless(
    table: TableDefinition, unions: Mapping[str, UnionDefinition], finite: Mapping[str, int]
) -> Iterator[tuple[Field, str]]:
    """Yield the fields of `table` that have no value, and a table that is the reason.

    Those with `present` come first.
    """
    for field in sorted(table.fields, key=lambda field: not field.present):
        types = alternatives(field.type, unions)
        if field.is_mandatory and not any(_is_finite(type_, finite) for type_ in types):
            yield field, types[0].ref or ""


def _report(circle: Sequence[tuple[DeclaredTable, Field]]) -> None:
    start = next(index for index, (_, field) in enumerate(circle) if field.present)
    (first, field), *rest = *circle[start:], *circle[:start]
    name = first.definition.name
    through = "" if not rest else f" through `{rest[0][0].definition.name}`"
    first.context.diagnostics.error(
        first.span(field),
        f"`present` makes every `{name}` hold another `{name}`{through}, without end",
        hint="let the field be absent, or make it a vector",
        notes=[
            Note(f"`{table.definition.name}` goes on here", table.span(each))
            for table, each in rest
        ],
    )
