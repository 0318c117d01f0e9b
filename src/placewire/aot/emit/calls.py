"""Calls: how a node that computes something becomes an instruction and its arguments."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch._ops import OpOverload

from placewire.aot.operators import out_arguments
from placewire.aot.specs import specs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .values import ValueTable

__all__ = ["NUMBER_OPERATORS", "argument_value", "kernel_arguments", "number_operator"]

NUMBER_OPERATORS: dict[Callable[..., object], tuple[str, str]] = {
    operator.add: ("executorch_prim::add", "Scalar"),
    operator.sub: ("executorch_prim::sub", "Scalar"),
    operator.mul: ("executorch_prim::mul", "Scalar"),
    operator.floordiv: ("executorch_prim::floordiv", "Scalar"),
    operator.truediv: ("executorch_prim::truediv", "Scalar"),
    operator.mod: ("executorch_prim::mod", "Scalar"),
    operator.neg: ("executorch_prim::neg", "Scalar"),
    operator.eq: ("executorch_prim::eq", "Scalar"),
    operator.gt: ("executorch_prim::gt", "Scalar"),
    operator.ge: ("executorch_prim::ge", "Scalar"),
    operator.lt: ("executorch_prim::lt", "Scalar"),
    operator.le: ("executorch_prim::le", "Scalar"),
    math.ceil: ("executorch_prim::ceil", "Scalar"),
    math.trunc: ("executorch_prim::trunc", "Scalar"),
    round: ("executorch_prim::round", "Scalar"),
    torch.sym_float: ("executorch_prim::sym_float", "Scalar"),
    torch.sym_int: ("executorch_prim::sym_int", "Scalar"),
    torch.sym_ite: ("executorch_prim::sym_ite", "Scalar"),
    torch.sym_max: ("executorch_prim::sym_max", "Scalar"),
    torch.sym_min: ("executorch_prim::sym_min", "Scalar"),
    torch.sym_not: ("executorch_prim::sym_not", "Scalar"),
}
"""Functions on symbolic numbers, and the kernels that compute them."""


def number_operator(node: fx.Node) -> tuple[str, str] | None:
    """The kernel of a function on symbolic numbers; None if the runtime has none."""
    target = node.target
    return NUMBER_OPERATORS.get(target) if callable(target) else None


def kernel_arguments(
    node: fx.Node, kernel: OpOverload, values: ValueTable, lookup: Callable[[fx.Node], Any]
) -> tuple[list[int], list[int]]:
    """The value indices of a kernel's arguments, and those of its results.

    Results stand where the schema has its out arguments; what the kernel returns follows at the
    end: the one result, or a list of several.
    """
    assert isinstance(node.target, OpOverload)
    outs = {argument.name for argument in out_arguments(kernel)}
    results = _results(node, values)
    given = dict(_given(node))
    arguments: list[int] = []
    remaining = iter(results)
    for argument in kernel._schema.arguments:
        kind = str(argument.type)
        if argument.name in outs:
            arguments.append(
                values.tensors(results) if kind.startswith("List") else next(remaining)
            )
        else:
            value = given.get(argument.name, argument.default_value)
            arguments.append(argument_value(value, kind, values, lookup))
    if not outs:
        results = results or [arguments[0]]
    arguments.append(results[0] if len(results) == 1 else values.tensors(results))
    return arguments, results


def _results(node: fx.Node, values: ValueTable) -> list[int]:
    assert isinstance(node.target, OpOverload)
    if node.target._schema.is_mutable:
        return []
    specs = specs_of(node)
    if specs:
        return [values.tensor(spec) for spec in specs]
    return [values.result(node.meta["val"])]


def _given(node: fx.Node) -> Iterator[tuple[str, object]]:
    assert isinstance(node.target, OpOverload)
    yield from zip((a.name for a in node.target._schema.arguments), node.args, strict=False)
    yield from node.kwargs.items()


def argument_value(
    value: object, kind: str, values: ValueTable, lookup: Callable[[fx.Node], Any]
) -> int:
    """The value index of an argument; a literal gets a new value."""
    if isinstance(value, fx.Node):
        index = lookup(value)
        assert isinstance(index, int)
        return index
    inner = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Opt") else kind
    if value is None and inner == "Tensor" and not kind.startswith("Optional"):
        return values.empty_tensor()
    if isinstance(value, list | tuple):
        if inner == "List[Tensor]":
            return values.tensors(
                [argument_value(item, "Tensor", values, lookup) for item in value]
            )
        if inner == "List[Optional[Tensor]]":
            return values.optional_tensors(
                [
                    None if item is None else argument_value(item, "Tensor", values, lookup)
                    for item in value
                ]
            )
        if inner.startswith(("List[int", "List[SymInt")):
            return values.integers([argument_value(item, "int", values, lookup) for item in value])
    return values.literal(value, inner)
