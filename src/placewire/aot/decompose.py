"""Stage 1: operators become kernels that the target has; all that it lacks is listed at once."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch._ops import HigherOrderOperator, OpOverload

from .arguments import collected, mapped, replaced
from .control_flow import ControlFlow, control_flow_of, is_control_flow
from .delegates import is_delegate_call
from .emit.calls import NUMBER_OPERATORS
from .graph import GraphInput, InputKind, MethodGraph, Unsupported, source_of
from .layouts import has_standard_layout
from .operators import custom_remedy
from .recipes import CHECKS, Constant, Operand, Recipe, Recipes, Result, UnsupportedOperatorError
from .specs import rank_problem
from .transformations import is_transformation, refusal_of_transformation

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Unsupported", "decompose"]


def decompose(method: MethodGraph, recipes: Recipes) -> tuple[MethodGraph, list[Unsupported]]:
    """Rewrite a functional method in terms of the target's kernels.

    Returns:
        The new method, and everything that stands in the way; if there is anything, the method is
        not complete.
    """
    rewriting = _Rewriting(method, recipes)
    return rewriting.run(), rewriting.unsupported


@dataclass
class _Rewriting:
    method: MethodGraph
    recipes: Recipes
    graph: fx.Graph = field(default_factory=fx.Graph)
    inputs: list[GraphInput] = field(default_factory=list)
    unsupported: list[Unsupported] = field(default_factory=list)
    _new: dict[fx.Node, Any] = field(default_factory=dict)
    _constants: dict[Constant, fx.Node] = field(default_factory=dict)
    _sizes: dict[tuple[fx.Node, object], fx.Node] = field(default_factory=dict)
    _bodies: dict[str, MethodGraph] = field(default_factory=dict)

    def run(self, operands: Sequence[object] = ()) -> MethodGraph:
        """The new method.

        Args:
            operands: For a body, what its first placeholders stand for: fake values, or numbers
                that are always the same and need no placeholder.
        """
        placeholders = zip(self.method.placeholders, self.method.inputs, strict=True)
        for position, (node, given) in enumerate(placeholders):
            if position < len(operands):
                self._operand(node, given, operands[position])
            else:
                self._placeholder(node, given)
        for node in self.method.graph.nodes:
            if node.op == "call_function":
                self._new[node] = self._called(node)
            elif node.op == "get_attr":
                self._new[node] = self.method.bodies[str(node.target)]
        results = self._resolved(self.method.results)
        if operands:
            results = tuple(map(self._contiguous, results))
        self.graph.output(results)
        return MethodGraph(
            name=self.method.name,
            graph=self.graph,
            inputs=self.inputs,
            fakes=self.method.fakes,
            in_spec=self.method.in_spec,
            out_spec=self.method.out_spec,
            bodies=self._bodies,
            delegates=self.method.delegates,
        )

    def _placeholder(self, node: fx.Node, given: GraphInput) -> None:
        new = self.graph.placeholder(node.name)
        value = node.meta["val"]
        if reason := _unwritable(value) or _unreadable(given.value):
            self._refuse(node, f"the {given.kind.value} {given.name}", reason)
            new.meta["val"] = self.method.fakes.tensor(torch.float32, value.shape)
            self.inputs.append(given)
            self._new[node] = new
            return
        if isinstance(value, torch.Tensor) and not _keeps_layout(given, value):
            new.meta["val"] = self.method.fakes.tensor(value.dtype, value.shape)
            if isinstance(given.value, torch.Tensor):
                given = replace(given, value=given.value.contiguous())
        else:
            new.meta["val"] = self.method.fakes.canonical(value)
        self.inputs.append(given)
        self._new[node] = new

    def _operand(self, node: fx.Node, given: GraphInput, value: object) -> None:
        if isinstance(value, bool | int | float | str | None):
            self._new[node] = value
            return
        self._placeholder(node, given)
        self._new[node].meta["val"] = value

    def _called(self, node: fx.Node) -> Any:
        target = node.target
        args, kwargs = self._resolved(node.args), self._resolved(node.kwargs)
        if target is operator.getitem:
            return args[0][args[1]]
        if target in CHECKS:
            return None
        if is_delegate_call(node):
            return self._taken_apart(self._copied(node))
        if is_control_flow(target):
            return self._control_flow(node, control_flow_of(target, args))
        if target is torch.ops.aten.sym_size.int:
            return self._size_of(node, args)
        if isinstance(target, HigherOrderOperator):
            self._refuse_higher_order(node)
            refused = self.graph.call_function(target)
            refused.meta["val"] = self.method.fakes.canonical(node.meta["val"])
            return self._taken_apart(refused)
        if is_transformation(target):
            return self._transformation(node)
        if not isinstance(target, OpOverload):
            return self._number(node, args, kwargs)
        if target is torch.ops.aten.detach_.default:
            return args[0]
        if self._is_unwritable(node):
            return self._taken_apart(self._copied(node))
        if target._schema.is_mutable:
            if not self.recipes.has_kernel(target):
                self._refuse_operator(node, target)
            return self._taken_apart(self._copied(node))
        operands = collected((args, kwargs), fx.Node)
        names = {operand: Operand(index) for index, operand in enumerate(operands)}
        try:
            recipe = self.recipes.find(
                target,
                replaced(args, fx.Node, names),
                replaced(kwargs, fx.Node, names),
                [operand.meta["val"] for operand in operands],
                self._data_dependent_value(node),
            )
        except UnsupportedOperatorError as error:
            self._refuse(node, error.operator, error.reason)
            return self._taken_apart(self._copied(node))
        return self._spliced(recipe, operands, node)

    def _is_unwritable(self, node: fx.Node) -> bool:
        """Whether a call has to do with a kind of tensor that no program can hold.

        It is listed where such a tensor first appears, not again for all that follows from it.
        """
        operands = [_unwritable(argument.meta.get("val")) for argument in node.all_input_nodes]
        reason = _unwritable(node.meta.get("val"))
        if reason and not any(operands):
            self._refuse(node, node.target, reason)
        return reason is not None or any(operands)

    def _spliced(self, recipe: Recipe, operands: Sequence[fx.Node], source: fx.Node) -> Any:
        """Put the steps of a recipe into the graph; gives back the nodes of its result."""
        results: list[Any] = []

        def place(item: object) -> object:
            if isinstance(item, Operand):
                return operands[item.index]
            if isinstance(item, Constant):
                return self._constant(item)
            if isinstance(item, Result):
                result = results[item.step]
                return result if item.item is None else self._item(result, item.item)
            return item

        for step in recipe.steps:
            node = self.graph.call_function(
                step.target, mapped(step.args, place), mapped(step.kwargs, place)
            )
            node.meta["val"] = step.value
            _take_source(node, source)
            results.append(node)
        return mapped(recipe.result, place)

    def _control_flow(self, node: fx.Node, flow: ControlFlow) -> Any:
        """Decompose the bodies of a branch or loop, each anew for every use."""
        flow = replace(flow, outside=tuple(map(self._contiguous, flow.outside)))
        bodies = []
        for body in flow.bodies:
            rewriting = _Rewriting(body, self.recipes)
            name = f"body_{len(self._bodies)}"
            self._bodies[name] = rewriting.run(self._operands(body, flow))
            self.unsupported += rewriting.unsupported
            bodies.append(self.graph.create_node("get_attr", name))
        inner = replace(
            flow,
            bodies=tuple(bodies),
            carried=tuple(map(self._contiguous, flow.carried)),
            mapped=tuple(map(self._contiguous, flow.mapped)),
            outside=tuple(item for item in flow.outside if isinstance(item, fx.Node)),
        )
        new = self.graph.call_function(flow.target, inner.arguments)
        new.meta["val"] = tuple(map(self._contiguous_value, node.meta["val"]))
        _take_source(new, node)
        return self._taken_apart(new)

    def _operands(self, body: MethodGraph, flow: ControlFlow) -> list[object]:
        """What the placeholders of a body stand for; what changes in a loop is contiguous."""
        changing = len(flow.carried) + len(flow.mapped)
        inside = [node.meta["val"] for node in body.placeholders[:changing]]
        outside = [item.meta["val"] if isinstance(item, fx.Node) else item for item in flow.outside]
        return [self._contiguous_value(value) for value in inside] + outside

    def _contiguous_value(self, value: Any) -> object:
        fakes = self.method.fakes
        if isinstance(value, torch.Tensor):
            return fakes.tensor(value.dtype, value.shape)
        return fakes.canonical(value)

    def _contiguous(self, item: Any) -> Any:
        """A tensor with its elements in the order of its dimensions; numbers as they are."""
        if not isinstance(item, fx.Node) or not isinstance(item.meta["val"], torch.Tensor):
            return item
        if item.meta["val"] is self._contiguous_value(item.meta["val"]):
            return item
        recipe = self.recipes.find(
            torch.ops.aten.clone.default,
            (Operand(0),),
            {"memory_format": torch.contiguous_format},
            [item.meta["val"]],
        )
        return self._spliced(recipe, [item], item)

    def _taken_apart(self, node: fx.Node) -> Any:
        """A node, or one for each of its results if it has several."""
        value = node.meta.get("val")
        if isinstance(value, tuple):
            return tuple(self._item(node, item) for item in range(len(value)))
        return node

    def _item(self, node: fx.Node, item: int) -> fx.Node:
        for user in node.users:
            if user.target is operator.getitem and user.args[1] == item:
                return user
        new = self.graph.call_function(operator.getitem, (node, item))
        new.meta["val"] = node.meta["val"][item]
        _take_source(new, node)
        return new

    def _constant(self, constant: Constant) -> fx.Node:
        known = self._constants.get(constant)
        if known is None:
            last = self.graph.find_nodes(op="placeholder")
            name = f"constant_{len(self._constants)}"
            with self._after_placeholders(last):
                known = self.graph.placeholder(name)
            tensor = torch.tensor(constant.value, dtype=constant.dtype)
            known.meta["val"] = self.method.fakes.canonical(tensor)
            self.inputs.append(GraphInput(InputKind.CONSTANT, name, tensor))
            self._constants[constant] = known
        return known

    def _after_placeholders(self, placeholders: Any) -> Any:
        last = list(placeholders)
        if last:
            return self.graph.inserting_after(last[-1])
        return self.graph.inserting_before(next(iter(self.graph.nodes), None))

    def _size_of(self, node: fx.Node, args: tuple[Any, ...]) -> Any:
        """A size, read once however often it is asked for; a number if it is always the same."""
        value = self.method.fakes.canonical(node.meta["val"])
        if isinstance(value, int):
            return value
        known = self._sizes.get(args)
        if known is None:
            size_of = torch.ops.aten.sym_size.int
            known = self._sizes[args] = self.graph.call_function(size_of, args)
            known.meta["val"] = value
            _take_source(known, node)
        return known

    def _number(self, node: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A function on symbolic numbers, which is a number itself if its result is always one."""
        value = self.method.fakes.canonical(node.meta["val"])
        if isinstance(value, bool | int | float):
            return value
        if node.target not in NUMBER_OPERATORS and not _is_only_checked(node):
            name = getattr(node.target, "__name__", str(node.target))
            self._refuse(node, name, f"{self.recipes.target} has no kernel for it on sizes")
        assert callable(node.target)
        new = self.graph.call_function(node.target, args, kwargs)
        new.meta["val"] = value
        _take_source(new, node)
        return new

    def _refuse_higher_order(self, node: fx.Node) -> None:
        written = node.args[0] if node.target in _WRITES_OF_CUSTOM_OPERATORS else None
        if isinstance(written, OpOverload):
            self._refuse_operator(node, written)
        else:
            self._refuse(node, node.target, "it is none of cond, map, scan and while_loop")

    def _refuse_operator(self, node: fx.Node, op: OpOverload) -> None:
        remedy = custom_remedy(op)
        reason = f"the target {self.recipes.target} has no kernel for it"
        self._refuse(node, op, reason if remedy is None else f"{reason}; {remedy}")

    def _transformation(self, node: fx.Node) -> fx.Node:
        """Refuse a transformation, once for each line of the user's."""
        refusal = refusal_of_transformation(node)
        if refusal is not None:
            refused = Unsupported(self.method.name, *refusal, source_of(node))
            if refused not in self.unsupported:
                self.unsupported.append(refused)
        return self._copied(node)

    def _copied(self, node: fx.Node) -> fx.Node:
        new = self.graph.node_copy(node, lambda old: self._new[old])
        if "val" in node.meta:
            value = node.meta["val"]
            new.meta["val"] = value if _unwritable(value) else self.method.fakes.canonical(value)
        return new

    def _data_dependent_value(self, node: fx.Node) -> object:
        if not node.meta.get("unbacked_bindings"):
            return None
        return self.method.fakes.canonical(node.meta["val"])

    def _refuse(self, node: fx.Node, what: object, reason: str) -> None:
        self.unsupported.append(Unsupported(self.method.name, str(what), reason, source_of(node)))

    def _resolved(self, structure: Any) -> Any:
        return replaced(structure, fx.Node, self._new)


_WRITES_OF_CUSTOM_OPERATORS = frozenset(
    {
        torch.ops.higher_order.auto_functionalized,
        torch.ops.higher_order.auto_functionalized_v2,
    }
)
"""What torch's functionalisation makes of custom operators that write; the first argument names
the operator."""


def _is_only_checked(node: fx.Node) -> bool:
    """Whether a number is used for nothing but checks, which programs leave out."""
    return all(
        user.target in CHECKS
        or (user.op == "call_function" and _is_on_numbers(user) and _is_only_checked(user))
        for user in node.users
    )


def _is_on_numbers(node: fx.Node) -> bool:
    return not isinstance(node.target, OpOverload | HigherOrderOperator)


def _unwritable(value: object) -> str | None:
    """Why no program can hold a value; None if it can, or has nothing to do with tensors."""
    if isinstance(value, list | tuple):
        return next(filter(None, map(_unwritable, value)), None)
    if not isinstance(value, torch.Tensor):
        return None
    if value.layout is not torch.strided:
        return f"programs hold dense tensors; found the layout {value.layout}"
    if value.dtype.is_complex:
        return f"programs hold no complex numbers; found {value.dtype}"
    return rank_problem(value)


def _unreadable(value: object) -> str | None:
    """Why the data of a parameter, buffer or constant cannot be stored; None if it can."""
    if isinstance(value, torch.Tensor) and value.is_meta:
        return (
            "its data has to be stored; found a tensor without any, as those on the device meta, "
            "fake tensors, and what torch.export keeps of gradients"
        )
    return None


def _keeps_layout(given: GraphInput, value: torch.Tensor) -> bool:
    """Whether a tensor from outside is taken as it lies; if not, it has to be contiguous.

    Runtimes take arguments that are contiguous or have their channels last. What we store
    ourselves can be contiguous.
    """
    return given.kind is InputKind.USER and has_standard_layout(value)


def _take_source(node: fx.Node, source: fx.Node) -> None:
    for key in ("stack_trace", "nn_module_stack"):
        if key in source.meta:
            node.meta[key] = source.meta[key]
