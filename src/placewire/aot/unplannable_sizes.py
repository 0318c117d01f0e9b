"""Finds sizes for which no memory can be planned: nothing bounds them, or too much does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .graph import InputKind, Unsupported, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import fx

    from .fakes import Size
    from .graph import MethodGraph

__all__ = ["unplannable_sizes"]


def unplannable_sizes(method: MethodGraph) -> list[Unsupported]:
    """The sizes of a decomposed method, and of its bodies, that have no maximum or too high a one.

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
            name = names.get(node) or str(node.target)
            nbytes = tensor.element_size()
            for dimension, size in enumerate(sizes):
                bound = method.fakes.upper_bound(size)
                nbytes *= 1 if bound is None else bound
                if bound is not None and bound <= _LARGEST_SIZE:
                    continue
                symbols = set() if isinstance(size, int) else size.node.expr.free_symbols
                if not symbols or not symbols <= known:
                    found.append(_refusal(method, node, f"dimension {dimension} of {name}", bound))
                known |= symbols
                nbytes = 0
            if nbytes > _MOST_BYTES and not _symbols(tensor) & known:
                found.append(_too_many_bytes(method, node, name, nbytes))
                known |= _symbols(tensor)
    for body in method.bodies.values():
        _find(body, known, found)


_LARGEST_SIZE = 2**31 - 1
"""Sizes are 32-bit numbers in a program."""

_MOST_BYTES = 2**47
"""More than a process can address on the machines that there are."""

_REMEDY = (
    "torch.export.Dim(name, max=...) for an input, torch._check(size <= ...) for a size that "
    "depends on data"
)


def _symbols(tensor: torch.Tensor) -> set[object]:
    sizes: Iterable[Size] = tensor.shape
    return {
        symbol
        for size in sizes
        if not isinstance(size, int)
        for symbol in size.node.expr.free_symbols
    }


def _refusal(method: MethodGraph, node: fx.Node, what: str, bound: int | None) -> Unsupported:
    if bound is None:
        reason = f"nothing bounds it; give it a maximum: {_REMEDY}"
    else:
        reason = (
            f"its maximum is {bound}, and a size in a program is at most {_LARGEST_SIZE}; give it "
            f"a lower maximum: {_REMEDY}"
        )
    return Unsupported(method.name, what, reason, source_of(node))


def _too_many_bytes(method: MethodGraph, node: fx.Node, what: str, nbytes: int) -> Unsupported:
    reason = (
        f"it has up to {nbytes} bytes, and no process can address more than {_MOST_BYTES}; give "
        f"its sizes a lower maximum: {_REMEDY}"
    )
    return Unsupported(method.name, what, reason, source_of(node))
