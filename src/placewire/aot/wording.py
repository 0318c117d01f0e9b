"""Wording: how messages speak of a value that is not what was expected."""

from __future__ import annotations

from torch._ops import OpOverload, OpOverloadPacket

__all__ = ["described", "with_article"]


def described(found: object) -> str:
    """A value in words: `an int`, `a list`; None and operators by their names."""
    if found is None or isinstance(found, OpOverload | OpOverloadPacket):
        return str(found)
    return with_article(type(found).__name__)


def with_article(name: str) -> str:
    """A name with `a` or `an` before it, as it is spoken: `an int`, `a uint8`."""
    spoken = name.lower().lstrip("_")
    has_vowel = spoken.startswith(("a", "e", "i", "o", "u")) and not spoken.startswith(_LIKE_YOU)
    return f"{'an' if has_vowel else 'a'} {name}"


_LIKE_YOU = ("uint", "uni", "use", "utf")
