"""ControlFlow: branches and loops of a graph, seen alike by every stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import torch
from torch import fx

from .graph import InputKind, MethodGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "ControlFlow",
    "Kind",
    "control_flow_of",
    "is_control_flow",
    "methods_in",
    "operands_of",
    "set_aside",
]

Kind: TypeAlias = Literal["cond", "map", "scan", "while_loop"]

_KINDS: dict[Callable[..., Any], Kind] = {
    torch.ops.higher_order.cond: "cond",
    torch.ops.higher_order.map_impl: "map",
    torch.ops.higher_order.scan: "scan",
    torch.ops.higher_order.while_loop: "while_loop",
}


@dataclass(frozen=True, slots=True)
class ControlFlow:
    """A branch or a loop.

    The first placeholders of a body are what is carried, then slices of what is mapped, then values
    from outside. What a loop carries is computed anew by each iteration, and is the first part of
    its results; what its iterations give besides is put together along a new first dimension.

    Attributes:
        kind: Which one.
        target: Its operator.
        bodies: What names the bodies in the graph: the branch for true and that for false of
            `cond`; the condition and the body of `while_loop`; else the only body.
        predicate: What `cond` asks; None for a loop.
        carried: What a loop starts with.
        mapped: What a loop takes one slice of for every iteration.
        outside: What a body takes from the graph around it.
    """

    kind: Kind
    target: Callable[..., Any]
    bodies: tuple[Any, ...]
    predicate: Any = None
    carried: tuple[Any, ...] = ()
    mapped: tuple[Any, ...] = ()
    outside: tuple[Any, ...] = ()

    @property
    def is_loop(self) -> bool:
        return self.kind != "cond"

    @property
    def arguments(self) -> tuple[Any, ...]:
        """The arguments of a node of this kind."""
        if self.kind == "cond":
            return self.predicate, *self.bodies, self.outside
        if self.kind == "map":
            return *self.bodies, self.mapped, self.outside
        if self.kind == "scan":
            return *self.bodies, self.carried, self.mapped, self.outside
        return *self.bodies, self.carried, self.outside


def is_control_flow(target: object) -> bool:
    return callable(target) and target in _KINDS


def control_flow_of(target: object, args: tuple[Any, ...]) -> ControlFlow:
    """The branch or loop that a call is."""
    assert callable(target)
    kind = _KINDS[target]
    if kind == "cond":
        predicate, true, false, *rest = args
        return ControlFlow(kind, target, (true, false), predicate, outside=_listed(rest))
    if kind == "map":
        body, mapped, outside = args
        return ControlFlow(kind, target, (body,), mapped=tuple(mapped), outside=tuple(outside))
    if kind == "scan":
        body, carried, mapped, *rest = args
        return ControlFlow(
            kind, target, (body,), None, tuple(carried), tuple(mapped), _listed(rest)
        )
    condition, body, carried, *rest = args
    return ControlFlow(
        kind, target, (condition, body), carried=tuple(carried), outside=_listed(rest)
    )


def _listed(rest: list[Any]) -> tuple[Any, ...]:
    """Operands, which may be left out if there are none."""
    return tuple(rest[0]) if rest else ()


def methods_in(method: MethodGraph) -> Iterator[MethodGraph]:
    """A method and all bodies in it, each before those that it contains."""
    yield method
    for body in method.bodies.values():
        yield from methods_in(body)


def operands_of(body: MethodGraph) -> list[fx.Node]:
    """The placeholders of a body that stand for what it takes from around it."""
    return [
        node
        for node, given in zip(body.placeholders, body.inputs, strict=True)
        if given.kind is InputKind.OPERAND
    ]


def set_aside(body: MethodGraph, carried: int) -> None:
    """Copy what an iteration passes on unchanged from one place to another.

    Its results are put into their places one after the other, so such a place may have its new
    value before the old one is read.

    Args:
        body: The body of a loop.
        carried: How many of its first operands and results the loop carries.
    """
    places = operands_of(body)[:carried]
    results: list[Any] = list(body.results)
    with body.graph.inserting_before(body.output):
        for position, result in enumerate(results[:carried]):
            if not isinstance(result, fx.Node) or result is places[position]:
                continue
            if result in places and isinstance(result.meta["val"], torch.Tensor):
                copied = body.graph.call_function(torch.ops.aten.clone.default, (result,))
                copied.meta["val"] = result.meta["val"]
                results[position] = copied
    body.output.args = (tuple(results),)
