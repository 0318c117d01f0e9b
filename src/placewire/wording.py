"""Wording: how messages speak of a value that is not what was expected, and of names."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["described", "did_you_mean", "is_encodable", "with_article"]


def described(found: object) -> str:
    """A value in words: `an int`, `a list`; None and classes by their names."""
    if found is None:
        return "None"
    if isinstance(found, type):
        return f"the class {found.__name__}"
    return with_article(type(found).__name__)


def with_article(name: str) -> str:
    """A name with `a` or `an` before it, as it is spoken: `an int`, `a uint8`."""
    spoken = name.lower().lstrip("_")
    has_vowel = spoken.startswith(("a", "e", "i", "o", "u")) and not spoken.startswith(_LIKE_YOU)
    return f"{'an' if has_vowel else 'a'} {name}"


_LIKE_YOU = ("uint", "uni", "use", "utf")


def is_encodable(text: str) -> bool:
    """Whether a text has no lone surrogates, so that UTF-8, in which files hold it, can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: `; did you mean 'forward'?`, or nothing."""
    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""
