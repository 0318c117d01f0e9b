"""Two tables: which field of the one is which of the other, slot by slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from ..model import Field, StructDefinition, TableDefinition
from .compare_fields import FieldPair
from .comparison import Comparison, spelled
from .declared_order import stands_in_place
from .rules import Affected

__all__ = ["Pairs", "compare_tables", "pair_fields"]

_Definition = TypeVar("_Definition", TableDefinition, StructDefinition)


@dataclass(frozen=True)
class Pairs(Generic[_Definition]):
    """The fields of two tables or structs.

    Attributes:
        same: In BASE and HEAD under one name.
        renamed: In the same place under another name, which the other side does not have.
        gone: Only in BASE.
        new: Only in HEAD.
    """

    same: tuple[tuple[Field, Field], ...]
    renamed: tuple[tuple[Field, Field], ...]
    gone: tuple[Field, ...]
    new: tuple[Field, ...]


def pair_fields(base: _Definition, head: _Definition) -> Pairs[_Definition]:
    """Find out which field of BASE is which of HEAD: by name, else by place.

    The place of a field is its offset: that of the slot in a vtable, or that of the bytes.
    """
    old = {field.name: field for field in base.fields}
    new = {field.name: field for field in head.fields}
    same = tuple((field, new[name]) for name, field in old.items() if name in new)
    left = {field.offset: field for name, field in old.items() if name not in new}
    come = {field.offset: field for name, field in new.items() if name not in old}
    renamed = tuple((left[offset], come[offset]) for offset in left if offset in come)
    return Pairs(
        same,
        renamed,
        tuple(field for offset, field in left.items() if offset not in come),
        tuple(field for offset, field in come.items() if offset not in left),
    )


def compare_tables(base: TableDefinition, head: TableDefinition, comparison: Comparison) -> None:
    """Report what has changed between two tables, apart from their names."""
    pairs = pair_fields(base, head)
    for old, new in pairs.same:
        pair = FieldPair(old, new, f"{head.full_name}.{new.name}", comparison)
        if old.id != new.id:
            pair.report("FIELD_SAME_SLOT", f"slot is {new.id}, was {old.id}")
        pair.compare_in_table()
    for old, new in pairs.renamed:
        pair = FieldPair(old, new, f"{head.full_name}.{new.name}", comparison)
        _report_other_name(pair, base, head)
        pair.compare_in_table()
    for old in pairs.gone:
        comparison.add(
            "FIELD_NO_DELETE",
            f"{head.full_name}.{old.name}",
            f"is gone; slot {old.id} held {spelled(old.type)}",
            base=old.location,
            head=head.location,
        )
    for new in pairs.new:
        _report_new(new, base, head, comparison)


def _report_other_name(pair: FieldPair, base: TableDefinition, head: TableDefinition) -> None:
    old, new = pair.base, pair.head
    is_in_place = stands_in_place(
        old.name,
        {field.name: field.location for field in base.fields},
        new.name,
        {field.name: field.location for field in head.fields},
    )
    if old.deprecated and not new.deprecated:
        pair.report("FIELD_NO_REUSE", f"takes slot {old.id} of `{old.name}`, which was deprecated")
    elif is_in_place:
        pair.report("FIELD_SAME_NAME", f"was called `{old.name}`; slot {old.id} is the same")
    else:
        pair.report("FIELD_NO_REUSE", f"takes slot {old.id} of `{old.name}`, which is gone")


def _report_new(
    new: Field, base: TableDefinition, head: TableDefinition, comparison: Comparison
) -> None:
    path = f"{head.full_name}.{new.name}"
    if new.required and not new.deprecated:
        comparison.add(
            "FIELD_NO_NEW_REQUIRED",
            path,
            "is new and required",
            base=base.location,
            head=new.location,
        )
    if new.present:
        comparison.add(
            "FIELD_SAME_PRESENT",
            path,
            "is new and `present`",
            base=base.location,
            head=new.location,
            affected=(Affected.NEW_READERS,),
            consequence="Strict new readers refuse every old file, since none has the field.",
        )
    if new.key:
        comparison.add(
            "FIELD_SAME_KEY", path, "is new and the key", base=base.location, head=new.location
        )
