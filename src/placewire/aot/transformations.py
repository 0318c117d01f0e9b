"""Transformations: what torch.func and torch.vmap leave in a graph, which no kernel computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import fx
from torch.export import ExportedProgram

from .alias import hidden_alias
from .fakes import FakeValues

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_transformation", "refusal_of_transformation", "without_transformations"]


def is_transformation(target: object) -> bool:
    """Whether a call enters, leaves or wraps a tensor for a transformation of torch."""
    return callable(target) and (getattr(target, "__module__", "") or "").startswith(_MODULE)


_MODULE = "torch._functorch."
_VMAP = frozenset({"_add_batch_dim", "_remove_batch_dim"})


def without_transformations(program: ExportedProgram) -> ExportedProgram:
    """A program with the operators that its transformations come to, as far as torch can tell.

    torch.export records a call of `torch.vmap`, which `associative_scan` uses, too, by what enters
    and leaves it. Torch works out its operators when it decomposes the program, which takes seconds
    for a large model. That trusts what operators say of their aliases, so a program in which one
    of them hides an alias is left as it is.

    Args:
        program: The program. It is not changed.
    """
    modules = [m for m in program.graph_module.modules() if isinstance(m, fx.GraphModule)]
    nodes = [node for module in modules for node in module.graph.nodes]
    if not any(is_transformation(node.target) for node in nodes):
        return program
    if hidden_alias(program.graph, FakeValues(_values(nodes))) is not None:
        return program
    try:
        decomposed: ExportedProgram = program.run_decompositions({})
    except Exception:
        # Torch raises anything here. What is left in the graph is refused with the user's line.
        return program
    return decomposed


def _values(nodes: list[fx.Node]) -> Iterator[object]:
    return (node.meta.get("val") for node in nodes)


def refusal_of_transformation(node: fx.Node) -> tuple[str, str] | None:
    """What a transformation is called, and why it cannot be exported.

    None for a call that gives no tensor: what it goes with is refused.
    """
    if not isinstance(node.meta.get("val"), torch.Tensor):
        return None
    name = getattr(node.target, "__name__", "")
    what = "torch.vmap" if name in _VMAP else "a transformation of torch.func"
    return what, (
        "torch.export leaves it in the graph, and torch cannot work out its operators there; write "
        "it in operators of torch"
    )
