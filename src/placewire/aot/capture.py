"""Stage 0: exported programs become functional method graphs; the caller's are left as they are."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import torch
from torch import fx
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputSpec,
    OutputKind,
)
from torch.export.graph_signature import InputKind as SignatureKind

from .alias import hidden_alias
from .control_flow import is_control_flow
from .fakes import FakeValues
from .functionalize import NotRewritableError, functionalize
from .graph import GraphInput, InputKind, MethodGraph, Unsupported, source_of
from .host_copies import HostCopies
from .operators import is_write
from .transformations import without_transformations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch.export import ExportedProgram

__all__ = ["capture"]


def capture(
    name: str, program: ExportedProgram, hosted: HostCopies | None = None
) -> tuple[MethodGraph, list[Unsupported]]:
    """The method graph of an exported program, in which nothing but write-backs writes.

    What the program writes to is followed by `functionalize`. Where that cannot tell what a write
    reaches, torch's own functionalisation does it, which takes seconds for a large model.

    Args:
        name: Name of the method.
        program: The program. It is not changed.
        hosted: Copies of tensors on other devices, which methods of one model can share.
            Default: none yet.

    Returns:
        The method, and the writes that cannot be exported. If there are any, the method is what is
        left without them, so that all else that stands in the way can be listed beside them.
    """
    hosted = HostCopies() if hosted is None else hosted
    program = without_transformations(program)
    try:
        return _functional(name, program, hosted)
    except NotRewritableError as error:
        reason = error
    alias = reason.source
    try:
        if not reason.final:
            alias = hidden_alias(program.graph, FakeValues(_values(program)))
        if alias is None:
            return _functional(name, program.run_decompositions({}), hosted)
    except NotRewritableError:
        alias = reason.source
    what = "a write" if alias is None else str(alias.target)
    where = None if alias is None else source_of(alias)
    refused = Unsupported(name, what, f"{reason}, and what it reaches is not known", where)
    hiding = None if alias is None or getattr(alias.target, "namespace", "") == "aten" else alias
    return _without_writes(_flattened(name, program, hosted), hiding), [refused]


def _values(program: ExportedProgram) -> Iterator[object]:
    return (node.meta.get("val") for node in program.graph.nodes)


def _functional(
    name: str, program: ExportedProgram, hosted: HostCopies
) -> tuple[MethodGraph, list[Unsupported]]:
    signature = program.graph_signature
    has_mutations = any(spec.kind in _MUTATIONS for spec in signature.output_specs)
    if has_mutations or any(node.op == "get_attr" for node in program.graph.nodes):
        method = _flattened(name, program, hosted)
    else:
        method = _taken_as_it_is(name, program, hosted)
    return functionalize(method, _write_backs(method, signature) if has_mutations else None)


def _taken_as_it_is(name: str, program: ExportedProgram, hosted: HostCopies) -> MethodGraph:
    return MethodGraph(
        name=name,
        graph=program.graph,
        inputs=[_input(spec, program, hosted) for spec in program.graph_signature.input_specs],
        fakes=FakeValues(_values(program)),
        in_spec=program.call_spec.in_spec,
        out_spec=program.call_spec.out_spec,
    )


def _flattened(name: str, program: ExportedProgram, hosted: HostCopies) -> MethodGraph:
    """A copy of a program's graph, with its submodules taken apart."""
    method = _taken_as_it_is(name, program, hosted)
    return _Flattening(method, program.graph_module, hosted).run()


def _without_writes(method: MethodGraph, hiding: fx.Node | None) -> MethodGraph:
    """A method in which nothing writes, and which computes something else, or less.

    What follows a write gets the old value instead. Where the new one is not like it, that is left
    out, as is what follows an operator that hides a write.

    Args:
        method: The method.
        hiding: The operator, if there is one.
    """
    graph = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node in method.graph.nodes:
        if node.op == "output" or not all(source in new for source in node.all_input_nodes):
            continue
        if hiding is not None and node.target == hiding.target:
            continue
        if node.op == "get_attr" and _has_writes(method.bodies[str(node.target)]):
            continue
        if not is_write(node.target):
            new[node] = graph.node_copy(node, new.__getitem__)
        elif isinstance(node.args[0], fx.Node) and _is_like(node, node.args[0]):
            new[node] = new[node.args[0]]
    ends = [node for node in graph.nodes if not node.users]
    graph.output(tuple(node for node in ends if isinstance(node.meta.get("val"), torch.Tensor)))
    return _replaced(method, graph)


def _has_writes(body: MethodGraph) -> bool:
    inner = any(map(_has_writes, body.bodies.values()))
    return inner or any(is_write(node.target) for node in body.graph.nodes)


def _is_like(node: fx.Node, other: fx.Node) -> bool:
    one, two = node.meta.get("val"), other.meta.get("val")
    if not isinstance(one, torch.Tensor) or not isinstance(two, torch.Tensor):
        return False
    return one.dtype == two.dtype and str(one.shape) == str(two.shape)


_KINDS = {
    SignatureKind.PARAMETER: InputKind.PARAMETER,
    SignatureKind.BUFFER: InputKind.BUFFER,
    SignatureKind.CONSTANT_TENSOR: InputKind.CONSTANT,
}


def _input(spec: InputSpec, program: ExportedProgram, hosted: HostCopies) -> GraphInput:
    if spec.kind is SignatureKind.USER_INPUT:
        value = spec.arg.value if isinstance(spec.arg, ConstantArgument) else None
        return GraphInput(InputKind.USER, spec.arg.name, value)
    assert spec.target is not None
    state = program.state_dict
    tensor = state[spec.target] if spec.target in state else program.constants[spec.target]
    return GraphInput(_KINDS[spec.kind], spec.target, hosted.copy_of(tensor))


_MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def _write_backs(method: MethodGraph, signature: ExportGraphSignature) -> dict[fx.Node, Any]:
    """Take the new values of what a functional program changes off its results."""
    placeholders = {}
    for node, given, source in zip(
        method.placeholders, method.inputs, signature.input_specs, strict=False
    ):
        placeholders[source.arg.name if given.kind is InputKind.USER else given.name] = node
    changed: dict[fx.Node, Any] = {}
    kept: list[Any] = []
    for result, spec in zip(method.results, signature.output_specs, strict=True):
        if spec.kind in _MUTATIONS:
            assert spec.target is not None
            changed[placeholders[spec.target]] = result
        else:
            kept.append(result)
    method.output.args = (tuple(kept),)
    return changed


def _replaced(method: MethodGraph, graph: fx.Graph) -> MethodGraph:
    return MethodGraph(
        method.name,
        graph,
        method.inputs,
        method.fakes,
        method.in_spec,
        method.out_spec,
        method.bodies,
    )


class _Flattening:
    """Copies a graph with its submodules taken apart.

    Blocks under `torch.no_grad()` become part of the graph, since gradients mean nothing here;
    tensors that a body holds itself become constants; bodies of control flow become method graphs.
    """

    def __init__(self, method: MethodGraph, module: fx.GraphModule, hosted: HostCopies) -> None:
        self._method = method
        self._module = module
        self._hosted = hosted
        self._graph = fx.Graph()
        self._inputs = list(method.inputs)
        self._bodies: dict[str, MethodGraph] = {}
        self._last: fx.Node | None = None

    def run(self) -> MethodGraph:
        new: dict[fx.Node, Any] = {}
        for node in self._method.graph.find_nodes(op="placeholder"):
            new[node] = self._last = self._graph.node_copy(node)
        results = self._copied(self._module, new)
        self._graph.output(tuple(results) if isinstance(results, list | tuple) else (results,))
        method = _replaced(self._method, self._graph)
        method.inputs, method.bodies = self._inputs, self._bodies
        return method

    def _copied(self, module: fx.GraphModule, new: dict[fx.Node, Any]) -> Any:
        """Copy the calls of a module whose placeholders are in `new`; gives back its results."""

        def renamed(item: Any) -> Any:
            return fx.map_arg(item, lambda old: new[old])

        for node in module.graph.nodes:
            if node.op == "get_attr":
                new[node] = self._attribute(module, node)
            elif node.op == "call_function":
                if node.target is torch.ops.higher_order.wrap_with_set_grad_enabled:
                    inner, operands = _module_of(module, node.args[1]), node.args[2:]
                    placeholders = inner.graph.find_nodes(op="placeholder")
                    values = dict(zip(placeholders, map(renamed, operands), strict=True))
                    new[node] = self._copied(inner, values)
                elif node.target is operator.getitem and not isinstance(new[node.args[0]], fx.Node):
                    new[node] = new[node.args[0]][node.args[1]]
                else:
                    new[node] = self._called(node, new)
        return renamed(module.graph.output_node().args[0])

    def _called(self, node: fx.Node, new: dict[fx.Node, Any]) -> fx.Node:
        """Copy a call. One of a branch gives a tuple, also if torch left a single tensor bare."""
        call = self._graph.node_copy(node, new.__getitem__)
        value = call.meta.get("val")
        if not is_control_flow(node.target) or isinstance(value, tuple | list):
            return call
        item = self._graph.call_function(operator.getitem, (call, 0))
        item.meta = dict(call.meta)
        call.meta["val"] = (value,)
        return item

    def _attribute(self, module: fx.GraphModule, node: fx.Node) -> fx.Node | None:
        value = _attribute_of(module, node)
        if isinstance(value, torch.Tensor):
            return self._constant(node, value)
        assert isinstance(value, fx.GraphModule)
        if all(
            user.target is torch.ops.higher_order.wrap_with_set_grad_enabled for user in node.users
        ):
            return None
        name = f"body_{len(self._bodies)}"
        self._bodies[name] = self._body(f"{self._method.name}.{node.target}", value)
        return self._graph.create_node("get_attr", name)

    def _constant(self, node: fx.Node, value: torch.Tensor) -> fx.Node:
        position = (
            self._graph.inserting_after(self._last)
            if self._last is not None
            else self._graph.inserting_before(next(iter(self._graph.nodes), None))
        )
        with position:
            constant = self._graph.placeholder(f"{node.name}_value")
        constant.meta["val"] = self._method.fakes.canonical(value)
        self._last = constant
        data = self._hosted.copy_of(value)
        self._inputs.append(GraphInput(InputKind.CONSTANT, str(node.target), data))
        return constant

    def _body(self, name: str, module: fx.GraphModule) -> MethodGraph:
        placeholders = module.graph.find_nodes(op="placeholder")
        inputs = [GraphInput(InputKind.OPERAND, node.name) for node in placeholders]
        method = MethodGraph(name, module.graph, inputs, self._method.fakes)
        return _Flattening(method, module, self._hosted).run()


def _module_of(module: fx.GraphModule, node: object) -> fx.GraphModule:
    assert isinstance(node, fx.Node)
    inner = _attribute_of(module, node)
    assert isinstance(inner, fx.GraphModule)
    return inner


def _attribute_of(module: fx.GraphModule, node: fx.Node) -> object:
    value: object = module
    for part in str(node.target).split("."):
        value = getattr(value, part)
    return value
