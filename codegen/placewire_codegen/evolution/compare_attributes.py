"""Attributes that do not concern the wire: generated code may depend on them."""

from __future__ import annotations

from ..model import Definition, EnumMember, Field, Method, UnionMember
from .comparison import Comparison

__all__ = ["compare_attributes"]

# What other rules look after, and what changes neither bytes nor code.
_ELSEWHERE = frozenset(
    """bit_flags deprecated extended_header flexbuffer force_align hash id key nested_flatbuffer
    offset64 original_order present required shared streaming vector64""".split()
)


def compare_attributes(
    base: Definition | Field | EnumMember | UnionMember | Method,
    head: Definition | Field | EnumMember | UnionMember | Method,
    path: str,
    comparison: Comparison,
) -> None:
    """Report every attribute that has come, gone, or got another value."""
    for name in dict.fromkeys((*base.attributes, *head.attributes)):
        if name in _ELSEWHERE:
            continue
        old, new = (
            _shown(name, side.attributes[name]) if name in side.attributes else "none"
            for side in (base, head)
        )
        if old != new:
            comparison.add(
                "ATTRIBUTE_SAME_VALUE",
                path,
                f"attribute `{name}` is {new}, was {old}",
                base=base.location,
                head=head.location,
            )


def _shown(name: str, value: object) -> str:
    if value is True:
        return f"`{name}`"
    return f'`{name}: "{value}"`' if isinstance(value, str) else f"`{name}: {value}`"
