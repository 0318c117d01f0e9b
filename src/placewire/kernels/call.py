"""How a call of an operator is made: a function, and where each of its arguments comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Call", "Place"]

Place = int | tuple[int, ...]
"""Which argument of the operator, or which ones as a tuple."""


@dataclass(frozen=True)
class Call:
    """What the runtime does for one instruction, decided for all that are alike.

    Attributes:
        function: What is called.
        positional: Its arguments.
        keywords: Its arguments by name. Those that say what their default says are left out.
        source: If given, it is called once, when the method is loaded, with all arguments but the
            outs; `function` then gets the first out and what this returned. If it fails, `general`
            is what counts.
        general: What is called if `source` fails.
        same_sizes: Two arguments whose sizes must be equal, or none.
    """

    function: Callable[..., object]
    positional: tuple[Place, ...]
    keywords: tuple[tuple[str, Place], ...] = ()
    source: Callable[..., object] | None = None
    general: Call | None = None
    same_sizes: tuple[int, int] | None = None
