"""Lets tensors that only look at another's memory differently share it, without an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .specs import specs_of

if TYPE_CHECKING:
    from torch import fx

__all__ = ["is_view"]


def is_view(node: fx.Node) -> bool:
    """Whether a node needs no instruction, since its result lies in the memory of its argument."""
    specs = specs_of(node)
    return len(specs) == 1 and specs[0] is not None and specs[0].base is not None
