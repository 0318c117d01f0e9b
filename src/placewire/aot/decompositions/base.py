"""What all decompositions share: the error for what one does not cover, and a question on sizes."""

from __future__ import annotations

__all__ = ["CannotDecomposeError", "is_static"]


class CannotDecomposeError(Exception):
    """A decomposition does not cover these arguments; the text says what it would take."""


def is_static(*sizes: object) -> bool:
    """Whether sizes are the same in every call: plain integers, and not symbolic ones."""
    return all(isinstance(size, int) for size in sizes)
