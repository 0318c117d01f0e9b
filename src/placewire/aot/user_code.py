"""Calls of what users hand in: whose code it was, if it raises."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["calling"]


@contextmanager
def calling(what: str) -> Iterator[None]:
    """Add to an exception that `what` raises a note that says so; its type stays.

    Args:
        what: Whose code runs, such as `the pass fold, in forward`.
    """
    try:
        yield
    except Exception as error:
        error.add_note(f"raised by {what}")
        raise
