"""Lets what is written back be computed where it belongs, if nobody needs the old value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import fx

from .layouts import dim_order_of
from .operators import kernel_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import MethodGraph
    from .target import Target

__all__ = ["write_in_place"]

_aten = torch.ops.aten


def write_in_place(method: MethodGraph, target: Target) -> int:
    """Replace write-backs of a method by in-place operators; gives back how many.

    A cache of which a method changes a few rows is not copied then. It is done if each step from
    the old value to the new one is an operator with an in-place kernel, and everything that reads a
    value before such a step comes before it.
    """
    position = {node: number for number, node in enumerate(method.graph.nodes)}
    results = {result for result in method.results if isinstance(result, fx.Node)}
    count = 0
    for write in reversed(method.graph.find_nodes(op="call_function", target=_aten.copy_.default)):
        place, value = write.args[0], write.args[1]
        assert isinstance(place, fx.Node)
        steps = _steps(place, value, method, target)
        if steps and _is_free(place, steps, write, position, results):
            method.graph.erase_node(write)
            for step in steps:
                _replace(method, place, step)
            count += 1
    return count


def _steps(place: fx.Node, value: object, method: MethodGraph, target: Target) -> list[fx.Node]:
    """The operators from an old value to a new one, first to last; none if one has no kernel."""
    steps: list[fx.Node] = []
    while value is not place:
        if not isinstance(value, fx.Node) or not _has_kernel(value, method, target):
            return []
        steps.append(value)
        value = value.args[0]
    return steps[::-1]


def _has_kernel(node: fx.Node, method: MethodGraph, target: Target) -> bool:
    if not target.has("aten::index_put_"):
        return False
    if node.target is _aten.slice_scatter.default:
        rows = kernel_of(_aten.arange.start_step, target)
        return rows is not None and _rows(node, method) is not None and _is_contiguous(node, 1)
    return node.target is _aten.index_put.default and _is_plain_index_put(node)


def _is_contiguous(node: fx.Node, source: int) -> bool:
    """Whether a tensor and what is written to it lie in the order of their dimensions."""
    values = [node.args[position].meta["val"] for position in (0, source)]  # type: ignore[union-attr]
    return values[0].dtype is values[1].dtype and all(
        dim_order_of(value) == tuple(range(value.dim())) for value in values
    )


def _is_plain_index_put(node: fx.Node) -> bool:
    """Whether the in-place kernel can do it: one vector of integers, values that fit."""
    place, indices, source, *rest = node.args
    assert isinstance(indices, list | tuple)
    assert isinstance(place, fx.Node)
    assert isinstance(source, fx.Node)
    vectors = [(dim, index) for dim, index in enumerate(indices) if index is not None]
    if len(vectors) != 1 or any(rest) or node.kwargs or not _is_contiguous(node, 2):
        return False
    ((dim, index),) = vectors
    assert isinstance(index, fx.Node)
    vector = index.meta["val"]
    if vector.dim() != 1 or vector.dtype not in (torch.int64, torch.int32):
        return False
    given, wanted = source.meta["val"].shape, _part(place, dim, vector)
    if not isinstance(place.meta["val"].shape[dim], int):
        return False
    if all(isinstance(size, int) for size in wanted):
        return _is_spread(given, wanted)
    return list(map(_expression, given)) == list(map(_expression, wanted))


def _part(place: fx.Node, dim: int, vector: torch.Tensor) -> list[Any]:
    """The sizes of the part of a tensor that a vector of indices along `dim` says."""
    sizes: list[Any] = list(place.meta["val"].shape)
    sizes[dim] = vector.shape[0]
    return sizes


def _is_spread(given: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether sizes are those that are wanted, or known to be spread to them."""
    missing = len(wanted) - len(given)
    return missing >= 0 and all(
        _expression(size) in (1, _expression(other))
        for size, other in zip(given, wanted[missing:], strict=True)
    )


def _expression(size: Any) -> object:
    return size if isinstance(size, int) else size.node.expr


def _rows(node: fx.Node, method: MethodGraph) -> tuple[Any, Any] | None:
    """First row and end of what `slice_scatter` writes, if they are known to be those it is given.

    It may count from the end or go beyond it, which an in-place kernel does not.
    """
    given: list[Any] = [*node.args, *(None,) * (6 - len(node.args))]
    tensor, _, dim, start, end, step = given
    size = tensor.meta["val"].shape[dim or 0]
    start = 0 if start is None else start
    if step not in (None, 1) or node.kwargs:
        return None
    if isinstance(start, int) and isinstance(size, int) and (end is None or isinstance(end, int)):
        first, last, _ = slice(start, end).indices(size)
        return first, max(first, last)
    for bound in (start, end):
        value = bound.meta["val"] if isinstance(bound, fx.Node) else bound
        if value is None or not method.fakes.is_natural(value):
            return None
    if isinstance(end, int) and not (isinstance(size, int) and end <= size):
        return None
    return start, end


def _is_free(
    place: fx.Node,
    steps: list[fx.Node],
    write: fx.Node,
    position: dict[fx.Node, int],
    results: set[fx.Node],
) -> bool:
    """Whether nobody needs a value once the next has been written over it."""
    old = place
    for step in steps:
        later = [user for user in old.users if position[user] >= position[step]]
        if old in results or _times(step.args, old) != 1:
            return False
        if any(user not in (step, write) for user in later):
            return False
        old = step
    return old not in results


def _times(structure: Any, node: fx.Node) -> int:
    count = 0

    def see(item: fx.Node) -> fx.Node:
        nonlocal count
        count += item is node
        return item

    fx.map_arg(structure, see)
    return count


def _replace(method: MethodGraph, place: fx.Node, step: fx.Node) -> None:
    """Put the in-place operator in the place of a functional one, whose users read `place`."""
    if step.target is _aten.slice_scatter.default:
        bounds = _rows(step, method)
        assert bounds is not None
        source = step.args[1]
        assert isinstance(source, fx.Node)
        dim: Any = step.args[2] if len(step.args) > 2 else 0
        dim %= place.meta["val"].dim()
        with method.graph.inserting_before(step):
            rows = method.graph.call_function(
                _aten.arange.start_step, (*bounds, 1), {"dtype": torch.int64}
            )
        rows.meta["val"] = method.fakes.tensor(torch.int64, (source.meta["val"].shape[dim],))
        step.args = (place, (*(None,) * dim, rows), source)
    else:
        indices = step.args[1]
        assert isinstance(indices, list | tuple)
        natural = [
            None
            if index is None
            else _from_start(method, step, index, place.meta["val"].shape[dim])
            for dim, index in enumerate(indices)
        ]
        (dim,) = (dim for dim, index in enumerate(indices) if index is not None)
        source = step.args[2]
        assert isinstance(source, fx.Node)
        wanted = _part(place, dim, indices[dim].meta["val"])
        step.args = (place, tuple(natural), _spread(method, step, source, wanted))
    step.target = _aten.index_put_.default
    step.args = (place, *step.args[1:])
    step.meta["val"] = place.meta["val"]
    step.replace_all_uses_with(place, delete_user_cb=lambda user: user is not step)


def _spread(method: MethodGraph, step: fx.Node, source: fx.Node, wanted: list[Any]) -> fx.Node:
    """Values of exactly the sizes that are wanted, as the in-place kernel takes them."""
    value = source.meta["val"]
    if list(map(_expression, value.shape)) == list(map(_expression, wanted)):
        return source
    with method.graph.inserting_before(step):
        spread = method.graph.call_function(_aten.expand_copy.default, (source, tuple(wanted)))
    spread.meta["val"] = method.fakes.tensor(value.dtype, wanted)
    return spread


def _from_start(method: MethodGraph, step: fx.Node, index: fx.Node, size: Any) -> fx.Node:
    """Indices that all count from the start, as the in-place kernel takes them."""
    if _is_natural(method, index):
        return index
    value = index.meta["val"]
    calls = [
        (_aten.lt.Scalar, (index, 0), method.fakes.tensor(torch.bool, value.shape)),
        (_aten.add.Scalar, (index, size), value),
    ]
    nodes = []
    with method.graph.inserting_before(step):
        for target, args, result in calls:
            nodes.append(method.graph.call_function(target, args))
            nodes[-1].meta["val"] = result
        negative, moved = nodes
        found = method.graph.call_function(_aten.where.self, (negative, moved, index))
    found.meta["val"] = value
    return found


def _is_natural(method: MethodGraph, index: fx.Node) -> bool:
    """Whether indices are known to be zero or more."""
    for node, given in zip(method.placeholders, method.inputs, strict=True):
        if node is index and given.is_constant:
            return bool((given.value >= 0).all())
    if index.target is _aten.arange.start_step:
        start, _, step = cast("tuple[Any, ...]", index.args)
        first = start.meta["val"] if isinstance(start, fx.Node) else start
        return method.fakes.is_natural(first) and isinstance(step, int) and step > 0
    return False
