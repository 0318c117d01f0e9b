"""Where a table stands in a file: the shortest way to it, and what lies on that way."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...model import (
    Field,
    ScalarKind,
    Schema,
    TableDefinition,
    Type,
    TypeKind,
    UnionMember,
)
from .identity import Identity
from .values import Values
from .wire import Slots

__all__ = ["HOLDER", "Place", "Step", "places", "type_of", "with_holder"]

HOLDER = "PlacewireWitness"
"""Name of a table that holds what nothing else in a schema holds."""


@dataclass(frozen=True)
class Step:
    """From a table to one inside it.

    Attributes:
        table: Full name of the outer table.
        field: What leads to the inner one.
        member: The union member that the inner one is, if the field holds a union.
    """

    table: str
    field: Field
    member: UnionMember | None

    @property
    def is_vector(self) -> bool:
        return self.field.type.kind is TypeKind.VECTOR


@dataclass(frozen=True)
class Place:
    """A table in a file.

    Attributes:
        root: Full name of the table that the file begins with.
        steps: The way from there.
        table: Full name of the table at its end.
    """

    root: str
    steps: tuple[Step, ...]
    table: str

    @property
    def slots(self) -> Slots:
        return [(step.field.id, step.is_vector) for step in self.steps]

    def value(self, values: Values, fields: dict[int, Any]) -> Any:
        """Return the value of the root, with `fields` in the table at the end."""
        inner = values.table(self.table, fields)
        for step in reversed(self.steps):
            if step.member is not None:
                inner = {"tag": step.member.tag, "value": inner}
            if step.is_vector:
                inner = {"items": [inner]}
            inner = values.table(step.table, {step.field.id: inner})
        return inner

    def path(self, identity: Identity | None = None) -> str:
        """Spell the way; by the reader's names if `identity` is given."""
        names = []
        for step in self.steps:
            other = None if identity is None else identity.counterpart(step.table, step.field)
            index = "[0]" if step.is_vector else ""
            names.append(f"{(other or step.field).name}{index}")
        return ".".join(names)


def places(schema: Schema, table: str) -> Iterator[Place]:
    """Yield where a table stands: below a root of the schema if one has it, then alone."""
    for root in schema.roots:
        place = _below(schema, root.table, table)
        if place is not None:
            yield place
            break
    if all(root.table != table for root in schema.roots):
        yield Place(table, (), table)


def _below(schema: Schema, root: str, table: str) -> Place | None:
    seen = {root}
    pending = deque([Place(root, (), root)])
    while pending:
        place = pending.popleft()
        if place.table == table:
            return place
        for step, inner in _steps(schema, schema.table(place.table)):
            if inner not in seen:
                seen.add(inner)
                pending.append(Place(root, (*place.steps, step), inner))
    return None


def _steps(schema: Schema, table: TableDefinition) -> Iterator[tuple[Step, str]]:
    for field in table.fields:
        inner = field.type.element or field.type
        if field.deprecated or inner.ref is None:
            continue
        if inner.kind is TypeKind.TABLE:
            yield Step(table.full_name, field, None), inner.ref
        elif inner.kind is TypeKind.UNION:
            for member in schema.union(inner.ref).members:
                if member.type.kind is TypeKind.TABLE and member.type.ref is not None:
                    yield Step(table.full_name, field, member), member.type.ref


def with_holder(schema: Schema, number: int, type_: Type) -> Schema:
    """Return the schema with one more table, which holds a value and a vector of a type."""
    location = schema.definitions[type_.ref or ""].location
    width = 2 if type_.kind is TypeKind.UNION else 1
    fields = tuple(
        Field(
            name=name,
            type=field_type,
            id=width * count - 1,
            offset=4 + 2 * (width * count - 1),
            location=location,
            optional=field_type.kind is TypeKind.ENUM,
        )
        for count, (name, field_type) in enumerate(
            (("value", type_), ("values", Type(kind=TypeKind.VECTOR, element=type_))), 1
        )
    )
    holder = TableDefinition(
        name=f"{HOLDER}{number}", namespace="", location=location, fields=fields
    )
    return Schema(
        files=schema.files,
        enums=schema.enums,
        unions=schema.unions,
        structs=schema.structs,
        tables=(*schema.tables, holder),
        roots=schema.roots,
        services=schema.services,
        sources=schema.sources,
    )


def type_of(schema: Schema, name: str) -> Type:
    """Return the type of fields that hold what a definition defines."""
    definition = schema.definitions[name]
    kind = TypeKind(type(definition).__name__.removesuffix("Definition").lower())
    scalar: ScalarKind | None = getattr(definition, "underlying", None)
    return Type(kind=kind, ref=name, scalar=scalar)
