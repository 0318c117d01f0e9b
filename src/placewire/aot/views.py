"""Lets tensors that only look at another's memory differently share it, without an instruction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.program import TensorShapeDynamism
from torch._ops import OpOverload

from .control_flow import control_flow_of, is_control_flow
from .graph import InputKind, MethodGraph
from .operators import is_write
from .passes import PassResult
from .specs import TensorSpec, spec_of, specs_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import fx

    from .graph import GraphInput

__all__ = ["ShareMemory", "is_view"]

_aten = torch.ops.aten


class ShareMemory:
    """The pass that turns copies into views of the same memory.

    A copy becomes a view if its elements are the first of its source's memory, in the same order,
    and both have a fixed shape, one dtype and one device. Then it needs neither memory nor an
    instruction. It stays a copy where sharing could be seen:

    * if the memory is overwritten while the view is still in use, as that of a buffer may be;
    * if it is a result of the method and the memory belongs to an input, a constant or another
      result, since the caller may write to a result;
    * if it is where a branch or an iteration of a loop has to put its result.
    """

    name = "share memory"
    requires = frozenset({"kernels", "specs"})
    ensures: frozenset[str] = frozenset()

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        count = _share(graph, frozenset(), frozenset(_nodes(graph.results)), is_loop=False)
        return PassResult(count > 0, f"views without a copy: {count}" if count else "")


def is_view(node: fx.Node) -> bool:
    """Whether the result of a node lies in the memory of its argument."""
    spec = node.meta.get("spec")
    return isinstance(spec, TensorSpec) and spec.base is not None and node.op == "call_function"


def _nodes(items: tuple[Any, ...]) -> list[fx.Node]:
    return [item for item in items if isinstance(item, torch.fx.Node)]


def _share(
    method: MethodGraph,
    places: frozenset[TensorSpec],
    results: frozenset[fx.Node],
    *,
    is_loop: bool,
) -> int:
    """Share memory in a graph and its bodies; gives back the number of views.

    Args:
        method: The graph.
        places: Where the branch or loop that this is a body of has its results.
        results: The results of the method, if this is the method itself.
        is_loop: Whether it is the body of a loop.
    """
    nodes = list(method.graph.nodes)
    position = {node: number for number, node in enumerate(nodes)}
    last_use = _last_uses(nodes, position)
    writes = _writes(nodes, position)
    flows = [node for node in nodes if is_control_flow(node.target)]
    fixed = places.union(*map(specs_of, flows))
    kept = set(_nodes(method.results)) if is_loop else set()
    inputs = dict(zip(method.placeholders, method.inputs, strict=True))
    outside = {spec_of(node).storage for node, given in inputs.items() if _is_callers(node, given)}
    taken = {spec.storage for result in results for spec in specs_of(result)}
    count = 0
    for node in nodes:
        if is_control_flow(node.target):
            flow = control_flow_of(node.target, node.args)
            for body in flow.bodies:
                inner = method.bodies[body.target]
                count += _share(inner, fixed, frozenset(), is_loop=flow.is_loop)
            continue
        source = _viewed(node)
        if source is None or node in kept or spec_of(node) in fixed:
            continue
        view, storage = spec_of(node), spec_of(source).storage
        if not _fits(view, spec_of(source)):
            continue
        end = len(nodes) if node in results else last_use[node]
        if any(position[node] < write <= end for write in writes.get(storage, ())):
            continue
        if node in results:
            if storage in outside or storage in taken or storage.constant is not None:
                continue
            taken.add(storage)
        view.base = spec_of(source)
        count += 1
    return count


def _is_callers(node: fx.Node, given: GraphInput) -> bool:
    return given.kind is InputKind.USER and isinstance(node.meta.get("spec"), TensorSpec)


def _last_uses(nodes: list[fx.Node], position: dict[fx.Node, int]) -> dict[fx.Node, int]:
    """Where each node is used last, also through what may become a view of it."""
    last: dict[fx.Node, int] = {}
    for node in reversed(nodes):
        last[node] = position[node]
        for user in node.users:
            through = last[user] if _viewed(user) is node else position[user]
            last[node] = max(last[node], through)
    return last


def _writes(nodes: list[fx.Node], position: dict[fx.Node, int]) -> dict[TensorSpec, list[int]]:
    """Where memory is overwritten, by the tensor that owns it."""
    writes: dict[TensorSpec, list[int]] = {}
    for node in nodes:
        if is_write(node.target):
            for spec in specs_of(node.args[0]):  # type: ignore[arg-type]
                writes.setdefault(spec.storage, []).append(position[node])
    return writes


def _fits(view: TensorSpec, source: TensorSpec) -> bool:
    """Whether a tensor may lie where another lies."""
    return (
        view.base is None
        and view.planned
        and (source.storage.planned or source.storage.constant is not None)
        and view.scalar_type is source.scalar_type
        and view.device == source.device
        and view.pool == source.pool
        and view.is_contiguous
        and source.is_contiguous
    )


def _viewed(node: fx.Node) -> fx.Node | None:
    """The tensor whose first elements, in their order, a node copies; None if it does not."""
    rule = _RULES.get(node.target) if isinstance(node.target, OpOverload) else None
    if rule is None:
        return None
    source = node.args[0]
    assert isinstance(source, torch.fx.Node)
    for one in (node, source):
        spec = one.meta.get("spec")
        if not isinstance(spec, TensorSpec) or spec.dynamism is not TensorShapeDynamism.STATIC:
            return None
    sizes = tuple(source.meta["val"].shape)
    return source if rule(sizes, *node.args[1:]) else None


def _always(_sizes: tuple[int, ...], *_arguments: Any) -> bool:
    return True


def _is_identity(sizes: tuple[int, ...], wanted: tuple[int, ...], *_arguments: Any) -> bool:
    """`expand` to the sizes that are there, but for new dimensions of one element."""
    new = len(wanted) - len(sizes)
    return all(size == 1 for size in wanted[:new]) and all(
        size in (-1, there) for size, there in zip(wanted[new:], sizes, strict=True)
    )


def _keeps_order(sizes: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    """`permute` that moves nothing but dimensions of one element."""
    moved = [dim % len(sizes) for dim in dims if sizes[dim] != 1]
    return moved == sorted(moved)


def _exchanges_nothing(sizes: tuple[int, ...], one: int, other: int) -> bool:
    dims = list(range(len(sizes)))
    if dims:
        dims[one], dims[other] = dims[other], dims[one]
    return _keeps_order(sizes, tuple(dims))


def _is_row(sizes: tuple[int, ...]) -> bool:
    return len(sizes) < 2 or 1 in sizes


def _is_first(sizes: tuple[int, ...], dim: int, index: object) -> bool:
    """`select` of the first element of the outermost dimension that has several."""
    return index in (0, -sizes[dim]) and all(size == 1 for size in sizes[: dim % len(sizes)])


def _is_start(
    sizes: tuple[int, ...],
    dim: int = 0,
    start: object = None,
    _end: object = None,
    step: object = 1,
) -> bool:
    """`slice` from the start of the outermost dimension that has several elements."""
    return start in (None, 0) and step == 1 and all(size == 1 for size in sizes[: dim % len(sizes)])


_RULES: dict[OpOverload, Callable[..., bool]] = {
    _aten.view_copy.default: _always,
    _aten.unsqueeze_copy.default: _always,
    _aten.squeeze_copy.default: _always,
    _aten.squeeze_copy.dim: _always,
    _aten.squeeze_copy.dims: _always,
    _aten.expand_copy.default: _is_identity,
    _aten.permute_copy.default: _keeps_order,
    _aten.transpose_copy.int: _exchanges_nothing,
    _aten.t_copy.default: _is_row,
    _aten.select_copy.int: _is_first,
    _aten.slice_copy.Tensor: _is_start,
}
"""Operators that copy, and when their result begins with its source's memory."""
