"""Buffers that break one structural rule each, and what every verifier must say about them.

The list is for all codecs: a case names the root type, the bytes, and the rule, path, offset and
two numbers to report; or it is sound, although it looks odd.
"""

from __future__ import annotations

from functools import cache

from . import contents, heads, tables  # noqa: F401 - a case exists once its module is loaded
from .case import MAKERS, StructureCase, sound_program, sound_tensor

__all__ = ["StructureCase", "sound_program", "sound_tensor", "structure_cases"]


@cache
def structure_cases() -> tuple[StructureCase, ...]:
    """Return all cases."""
    made = [StructureCase(make.__name__, *make()) for make in MAKERS]
    return (*made, *heads.short_buffers(), *contents.bad_strings())
