"""Cuts a partition out of a graph as an exported program of its own, which backends can compile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import fx
from torch._export.verifier import TrainingIRVerifier
from torch._prims_common import make_channels_last_strides_for
from torch.export import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import (
    ArgumentSpec,
    ExportGraphSignature,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch.export.graph_signature import InputKind as SignatureKind
from torch.utils import _pytree as pytree

from .graph import GraphInput, InputKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .fakes import FakeValues

__all__ = ["Subgraph", "cut"]


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A part of a graph, and how it is connected to the rest.

    Attributes:
        program: The part as a program. Its user inputs and outputs are those below, in that order.
        inputs: Nodes outside that it uses.
        outputs: Nodes inside that the rest uses.
        values: The fake value of each output: contiguous, or in channels-last order.
        read_again: Nodes inside whose numbers the rest uses, with those that they need, in order.
            A delegate gives only tensors, so the rest is to work them out from the outputs.
    """

    program: ExportedProgram
    inputs: tuple[fx.Node, ...]
    outputs: tuple[fx.Node, ...]
    values: tuple[object, ...]
    read_again: tuple[fx.Node, ...]


def cut(
    nodes: Sequence[fx.Node], embedded: Mapping[fx.Node, GraphInput], fakes: FakeValues
) -> Subgraph:
    """Copy nodes of a graph into a program.

    Args:
        nodes: The nodes, in the order of the graph, which is not changed.
        embedded: Placeholders of constants that the program is to contain, if it uses them.
        fakes: The fake values of the graph.
    """
    inside = set(nodes)
    used = dict.fromkeys(
        source for node in nodes for source in node.all_input_nodes if source not in inside
    )
    constants = [node for node in used if node in embedded]
    inputs = [node for node in used if node not in embedded]
    outputs, read_again = _results(nodes, inside)
    graph = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node in [*constants, *inputs]:
        new[node] = graph.placeholder(node.name)
        new[node].meta = {"val": node.meta["val"]}
    for node in nodes:
        new[node] = graph.node_copy(node, new.__getitem__)
        # Without stack traces and the like, which would put the user's paths into the blob.
        new[node].meta = {"val": node.meta["val"]}
    graph.output(tuple(new[node] for node in outputs))
    given = [embedded[node] for node in constants]
    program = _program(graph, given, [new[node] for node in outputs], fakes)
    values = tuple(_dense(node.meta["val"], fakes) for node in outputs)
    return Subgraph(program, tuple(inputs), tuple(outputs), values, tuple(read_again))


def _results(nodes: Sequence[fx.Node], inside: set[fx.Node]) -> tuple[list[fx.Node], list[fx.Node]]:
    """The tensors that are used outside, and the numbers that must be worked out again there."""
    wanted: set[fx.Node] = set()
    read_again: list[fx.Node] = []
    for node in reversed(nodes):
        if node not in wanted and inside.issuperset(node.users):
            continue
        wanted.add(node)
        if not isinstance(node.meta["val"], torch.Tensor):
            read_again.append(node)
            wanted.update(source for source in node.all_input_nodes if source in inside)
    tensors = [
        node for node in nodes if node in wanted and isinstance(node.meta["val"], torch.Tensor)
    ]
    return tensors, read_again[::-1]


_KINDS = {
    InputKind.PARAMETER: SignatureKind.PARAMETER,
    InputKind.BUFFER: SignatureKind.BUFFER,
    InputKind.CONSTANT: SignatureKind.CONSTANT_TENSOR,
}


def _program(
    graph: fx.Graph, constants: Sequence[GraphInput], outputs: Sequence[fx.Node], fakes: FakeValues
) -> ExportedProgram:
    """A program whose first placeholders are constants."""
    placeholders = list(graph.find_nodes(op="placeholder"))
    lifted, inputs = placeholders[: len(constants)], placeholders[len(constants) :]
    signature = ExportGraphSignature(
        [
            *map(_constant_spec, lifted, constants),
            *(InputSpec(SignatureKind.USER_INPUT, _argument(node), None) for node in inputs),
        ],
        [
            OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(name=node.name), None)
            for node in outputs
        ],
    )
    call = ModuleCallSignature(
        inputs=[],
        outputs=[],
        in_spec=pytree.tree_structure((tuple(inputs), {})),
        out_spec=pytree.tree_structure(tuple(outputs)),
    )
    states = [given for given in constants if given.kind is not InputKind.CONSTANT]
    return ExportedProgram(
        root={},
        graph=graph,
        graph_signature=signature,
        state_dict={given.name: _state(given) for given in states},
        range_constraints=_ranges(inputs, fakes),
        module_call_graph=[ModuleCallEntry("", call)],
        constants={
            given.name: given.value for given in constants if given.kind is InputKind.CONSTANT
        },
        verifiers=[TrainingIRVerifier],
    )


def _state(given: GraphInput) -> torch.Tensor:
    """The tensor of a parameter or buffer on the host."""
    tensor: torch.Tensor = given.value.detach().cpu()
    if given.kind is InputKind.PARAMETER:
        return torch.nn.Parameter(tensor, requires_grad=False)
    return tensor


def _constant_spec(node: fx.Node, given: GraphInput) -> InputSpec:
    persistent = True if given.kind is InputKind.BUFFER else None
    return InputSpec(_KINDS[given.kind], TensorArgument(node.name), given.name, persistent)


def _argument(node: fx.Node) -> ArgumentSpec:
    value = node.meta["val"]
    if isinstance(value, torch.Tensor):
        return TensorArgument(node.name)
    if isinstance(value, torch.SymBool | bool):
        return SymBoolArgument(node.name)
    return (
        SymFloatArgument(node.name)
        if isinstance(value, torch.SymFloat | float)
        else SymIntArgument(node.name)
    )


def _ranges(nodes: Iterable[fx.Node], fakes: FakeValues) -> dict[object, object]:
    """The ranges of the symbols in the sizes of nodes."""
    environment = fakes.mode.shape_env
    assert environment is not None
    found: dict[object, object] = {}
    for node in nodes:
        value = node.meta["val"]
        sizes = value.shape if isinstance(value, torch.Tensor) else (value,)
        for size in sizes:
            if isinstance(size, torch.SymInt | torch.SymFloat | torch.SymBool):
                for symbol in sorted(size.node.expr.free_symbols, key=str):
                    found[symbol] = environment.var_to_range[symbol]
    return found


def _dense(value: torch.Tensor, fakes: FakeValues) -> object:
    """A value like this one that fills its memory in an order that kernels know."""
    contiguous = fakes.tensor(value.dtype, value.shape)
    if value is contiguous or value.dim() not in (4, 5):
        return contiguous
    strides = make_channels_last_strides_for(value.shape)
    last = fakes.tensor(value.dtype, value.shape, strides)
    return last if value is last else contiguous
