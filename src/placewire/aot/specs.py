"""TensorSpec: all that a program will say of a tensor, gathered while the graph is lowered."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from placewire_schema.program import ScalarType, TensorShapeDynamism

from placewire.placement import CPU

from .control_flow import ControlFlow, control_flow_of, is_control_flow, operands_of, set_aside
from .delegates import is_delegate_call
from .graph import GraphInput, InputKind, MethodGraph, source_of
from .layouts import dim_order_of
from .operators import is_write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import fx

    from placewire.device import Device

    from .fakes import FakeValues

__all__ = [
    "Place",
    "TensorSpec",
    "UnboundedSizeError",
    "add_specs",
    "is_item",
    "rank_problem",
    "scalar_type_of",
    "spec_of",
    "specs_of",
]


class UnboundedSizeError(ValueError):
    """A tensor has a size that nothing bounds, so no memory can be planned for it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the memory plan puts a tensor: a planned buffer, counted from 1, and a byte in it."""

    buffer: int
    offset: int


@dataclass(slots=True, eq=False)
class TensorSpec:
    """A tensor of a program. Nodes that stand for the same tensor share one.

    Attributes:
        scalar_type: Type of its elements.
        sizes: Extent of each dimension in elements, its upper bound if the shape is dynamic.
        dim_order: The dimensions from outermost to innermost in memory.
        dynamism: Whether the shape can change from call to call.
        device: Where its data is. Default `cpu:0`.
        pool: The memory pool that the planner takes it from; pools are kept apart. Default 0.
        planned: Whether the memory plan gives it a place; else the caller brings the memory.
        constant: Its value, if it never changes.
        initial: Its value when the program is loaded, if the program changes it later.
        qualified_name: Name of the buffer that it is in the model, where that is of use.
        base: The tensor whose memory this one shares, from its first byte on.
        place: What the memory plan says.
    """

    scalar_type: ScalarType
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: TensorShapeDynamism = TensorShapeDynamism.STATIC
    device: Device = CPU
    pool: int = 0
    planned: bool = True
    constant: torch.Tensor | None = None
    initial: torch.Tensor | None = None
    qualified_name: str | None = None
    base: TensorSpec | None = None
    place: Place | None = None

    @property
    def numel(self) -> int:
        """Number of elements at the upper bounds of the sizes."""
        count = 1
        for size in self.sizes:
            count *= size
        return count

    @property
    def nbytes(self) -> int:
        """Bytes of its data at the upper bounds of the sizes."""
        return self.numel * self.scalar_type.bytes

    @property
    def storage(self) -> TensorSpec:
        """The tensor whose memory this one lies in: itself, unless it is a view."""
        spec = self
        while spec.base is not None:
            spec = spec.base
        return spec

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in the order of its dimensions."""
        return self.dim_order == tuple(range(len(self.sizes)))


def specs_of(node: fx.Node) -> tuple[TensorSpec, ...]:
    """The tensors of a node's results, in order; none for one that computes a number."""
    spec = node.meta.get("spec")
    if spec is None:
        return ()
    return spec if isinstance(spec, tuple) else (spec,)


def spec_of(node: fx.Node) -> TensorSpec:
    """The tensor of a node that has exactly one."""
    spec = node.meta["spec"]
    assert isinstance(spec, TensorSpec)
    return spec


def add_specs(method: MethodGraph, *, names: bool = True) -> None:
    """Give every node that stands for tensors its specs: `meta["spec"]`.

    Args:
        method: The method.
        names: Let the buffers that the method changes keep their qualified names.

    Raises:
        UnboundedSizeError: A size has no upper bound; the message names the node.
    """
    _Specs(method, {}, names=names).add()


class _Specs:
    """Adds specs to one graph.

    Args:
        method: The graph.
        given: Specs that results of calls get: by node and, if it has several, by number.
        names: As in `add_specs`; bodies of control flow have no buffers of their own.
    """

    def __init__(
        self,
        method: MethodGraph,
        given: dict[tuple[fx.Node, int | None], TensorSpec],
        *,
        names: bool = False,
    ) -> None:
        self._method = method
        self._given = given
        self._names = names

    def add(self) -> None:
        method = self._method
        for node, given in zip(method.placeholders, method.inputs, strict=True):
            value = node.meta["val"]
            if isinstance(value, torch.Tensor) and given.kind is not InputKind.OPERAND:
                node.meta["spec"] = self._of_input(node, value, given)
        for node in method.graph.nodes:
            if node.op == "call_function" and "spec" not in node.meta:
                if is_control_flow(node.target):
                    self._add_to_control_flow(node)
                else:
                    self._add_to_call(node)

    def _of_input(self, node: fx.Node, value: torch.Tensor, given: GraphInput) -> TensorSpec:
        spec = _spec(node, value, self._method.fakes)
        if given.kind is not InputKind.USER:
            if given.is_state:
                spec.initial = given.value
                spec.qualified_name = given.name if self._names else None
            else:
                spec.constant = given.value
                spec.planned = False
        return spec

    def _add_to_call(self, node: fx.Node) -> None:
        source = node.args[0] if node.args else None
        if is_item(node):
            assert isinstance(source, torch.fx.Node)
            index = node.args[1]
            specs = source.meta.get("spec")
            if isinstance(specs, tuple) and isinstance(index, int) and specs[index] is not None:
                node.meta["spec"] = specs[index]
            return
        if is_write(node.target):
            return
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            node.meta["spec"] = self._of_result(node, None, value)
        elif isinstance(value, tuple):
            node.meta["spec"] = tuple(
                self._of_result(node, item, result) if isinstance(result, torch.Tensor) else None
                for item, result in enumerate(value)
            )

    def _of_result(self, node: fx.Node, item: int | None, value: torch.Tensor) -> TensorSpec:
        return self._given.get((node, item)) or _spec(node, value, self._method.fakes)

    def _add_to_control_flow(self, node: fx.Node) -> None:
        """Results of a branch or loop, and the placeholders of its bodies.

        What a loop carries is one tensor for all iterations, the result included. It may be that
        which the loop starts with, if nobody else reads that.
        """
        flow = control_flow_of(node.target, node.args)
        self._add_to_call(node)
        results: list[TensorSpec | None] = list(node.meta["spec"])
        for position, start in enumerate(flow.carried):
            if _is_handed_over(start, node, flow, position):
                results[position] = spec_of(start)
        for position in range(len(flow.carried), len(results)) if flow.mapped else ():
            if (stacked := results[position]) is not None:
                stacked.dynamism = TensorShapeDynamism.DYNAMIC_BOUND
        node.meta["spec"] = tuple(results)
        slices: list[TensorSpec | None] | None = None
        for name in flow.bodies:
            body = self._method.bodies[str(name.target)]
            operands = operands_of(body)
            if slices is None:
                mapped = operands[len(flow.carried) : len(flow.carried) + len(flow.mapped)]
                slices = [_spec(one, one.meta["val"], body.fakes) for one in mapped]
            outside = [one.meta.get("spec") for one in flow.outside]
            inside = [*results[: len(flow.carried)], *slices, *outside]
            for operand, spec in zip(operands, inside, strict=True):
                if spec is not None:
                    operand.meta["spec"] = spec
            if flow.is_loop and name is flow.bodies[-1]:
                set_aside(body, len(flow.carried))
            given = {} if flow.is_loop else _result_places(body, results)
            _Specs(body, given).add()


def _is_handed_over(start: object, loop: fx.Node, flow: ControlFlow, position: int) -> bool:
    """Whether a loop may overwrite what it starts with: it is computed for nothing else."""
    if not isinstance(start, torch.fx.Node) or list(start.users) != [loop]:
        return False
    times = sum(item is start for item in (*flow.carried, *flow.mapped, *flow.outside))
    return (
        times == 1
        and start.op == "call_function"
        and not _is_of_delegate(start)
        and isinstance(start.meta.get("spec"), TensorSpec)
        and start.meta["val"] is loop.meta["val"][position]
    )


def _result_places(
    branch: MethodGraph, results: list[TensorSpec | None]
) -> dict[tuple[fx.Node, int | None], TensorSpec]:
    """The results of a branch that its operators can put where the results of the `cond` are.

    Not those that are no operator's own result, or that the branch gives twice.
    """
    places: dict[tuple[fx.Node, int | None], TensorSpec] = {}
    for result, spec in zip(branch.results, results, strict=True):
        if not isinstance(result, torch.fx.Node) or result.op != "call_function" or spec is None:
            continue
        if _is_of_delegate(result):
            continue
        item = result.args[1] if is_item(result) else None
        node = result.args[0] if is_item(result) else result
        assert isinstance(node, torch.fx.Node)
        assert item is None or isinstance(item, int)
        if branch.results.count(result) > 1:
            continue
        shape = tuple(result.meta["val"].shape)
        if spec.dynamism is TensorShapeDynamism.DYNAMIC_BOUND or shape == spec.sizes:
            places[node, item] = spec
    return places


def _is_of_delegate(node: fx.Node) -> bool:
    """Whether a delegate computes a node, which then is on the delegate's device."""
    return is_item(node) and is_delegate_call(node.args[0])  # type: ignore[arg-type]


def is_item(node: fx.Node) -> bool:
    """Whether a node takes one result out of several."""
    return node.target is operator.getitem


def _spec(node: fx.Node, value: torch.Tensor, fakes: FakeValues) -> TensorSpec:
    sizes = [_bounded(node, value, dimension, fakes) for dimension in range(value.dim())]
    static = all(isinstance(size, int) for size in value.shape)
    return TensorSpec(
        scalar_type=scalar_type_of(value.dtype),
        sizes=tuple(sizes),
        dim_order=dim_order_of(value),
        dynamism=TensorShapeDynamism.STATIC if static else TensorShapeDynamism.DYNAMIC_BOUND,
    )


def _bounded(node: fx.Node, value: torch.Tensor, dimension: int, fakes: FakeValues) -> int:
    bound = fakes.upper_bound(value.shape[dimension])
    if bound is None:
        source = source_of(node)
        where = f"\n    {source}" if source else ""
        raise UnboundedSizeError(
            f"{node.name}: nothing bounds dimension {dimension} of {tuple(value.shape)}; give it a "
            "maximum: torch.export.Dim(name, max=...) for an input, torch._check(size <= ...) for "
            f"a size that depends on data{where}"
        )
    return bound


_SCALAR_TYPES = {
    getattr(torch, member.torch): member
    for member in ScalarType
    if isinstance(getattr(torch, member.torch, None), torch.dtype)
}


_HIGHEST_RANK = 16
"""ExecuTorch's kernels count dimensions in arrays of this length."""


def rank_problem(tensor: torch.Tensor) -> str | None:
    """Why no program can hold a tensor of so many dimensions; None if it can."""
    if tensor.dim() <= _HIGHEST_RANK:
        return None
    return f"programs hold tensors of at most {_HIGHEST_RANK} dimensions; found {tensor.dim()}"


def scalar_type_of(dtype: torch.dtype) -> ScalarType:
    """The wire's name of a dtype.

    Raises:
        ValueError: The wire has none.
    """
    found = _SCALAR_TYPES.get(dtype)
    if found is None:
        known: Iterable[str] = sorted(str(known) for known in _SCALAR_TYPES)
        raise ValueError(f"a program cannot hold {dtype}; it can hold {', '.join(known)}")
    return found
