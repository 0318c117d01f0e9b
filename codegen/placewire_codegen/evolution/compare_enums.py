"""Two enums: the width of their numbers, and which member has which."""

from __future__ import annotations

from ..model import EnumDefinition, EnumMember
from .compare_attributes import compare_attributes
from .comparison import Comparison
from .declared_order import stands_in_place

__all__ = ["compare_enums"]


def compare_enums(base: EnumDefinition, head: EnumDefinition, comparison: Comparison) -> None:
    """Report what has changed between two enums, apart from their names."""
    _compare_numbers(base, head, comparison)
    old = {member.name: member for member in base.members}
    new = {member.name: member for member in head.members}
    come = {member.value: member for name, member in new.items() if name not in old}
    for name, member in old.items():
        if name in new:
            _compare_member(member, new[name], head, comparison)
        elif member.value in come:
            _report_other_name(member, come[member.value], base, head, comparison)
        else:
            comparison.add(
                "ENUM_MEMBER_NO_DELETE",
                f"{head.full_name}.{name}",
                f"is gone; its number was {member.value}",
                base=member.location,
                head=head.location,
            )


def _compare_numbers(base: EnumDefinition, head: EnumDefinition, comparison: Comparison) -> None:
    base_at, head_at = base.location, head.location
    if base.underlying is not head.underlying:
        is_wide = base.underlying.size != head.underlying.size
        comparison.add(
            "ENUM_SAME_UNDERLYING_TYPE" if is_wide else "ENUM_SAME_SIGN",
            head.full_name,
            f"numbers are {head.underlying.value}, were {base.underlying.value}",
            base=base_at,
            head=head_at,
        )
    if base.bit_flags != head.bit_flags:
        change = "has `bit_flags` now" if head.bit_flags else "has `bit_flags` no more"
        comparison.add("ENUM_SAME_BIT_FLAGS", head.full_name, change, base=base_at, head=head_at)


def _compare_member(
    old: EnumMember, new: EnumMember, head: EnumDefinition, comparison: Comparison
) -> None:
    path = f"{head.full_name}.{new.name}"
    if old.value != new.value:
        comparison.add(
            "ENUM_MEMBER_SAME_NUMBER",
            path,
            f"number is {new.value}, was {old.value}",
            base=old.location,
            head=new.location,
        )
    compare_attributes(old, new, path, comparison)


def _report_other_name(
    old: EnumMember,
    new: EnumMember,
    base: EnumDefinition,
    head: EnumDefinition,
    comparison: Comparison,
) -> None:
    is_in_place = stands_in_place(
        old.name,
        {member.name: member.location for member in base.members},
        new.name,
        {member.name: member.location for member in head.members},
    )
    is_renamed = is_in_place and old.attributes == new.attributes
    comparison.add(
        "ENUM_MEMBER_SAME_NAME" if is_renamed else "ENUM_MEMBER_NO_REUSE",
        f"{head.full_name}.{new.name}",
        f"was called `{old.name}`; its number is the same"
        if is_renamed
        else f"takes number {old.value} of `{old.name}`, which is gone",
        base=old.location,
        head=new.location,
    )
