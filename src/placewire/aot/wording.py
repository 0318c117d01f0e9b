"""Wording of the exporter, which knows operators besides."""

from __future__ import annotations

from torch._ops import OpOverload, OpOverloadPacket

from placewire import wording
from placewire.wording import with_article

__all__ = ["described", "with_article"]


def described(found: object) -> str:
    """A value in words: `an int`, `a list`; None, classes and operators by their names."""
    if isinstance(found, OpOverload | OpOverloadPacket):
        return str(found)
    return wording.described(found)
