"""Takes out of a functional graph what does nothing: copies of what nobody changes, dead code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch._ops import OpOverload

from .graph import InputKind, MethodGraph
from .operators import is_write

if TYPE_CHECKING:
    from torch import fx

__all__ = ["remove_dead_code", "simplify"]


def simplify(method: MethodGraph) -> None:
    """Remove copies that equal their source, operators without users, and unused constants."""
    for body in method.bodies.values():
        simplify(body)
    # What is overwritten, at the end of the call or by another method, while a copy of what it was
    # may live on.
    mutated = {
        node
        for node, given in zip(method.placeholders, method.inputs, strict=True)
        if given.mutated or given.shared
    }
    for node in list(method.graph.nodes):
        if _is_needless_copy(node) and node.args[0] not in mutated:
            node.replace_all_uses_with(node.args[0])
    remove_dead_code(method)


_COPIES = frozenset(
    {
        "aten::_to_copy",
        "aten::alias_copy",
        "aten::clone",
        "aten::detach_copy",
        "aten::expand_copy",
        "aten::lift_fresh_copy",
        "aten::permute_copy",
        "aten::slice_copy",
        "aten::squeeze_copy",
        "aten::view_copy",
    }
)
"""Operators that give their first argument, at most with another shape, dtype or layout."""


def _is_needless_copy(node: fx.Node) -> bool:
    """Whether a node copies a tensor into one of the same dtype, shape and strides.

    `permute` may exchange dimensions of one size, so only that of the identity counts.
    """
    if not isinstance(node.target, OpOverload) or node.target._schema.name not in _COPIES:
        return False
    source = node.args[0]
    assert isinstance(source, torch.fx.Node)
    if source.meta["val"] is not node.meta["val"]:
        return False
    if node.target._schema.name == "aten::permute_copy":
        dims = node.args[1]
        assert isinstance(dims, tuple)
        return [int(dim) % len(dims) for dim in dims] == list(range(len(dims)))  # type: ignore[arg-type]
    return True


def remove_dead_code(method: MethodGraph) -> None:
    """Remove operators whose results nobody uses, and constants likewise."""
    for node in reversed(method.graph.nodes):
        if node.op in ("call_function", "get_attr") and not node.users and not _has_effect(node):
            method.graph.erase_node(node)
    kept = []
    for node, given in zip(method.placeholders, method.inputs, strict=True):
        if node.users or given.kind in (InputKind.USER, InputKind.OPERAND):
            kept.append(given)
        else:
            method.graph.erase_node(node)
    method.inputs = kept
    used = {node.target for node in method.graph.find_nodes(op="get_attr")}
    method.bodies = {name: body for name, body in method.bodies.items() if name in used}


def _has_effect(node: fx.Node) -> bool:
    return is_write(node.target)
