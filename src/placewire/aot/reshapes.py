"""Reshapes: operators that give contiguous memory another shape, so that no data need be moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .specs import TensorSpec, spec_of

if TYPE_CHECKING:
    from torch import fx

__all__ = ["become_alias", "is_reshape"]

_RESHAPES = frozenset(
    {
        torch.ops.aten.squeeze_copy.default,
        torch.ops.aten.squeeze_copy.dim,
        torch.ops.aten.squeeze_copy.dims,
        torch.ops.aten.unsqueeze_copy.default,
        torch.ops.aten.view_copy.default,
    }
)


def is_reshape(node: fx.Node) -> bool:
    """Whether a node gives the bytes of its source in their order, with another shape."""
    if node.target not in _RESHAPES:
        return False
    source = node.args[0]
    assert isinstance(source, torch.fx.Node)
    specs = (source.meta.get("spec"), node.meta.get("spec"))
    contiguous = all(isinstance(spec, TensorSpec) and spec.is_contiguous for spec in specs)
    return contiguous and _sizes(node) is not None


def become_alias(node: fx.Node) -> None:
    """Let the tensor of a reshape lie in the memory of its source, so that no kernel is called."""
    sizes = _sizes(node)
    assert sizes is not None
    node.target = torch.ops.aten.view_copy.default
    node.args = (node.args[0], sizes)  # type: ignore[assignment]
    node.kwargs = {}
    spec_of(node).base = spec_of(node.args[0])  # type: ignore[arg-type]


def _sizes(node: fx.Node) -> tuple[object, ...] | None:
    """The new shape as an argument of `view_copy`; None if it cannot be said."""
    if node.target is torch.ops.aten.view_copy.default:
        sizes = node.args[1]
        assert isinstance(sizes, list | tuple)
        return tuple(sizes)
    shape = node.meta["val"].shape
    static = [size if isinstance(size, int) else -1 for size in shape]
    return tuple(static) if static.count(-1) <= 1 else None
