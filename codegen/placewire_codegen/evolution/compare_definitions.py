"""Two types of one kind, whatever their names are."""

from __future__ import annotations

from ..model import (
    AnyDefinition,
    EnumDefinition,
    StructDefinition,
    TableDefinition,
    UnionDefinition,
)
from .compare_attributes import compare_attributes
from .compare_enums import compare_enums
from .compare_structs import compare_structs
from .compare_tables import compare_tables
from .compare_unions import compare_unions
from .comparison import Comparison

__all__ = ["compare_definitions", "kind_of"]

_KINDS = {
    EnumDefinition: "an enum",
    StructDefinition: "a struct",
    TableDefinition: "a table",
    UnionDefinition: "a union",
}


def kind_of(definition: AnyDefinition) -> str:
    """Return what a definition is, with its article."""
    return _KINDS[type(definition)]


def compare_definitions(base: AnyDefinition, head: AnyDefinition, comparison: Comparison) -> None:
    """Report what has changed between two definitions, apart from their names."""
    if isinstance(base, TableDefinition) and isinstance(head, TableDefinition):
        compare_tables(base, head, comparison)
    elif isinstance(base, StructDefinition) and isinstance(head, StructDefinition):
        compare_structs(base, head, comparison)
    elif isinstance(base, EnumDefinition) and isinstance(head, EnumDefinition):
        compare_enums(base, head, comparison)
    elif isinstance(base, UnionDefinition) and isinstance(head, UnionDefinition):
        compare_unions(base, head, comparison)
    else:
        comparison.add(
            "TYPE_SAME_KIND",
            head.full_name,
            f"is {kind_of(head)}, was {kind_of(base)}",
            base=base.location,
            head=head.location,
        )
        return
    compare_attributes(base, head, head.full_name, comparison)
