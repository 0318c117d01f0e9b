"""How a call of an operator is made: a function, and where each of its arguments comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Call", "Place", "Specialized"]

Place = int | tuple[int, ...]
"""Which argument of the operator, or which ones as a tuple."""

Specialized = tuple["Callable[..., object]", tuple[object, ...], dict[str, object]]
"""What is called with certain arguments: a function, its arguments, and those that go by name."""


@dataclass(frozen=True)
class Call:
    """What the runtime does for one instruction, decided for all that are alike.

    Attributes:
        function: What is called.
        positional: Its arguments.
        keywords: Its arguments by name. Those that say what their default says are left out.
        specialize: If given, it is called before the first call, and before the next one after a
            call that failed, with all arguments of the operator, and says what is called from then
            on. The rest counts if it raises something, or returns None. Results of what it returns
            must have the sizes of the outs.
        same_sizes: Two arguments whose sizes must be equal, or none.
    """

    function: Callable[..., object]
    positional: tuple[Place, ...]
    keywords: tuple[tuple[str, Place], ...] = ()
    specialize: Callable[..., Specialized | None] | None = None
    same_sizes: tuple[int, int] | None = None
