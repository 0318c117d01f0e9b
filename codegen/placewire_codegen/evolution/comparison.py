"""Two schemas beside each other: which types are the same, and what has been found so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..model import Location, Schema, Type, TypeKind
from .findings import Finding
from .rules import Affected, rule

__all__ = ["Comparison"]


class Comparison:
    """Takes the findings of one comparison.

    Args:
        base: The old schema.
        head: The new one.
        names: Full name in HEAD of each type of BASE that is still there, under whatever name.
    """

    def __init__(self, base: Schema, head: Schema, names: Mapping[str, str]) -> None:
        self.base = base
        self.head = head
        self.names = names
        self.findings: list[Finding] = []

    def add(
        self,
        name: str,
        path: str,
        message: str,
        *,
        base: Location | None = None,
        head: Location | None = None,
        affected: Sequence[Affected] = (),
        consequence: str = "",
    ) -> None:
        """Take up a finding; who breaks and how is what the rule says, if nothing else is given."""
        broken = rule(name)
        self.findings.append(
            Finding(
                broken,
                path,
                message,
                base,
                head,
                tuple(affected) or broken.affected,
                consequence or broken.consequence,
            )
        )

    def is_same(self, base: str | None, head: str | None) -> bool:
        """Whether two full names mean the same type."""
        return base is not None and self.names.get(base) == head


def spelled(type_: Type) -> str:
    """Spell a type for a message, with full names."""
    if type_.kind is TypeKind.VECTOR:
        assert type_.element is not None
        return f"[{spelled(type_.element)}]"
    if type_.kind is TypeKind.ARRAY:
        assert type_.element is not None
        return f"[{spelled(type_.element)}:{type_.length}]"
    if type_.ref is not None:
        return f"{type_.kind.value} {type_.ref}"
    return type_.scalar.value if type_.scalar is not None else type_.kind.value
