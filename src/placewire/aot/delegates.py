"""Delegates: partitions of a graph become calls of what a backend made of them."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.errors import InvalidArgumentError
from torch.fx.passes.utils.fuser_utils import topo_sort

from placewire.device import Device
from placewire.placement import TARGET_DEVICE

from .control_flow import control_flow_of, is_control_flow, operands_of
from .named_data import CompiledPart
from .operators import is_write
from .subgraph import Subgraph, cut
from .user_code import calling
from .wording import described

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from placewire_schema.program import CompileSpec
    from torch import fx
    from torch.export import ExportedProgram

    from .graph import GraphInput, MethodGraph
    from .named_data import NamedDataPool
    from .partition import Backend, Partition
    from .target import Compat

__all__ = [
    "Delegate",
    "DelegateCall",
    "PartitionError",
    "body_constants",
    "call_delegate",
    "constants_of",
    "delegate_calls",
    "delegate_device",
    "insert_delegates",
    "is_delegate_call",
    "lower_delegates",
]


class PartitionError(ValueError):
    """Partitions overlap, are not convex, or hold what no delegate can compute."""


@dataclass(slots=True, eq=False)
class Delegate:
    """A partition on its way through a backend.

    Attributes:
        backend: The backend.
        compile_specs: What it is told, and the runtime too.
        device: The device that it runs on; None if its inputs and outputs are on the CPU.
        program: The partition as an exported program.
        blob: What the backend made of it; empty until `lower_delegates`.
    """

    backend: Backend
    compile_specs: tuple[CompileSpec, ...]
    device: Device | None
    program: ExportedProgram
    blob: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class DelegateCall:
    """A node that calls a delegate.

    Attributes:
        node: The node. Its value is a tuple, taken apart by `operator.getitem` nodes.
        delegate: What it calls.
    """

    node: fx.Node
    delegate: Delegate

    @property
    def inputs(self) -> tuple[fx.Node, ...]:
        """What the delegate is given: nodes that compute tensors or numbers."""
        return tuple(self.node.args[1:])  # type: ignore[arg-type]

    @property
    def outputs(self) -> Iterator[fx.Node]:
        """The nodes that take its results apart."""
        yield from self.node.users


def call_delegate(name: str, *_inputs: Any) -> tuple[torch.Tensor, ...]:
    """The target of nodes that call a delegate, which `MethodGraph.delegates` has by its name."""
    raise RuntimeError(f"the delegate {name} runs on a runtime with its backend, not in a graph")


def is_delegate_call(node: fx.Node) -> bool:
    return node.target is call_delegate


def delegate_calls(method: MethodGraph) -> Iterator[DelegateCall]:
    """The calls of delegates in a graph, in their order; not those in its bodies."""
    for node in method.graph.find_nodes(op="call_function", target=call_delegate):
        yield DelegateCall(node, method.delegates[str(node.args[0])])


def delegate_device(compile_specs: Iterable[CompileSpec]) -> Device | None:
    """The device that the first `target_device` among compile specs names; None for a CPU.

    Raises:
        InvalidArgumentError: It names no device; it is also a `ValueError`.
    """
    for spec in compile_specs:
        if spec.key == TARGET_DEVICE:
            text = bytes(spec.value).decode("utf-8", errors="backslashreplace").strip()
            try:
                device = Device.parse(text)
            except InvalidArgumentError as error:
                raise InvalidArgumentError(f"compile spec {TARGET_DEVICE}: {error}") from None
            return None if device.is_cpu else device
    return None


def constants_of(method: MethodGraph) -> dict[fx.Node, GraphInput]:
    """The placeholders of a graph that are constant tensors."""
    return {
        node: given
        for node, given in zip(method.placeholders, method.inputs, strict=True)
        if given.is_constant and isinstance(node.meta["val"], torch.Tensor)
    }


def body_constants(
    method: MethodGraph, constants: Mapping[fx.Node, GraphInput]
) -> Iterator[tuple[MethodGraph, dict[fx.Node, GraphInput]]]:
    """The bodies of control flow in a graph, with their operands that are constants outside.

    Args:
        method: The graph.
        constants: The constants of the graph itself.
    """
    for node in method.graph.nodes:
        if not is_control_flow(node.target):
            continue
        flow = control_flow_of(node.target, node.args)
        for name in flow.bodies:
            body = method.bodies[name.target]
            operands = operands_of(body)[len(flow.carried) + len(flow.mapped) :]
            outside = zip(operands, flow.outside, strict=True)
            yield body, {node: constants[item] for node, item in outside if item in constants}


def insert_delegates(
    method: MethodGraph,
    partitions: Sequence[Partition],
    constants: Mapping[fx.Node, GraphInput],
    compat: Compat,
) -> None:
    """Replace partitions of a graph by calls of delegates, whose blobs are still to be made.

    Constants that a delegate on a device uses go into it, so that they need not be copied in every
    call; with `compat="placewire"` they stay outside, where they become tensors on its device. Of a
    delegate on the CPU, those go into it that nothing else uses.

    Args:
        method: The graph.
        partitions: What to replace.
        constants: The placeholders of the graph that stand for constants.
        compat: The runtime that the program is for.

    Raises:
        PartitionError: The partitions cannot be called one after the other, or have nodes that are
            no operators of the graph.
        InvalidArgumentError: A `target_device` is not a device.
    """
    position = {node: place for place, node in enumerate(method.graph.nodes)}
    taken: set[fx.Node] = set()
    for partition in partitions:
        _check(partition, position, taken)
        taken.update(partition.nodes)
        nodes = tuple(sorted(partition.nodes, key=position.__getitem__))
        device = delegate_device(partition.compile_specs)
        inside = set(nodes)
        embedded = {
            node: given
            for node, given in constants.items()
            if (compat == "executorch-1.5" if device else inside.issuperset(node.users))
        }
        subgraph = cut(nodes, embedded, method.fakes)
        name = f"delegate_{len(method.delegates)}"
        method.delegates[name] = Delegate(
            partition.backend, partition.compile_specs, device, subgraph.program
        )
        _replace(method, nodes, subgraph, name)
    if partitions:
        _put_in_order(method)


def _check(
    partition: Partition, position: Mapping[fx.Node, int], taken: Collection[fx.Node]
) -> None:
    """Refuse a partition that cannot become a delegate, whatever its surroundings are."""
    nodes, backend = partition.nodes, partition.backend.id
    if not nodes:
        raise PartitionError(f"a partition of {backend} has no nodes")
    seen: set[fx.Node] = set()
    for node in nodes:
        if node in taken:
            raise PartitionError(f"a partition of {backend} has {node}, and so has another one")
        if node in seen:
            raise PartitionError(f"a partition of {backend} has {node} twice")
        seen.add(node)
        if node not in position:
            raise PartitionError(f"a partition of {backend} has {node}, which is not in the graph")
        if not _can_be_delegated(node):
            raise PartitionError(
                f"a partition of {backend} has {node}; only operators that change no tensor, and "
                "computations with their results and sizes, can go to a backend"
            )


def _can_be_delegated(node: fx.Node) -> bool:
    if node.op != "call_function" or is_delegate_call(node) or is_control_flow(node.target):
        return False
    return not is_write(node.target)


def lower_delegates(method: MethodGraph, named_data: NamedDataPool) -> None:
    """Let the backends of a method's delegates make their blobs, and data with a name.

    Raises:
        TypeError: A backend gives something that is neither bytes nor a `CompiledPart`.
        NamedDataError: Two delegates give different data the same name, or one a name that is ours.
    """
    for name, delegate in method.delegates.items():
        owner = f"{name} of {method.name} (backend {delegate.backend.id})"
        with calling(f"preprocess for {owner}"):
            made: Any = delegate.backend.preprocess(delegate.program, delegate.compile_specs)
        part: Any = CompiledPart(made) if isinstance(made, bytes) else made
        if not isinstance(part, CompiledPart) or not isinstance(part.blob, bytes):
            found = made.blob if isinstance(made, CompiledPart) else made
            raise TypeError(
                f"preprocess of the backend {delegate.backend.id} gave {described(found)}, "
                "expected bytes, alone or in a CompiledPart"
            )
        delegate.blob = part.blob
        named_data.add(owner, part.named_data)
    for body in method.bodies.values():
        lower_delegates(body, named_data)


def _replace(
    method: MethodGraph, nodes: tuple[fx.Node, ...], subgraph: Subgraph, name: str
) -> None:
    """Put the call of a delegate into a graph in the place of the nodes that it stands for."""
    graph, last = method.graph, nodes[-1]
    with graph.inserting_after(last):
        call = graph.call_function(call_delegate, (name, *subgraph.inputs))
    call.meta["val"] = tuple(subgraph.values)
    if "stack_trace" in nodes[0].meta:
        call.meta["stack_trace"] = nodes[0].meta["stack_trace"]
    new: dict[fx.Node, fx.Node] = {}
    with graph.inserting_before(call.next):
        for index, (output, value) in enumerate(
            zip(subgraph.outputs, subgraph.values, strict=True)
        ):
            new[output] = _item(graph, call, index, value)
        for number in subgraph.read_again:
            new[number] = graph.node_copy(number, lambda node: new.get(node, node))
    inside = set(nodes)
    copies = set(new.values())
    for old, replacement in new.items():
        old.replace_all_uses_with(
            replacement,
            delete_user_cb=lambda user: user not in inside and user not in copies,
        )
    for node in reversed(nodes):
        graph.erase_node(node)


def _item(graph: fx.Graph, call: fx.Node, index: int, value: object) -> fx.Node:
    item = graph.call_function(operator.getitem, (call, index))
    item.meta["val"] = value
    return item


def _put_in_order(method: MethodGraph) -> None:
    """Move nodes behind what they use; those that need not be moved keep their order."""
    graph = method.graph
    try:
        nodes = topo_sort(list(graph.nodes))
    except AssertionError:
        raise PartitionError(_described_circle(method)) from None
    output = graph.output_node()
    for node in nodes:
        if node is not output:
            output.prepend(node)


def _described_circle(method: MethodGraph) -> str:
    """Which partitions cannot be called in any order."""
    waiting = {node: set(node.all_input_nodes) for node in method.graph.nodes}
    while ready := [node for node, sources in waiting.items() if not sources & waiting.keys()]:
        for node in ready:
            del waiting[node]
    calls = [str(node.args[0]) for node in waiting if is_delegate_call(node)]
    of = ", ".join(f"{name} (backend {method.delegates[name].backend.id})" for name in calls)
    return (
        f"in {method.name}, a way leads out of a partition and back into it, directly or through "
        f"others: {of}; a partition must be convex"
    )
