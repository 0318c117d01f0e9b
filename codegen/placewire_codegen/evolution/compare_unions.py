"""Two unions: what lies behind each tag."""

from __future__ import annotations

from ..model import UnionDefinition, UnionMember
from .compare_attributes import compare_attributes
from .compare_types import type_difference
from .comparison import Comparison, spelled

__all__ = ["compare_unions", "pair_members"]


def pair_members(
    base: UnionDefinition, head: UnionDefinition
) -> list[tuple[UnionMember, UnionMember | None]]:
    """Find each member of BASE in HEAD: by name, else by a tag whose member is new."""
    new = {member.name: member for member in head.members}
    names = {member.name for member in base.members}
    come = {member.tag: member for member in head.members if member.name not in names}
    return [(member, new.get(member.name) or come.get(member.tag)) for member in base.members]


def compare_unions(base: UnionDefinition, head: UnionDefinition, comparison: Comparison) -> None:
    """Report what has changed between two unions, apart from their names."""
    if base.underlying is not head.underlying:
        comparison.add(
            "UNION_SAME_UNDERLYING_TYPE",
            head.full_name,
            f"tag is {head.underlying.value}, was {base.underlying.value}",
            base=base.location,
            head=head.location,
        )
    for old, new in pair_members(base, head):
        if new is not None:
            _compare_members(old, new, head, comparison)
        else:
            comparison.add(
                "UNION_MEMBER_NO_DELETE",
                f"{head.full_name}.{old.name}",
                f"is gone; its tag was {old.tag}",
                base=old.location,
                head=head.location,
            )


def _compare_members(
    old: UnionMember, new: UnionMember, head: UnionDefinition, comparison: Comparison
) -> None:
    path = f"{head.full_name}.{new.name}"
    base_at, head_at = old.location, new.location
    if old.tag != new.tag:
        comparison.add(
            "UNION_MEMBER_SAME_TAG",
            path,
            f"tag is {new.tag}, was {old.tag}",
            base=base_at,
            head=head_at,
        )
    if type_difference(old.type, new.type, comparison) is not None:
        comparison.add(
            "UNION_MEMBER_SAME_TYPE",
            path,
            f"type behind tag {new.tag} is {spelled(new.type)}, was {spelled(old.type)}",
            base=base_at,
            head=head_at,
        )
    elif old.name != new.name:
        comparison.add(
            "UNION_MEMBER_SAME_NAME",
            path,
            f"was called `{old.name}`; tag {old.tag} and type are the same",
            base=base_at,
            head=head_at,
        )
    compare_attributes(old, new, path, comparison)
