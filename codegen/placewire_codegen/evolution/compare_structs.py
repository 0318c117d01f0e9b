"""Two structs: size, offsets, and what lies at each byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..model import Field, StructDefinition
from .compare_attributes import compare_attributes
from .compare_fields import TYPE_RULES, FieldPair
from .compare_tables import pair_fields
from .compare_types import scalar_difference, type_difference
from .comparison import Comparison, spelled
from .rules import Level
from .struct_layout import Scalar, scalars_of, struct_scalars

__all__ = ["compare_structs"]


def compare_structs(base: StructDefinition, head: StructDefinition, comparison: Comparison) -> None:
    """Report what has changed between two structs, apart from their names."""
    _Structs(base, head, comparison).compare()


class _Structs:
    def __init__(
        self, base: StructDefinition, head: StructDefinition, comparison: Comparison
    ) -> None:
        self._base = base
        self._head = head
        self._comparison = comparison
        self._old = tuple(struct_scalars(comparison.base, base.full_name))
        self._new = tuple(struct_scalars(comparison.head, head.full_name))

    def compare(self) -> None:
        base, head = self._base, self._head
        if (base.size, base.alignment) != (head.size, head.alignment):
            self._comparison.add(
                "STRUCT_SAME_LAYOUT",
                head.full_name,
                f"has {head.size} bytes aligned to {head.alignment}, "
                f"had {base.size} aligned to {base.alignment}",
                base=base.location,
                head=head.location,
            )
        pairs = pair_fields(base, head)
        for old, new in pairs.same:
            pair = self._pair(old, new)
            if old.offset != new.offset:
                pair.report(
                    "STRUCT_FIELD_SAME_OFFSET", f"lies at byte {new.offset}, was at {old.offset}"
                )
            self._compare_pair(pair)
        for old, new in pairs.renamed:
            pair = self._pair(old, new)
            pair.report("FIELD_SAME_NAME", f"was called `{old.name}`; it lies where that lay")
            self._compare_pair(pair)
        for old in pairs.gone:
            self._report_gone(old)
        for new in pairs.new:
            self._report_new(new)

    def _pair(self, old: Field, new: Field) -> FieldPair:
        return FieldPair(old, new, f"{self._head.full_name}.{new.name}", self._comparison)

    def _compare_pair(self, pair: FieldPair) -> None:
        difference = type_difference(pair.base.type, pair.head.type, self._comparison)
        if difference is Level.WIRE and pair.base.offset == pair.head.offset:
            difference = self._difference_of_bytes(pair)
        if difference is not None:
            pair.report(
                TYPE_RULES[difference],
                f"type is {spelled(pair.head.type)}, was {spelled(pair.base.type)}",
            )
        pair.compare_key()
        compare_attributes(pair.base, pair.head, pair.path, self._comparison)

    def _difference_of_bytes(self, pair: FieldPair) -> Level:
        """Compare number by number: an array may have been taken apart, or made of fields."""
        old = tuple(scalars_of(self._comparison.base, pair.base.type, pair.base.offset))
        end = old[-1].end
        new = tuple(scalar for scalar in self._new if pair.base.offset <= scalar.offset < end)
        if len(old) != len(new) or len(self._old) != len(self._new):
            return Level.WIRE
        levels: set[Level] = {Level.SOURCE}
        for before, after in zip(old, new, strict=True):
            if before.offset != after.offset:
                return Level.WIRE
            found = scalar_difference(before.kind, after.kind)
            if found is not None:
                levels.add(found)
        return min(levels, key=list(Level).index)

    def _report_gone(self, old: Field) -> None:
        scalars = tuple(scalars_of(self._comparison.base, old.type, old.offset))
        path = f"{self._head.full_name}.{old.name}"
        base_at, head_at = old.location, self._head.location
        if _holds(self._new, scalars):
            self._comparison.add(
                "FIELD_SAME_NAME", path, "is part of another field now", base=base_at, head=head_at
            )
        else:
            self._comparison.add(
                "FIELD_NO_DELETE",
                path,
                f"is gone; {spelled(old.type)} lay at byte {old.offset}",
                base=base_at,
                head=head_at,
            )

    def _report_new(self, new: Field) -> None:
        """Report a field in old padding; what else it covers or moves is reported by itself."""
        for scalar in scalars_of(self._comparison.head, new.type, new.offset):
            overlaps = any(old.offset < scalar.end and scalar.offset < old.end for old in self._old)
            if not overlaps and scalar.end <= self._base.size:
                self._comparison.add(
                    "STRUCT_SAME_PADDING",
                    f"{self._head.full_name}.{new.name}",
                    f"lies at byte {new.offset}, which was padding",
                    base=self._base.location,
                    head=new.location,
                )
                return


def _holds(scalars: Sequence[Scalar], wanted: Iterable[Scalar]) -> bool:
    """Whether the same numbers lie at the same offsets."""
    there = {(scalar.offset, scalar.kind) for scalar in scalars}
    return there.issuperset((scalar.offset, scalar.kind) for scalar in wanted)
