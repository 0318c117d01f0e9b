"""Finds sizes that nothing bounds, for which no memory can be planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .graph import InputKind, Unsupported, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import fx

    from .fakes import Size
    from .graph import MethodGraph

__all__ = ["unbounded_sizes"]


def unbounded_sizes(method: MethodGraph) -> list[Unsupported]:
    """The sizes of a decomposed method, and of its bodies, that have no maximum.

    One that follows from others is not listed beside them.
    """
    found: list[Unsupported] = []
    _find(method, set(), found)
    return found


def _find(method: MethodGraph, known: set[object], found: list[Unsupported]) -> None:
    names = {
        node: f"the {given.kind.value} {given.name}"
        for node, given in zip(method.placeholders, method.inputs, strict=True)
        if given.kind is not InputKind.OPERAND
    }
    for node in method.graph.nodes:
        if node.op == "output":
            continue
        value = node.meta.get("val")
        for tensor in value if isinstance(value, tuple) else (value,):
            if not isinstance(tensor, torch.Tensor):
                continue
            sizes: Iterable[Size] = tensor.shape
            for dimension, size in enumerate(sizes):
                if isinstance(size, int) or method.fakes.upper_bound(size) is not None:
                    continue
                symbols = size.node.expr.free_symbols
                if not symbols <= known:
                    found.append(_refusal(method, node, names.get(node), dimension))
                known |= symbols
    for body in method.bodies.values():
        _find(body, known, found)


def _refusal(method: MethodGraph, node: fx.Node, name: str | None, dimension: int) -> Unsupported:
    return Unsupported(
        method.name,
        f"dimension {dimension} of {name or node.target}",
        "nothing bounds it; give it a maximum: torch.export.Dim(name, max=...) for an input, "
        "torch._check(size <= ...) for a size that depends on data",
        source_of(node),
    )
