"""Invariants: what must hold of a graph after a pass of the user, so that it can be emitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import torch
from placewire_schema.program import ScalarType
from torch import fx
from torch._ops import OpOverload

from placewire.device import Device

from .control_flow import is_control_flow
from .copies import is_copy
from .delegates import is_delegate_call
from .emit import number_operator
from .operators import is_write, kernel_of
from .passes import Pass, PassResult
from .specs import TensorSpec, is_item, specs_of
from .user_code import calling
from .views import is_view
from .wording import described, with_article

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import MethodGraph
    from .target import Target

__all__ = ["CheckedPass", "InvalidGraphError"]


class InvalidGraphError(ValueError):
    """A pass left a graph that no program can be made of; the message names the pass and node."""


@dataclass(frozen=True)
class CheckedPass:
    """A pass of the user, with a look at its work.

    Attributes:
        step: The pass.
        target: The runtime that the program is for.
        devices: Whether memory is planned for devices, so that tensors lie where their specs say.
    """

    step: Pass
    target: Target
    devices: bool

    @property
    def name(self) -> str:
        return self.step.name

    @property
    def requires(self) -> frozenset[str]:
        return self.step.requires

    @property
    def ensures(self) -> frozenset[str]:
        return self.step.ensures

    def __call__(self, graph: MethodGraph, /) -> PassResult:
        """Run the pass.

        Raises:
            TypeError: It gives no `PassResult`.
            InvalidGraphError: What it left cannot be emitted.
        """
        leaves = None if graph.out_spec is None else graph.out_spec.num_leaves
        name = graph.name
        with calling(f"the pass {self.name}, in {name}"):
            result = self.step(graph)
        if graph.name != name:
            raise InvalidGraphError(f"the pass {self.name} called {name} {graph.name!r}")
        if not isinstance(result, PassResult):
            raise TypeError(f"the pass {self.name} gave {described(result)}, expected a PassResult")
        self._check_results(graph, leaves)
        ends = [*graph.placeholders, *(node for node in graph.results if isinstance(node, fx.Node))]
        for node in ends:
            self._check_types(graph, node)
        self._check(graph, {spec.storage for node in ends for spec in _tensors(node)})
        return result

    def _check(self, method: MethodGraph, callers: set[TensorSpec]) -> None:
        """Look at a graph and its bodies; `callers` is memory that the caller may bring."""
        placeholders = len(method.placeholders)
        if placeholders != len(method.inputs):
            self._refuse(method, f"{placeholders} placeholders for {len(method.inputs)} inputs")
        seen: set[fx.Node] = set()
        for node in method.graph.nodes:
            self._check_types(method, node)
            problem = _order_problem(node, seen) or _spec_problem(node, callers)
            if node.op == "call_function":
                problem = problem or _call_problem(node, self.target, devices=self.devices)
            if problem is not None:
                self._refuse(method, f"{node.name}: {problem}")
            seen.add(node)
        for body in method.bodies.values():
            self._check(body, callers)

    def _check_results(self, method: MethodGraph, count: int | None) -> None:
        """Look at the end of a graph, which has `count` results if that is known."""
        last = next(iter(reversed(method.graph.nodes)), None)
        if last is None or last.op != "output":
            found = "the graph is empty" if last is None else f"the last node is {last.name}"
            self._refuse(method, f"{found}; expected the output node")
        results: object = last.args[0] if last.args else None
        if not isinstance(results, tuple):
            self._refuse(
                method, f"output: it has {described(results)}; expected a tuple of results"
            )
        elif count is not None and len(results) != count:
            self._refuse(method, f"output: there are {len(results)} results; expected {count}")

    def _check_types(self, method: MethodGraph, node: fx.Node) -> None:
        if problem := _type_problem(node):
            self._refuse(method, f"{node.name}: {problem}")

    def _refuse(self, method: MethodGraph, problem: str) -> NoReturn:
        raise InvalidGraphError(f"after the pass {self.name}, in {method.name}: {problem}")


def _type_problem(node: fx.Node) -> str | None:
    """What is no value or spec at all, so that nothing else can be asked of it."""
    if node.op not in ("placeholder", "call_function", "get_attr", "output"):
        return f"it is {with_article(node.op)}; expected calls of operators"
    if node.op == "call_function" and "val" not in node.meta and not is_write(node.target):
        return 'it has no fake value in meta["val"]'
    specs: Sequence[object] = specs_of(node)
    for spec in specs:
        if spec is None:
            continue
        if not isinstance(spec, TensorSpec):
            return f'meta["spec"] has {described(spec)}; expected a TensorSpec'
        for name, kind in _SPEC_TYPES:
            value = getattr(spec, name)
            if not isinstance(value, kind):
                return f"{name} of its spec is {value!r}; expected {with_article(kind.__name__)}"
        if not all(isinstance(size, int) for size in spec.sizes):
            return f"sizes of its spec are {spec.sizes}; expected whole numbers"
        if sorted(spec.dim_order) != list(range(len(spec.sizes))):
            return f"dim_order of its spec is {spec.dim_order} for {len(spec.sizes)} dimensions"
        if problem := _base_problem(spec):
            return problem
    return None


_SPEC_TYPES: tuple[tuple[str, type], ...] = (
    ("scalar_type", ScalarType),
    ("sizes", tuple),
    ("dim_order", tuple),
    ("device", Device),
    ("pool", int),
)


def _base_problem(spec: TensorSpec) -> str | None:
    seen = {spec}
    base: object = spec.base
    while base is not None:
        if not isinstance(base, TensorSpec):
            return f"base of its spec is {base!r}; expected a TensorSpec"
        if base in seen:
            return "its spec is a view of itself, through base"
        seen.add(base)
        base = base.base
    return None


def _order_problem(node: fx.Node, seen: set[fx.Node]) -> str | None:
    late = [source.name for source in node.all_input_nodes if source not in seen]
    return f"it stands before {late[0]}, which it uses" if late else None


def _spec_problem(node: fx.Node, callers: set[TensorSpec]) -> str | None:
    value = node.meta.get("val")
    if node.op == "output" or is_write(node.target):
        return None
    if isinstance(value, torch.Tensor) and not specs_of(node):
        return 'it computes a tensor and has no TensorSpec in meta["spec"]'
    for spec in _tensors(node):
        if any(size < 0 for size in spec.sizes) or spec.pool < 0:
            return f"no size or pool is negative; found {list(spec.sizes)} and {spec.pool}"
        storage = spec.storage
        if not storage.planned and storage.constant is None and storage not in callers:
            return "it is neither planned, nor constant, nor an input or result of the method"
    return None


def _call_problem(node: fx.Node, target: Target, *, devices: bool) -> str | None:
    if is_control_flow(node.target) or is_delegate_call(node) or is_item(node) or is_view(node):
        return None
    if not isinstance(node.target, OpOverload):
        return None if number_operator(node) else f"{target.name} has no kernel for it"
    if is_copy(node):
        return None
    if kernel_of(node.target, target) is None:
        return f"{target.name} has no kernel for {node.target}"
    if is_write(node.target):
        return None
    if problem := _arguments_problem(node, node.target):
        return problem
    if not devices:
        return None
    for one in (node, *node.all_input_nodes):
        for spec in _tensors(one):
            if not spec.device.is_cpu:
                return f"its kernel runs on the CPU, but {one.name} is on {spec.device}"
    return None


def _arguments_problem(node: fx.Node, operator: OpOverload) -> str | None:
    wanted = operator._schema.arguments
    by_position = [argument for argument in wanted if not argument.kwarg_only]
    if len(node.args) > len(by_position):
        return f"it has {len(node.args)} arguments; {operator} takes {len(by_position)}"
    names = {argument.name for argument in wanted}
    if unknown := sorted(set(node.kwargs) - names):
        return f"{operator} has no argument {unknown[0]}"
    given = {argument.name for argument in by_position[: len(node.args)]} | node.kwargs.keys()
    missing = [
        each.name for each in wanted if not each.has_default_value() and each.name not in given
    ]
    return f"it lacks the argument {missing[0]} of {operator}" if missing else None


def _tensors(node: fx.Node) -> list[TensorSpec]:
    specs: Sequence[TensorSpec | None] = specs_of(node)
    return [spec for spec in specs if spec is not None]
