"""The decompositions of torch's own tables that lead to operators of ATen."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from torch._decomp import _core_aten_decompositions_post_autograd, decomposition_table
from torch._ops import OpOverload

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["known_decompositions"]


@cache
def known_decompositions() -> dict[OpOverload, Callable[..., object]]:
    """What torch can decompose into other operators of ATen.

    The core decompositions, and of the rest of its table those that are not reference
    implementations: these end in `prims`, which no runtime has.
    """
    rest = {
        op: function
        for op, function in decomposition_table.items()
        if not function.__module__.startswith("torch._refs")
    }
    # Without the composite operators of `core_aten_decompositions`, which a trace takes apart.
    table = {**rest, **_core_aten_decompositions_post_autograd()}
    return {op: function for op, function in table.items() if isinstance(op, OpOverload)}
