"""Emits one method: its values, its instructions, and how its inputs and outputs nest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from placewire_schema.program import (
    Chain,
    ContainerMetadata,
    DelegateCall,
    ExecutionPlan,
    FrameList,
    Instruction,
    KernelCall,
    NonConstBufferDevice,
    Operator,
    TensorShapeDynamism,
)
from torch import fx
from torch._ops import OpOverload

from placewire.aot.control_flow import is_control_flow
from placewire.aot.copies import CopyKind, copy_kind
from placewire.aot.delegates import is_delegate_call
from placewire.aot.graph import InputKind, MethodGraph
from placewire.aot.operators import kernel_of, wire_name
from placewire.aot.specs import is_item, spec_of, specs_of
from placewire.aot.stack_traces import frames_of
from placewire.aot.views import is_view

from .calls import argument_value, kernel_arguments, number_operator
from .control_flow import emit_control_flow
from .nesting import nesting_text
from .values import ValueTable

if TYPE_CHECKING:
    from placewire_schema.program import BackendDelegate

    from placewire.aot.delegates import Delegate
    from placewire.aot.memory import MemoryPlan
    from placewire.aot.target import Target

    from .constants import ConstantPool
    from .delegates import BlobPool

__all__ = ["REQUIRE", "Emission", "emit_method"]

REQUIRE = ("placewire::require", "")
"""The kernel that the first instruction calls with `compat="placewire"`; it does nothing."""


def emit_method(
    method: MethodGraph,
    plan: MemoryPlan,
    target: Target,
    constants: ConstantPool,
    initial_values: ConstantPool,
    blobs: BlobPool,
    *,
    stacktraces: bool = False,
) -> ExecutionPlan:
    """The execution plan of a method whose tensors have their places."""
    emission = Emission(
        target,
        ValueTable(constants, initial_values),
        blobs,
        stacktrace=[] if stacktraces else None,
    )
    inputs = emission.placeholders(method)
    if target.name == "placewire":
        emission.require_placewire()
    emission.body(method)
    outputs = [emission.output(result) for result in method.results]
    devices = [
        NonConstBufferDevice(number, buffer.device.type, buffer.device.index)
        for number, buffer in enumerate(plan.buffers, 1)
        if not buffer.device.is_cpu
    ]
    return ExecutionPlan(
        name=method.name,
        container_meta_type=ContainerMetadata(
            nesting_text(method.in_spec), nesting_text(method.out_spec)
        ),
        values=emission.values.values,
        inputs=inputs,
        outputs=outputs,
        chains=[
            Chain(
                instructions=emission.instructions,
                stacktrace=emission.stacktrace,
            )
        ],
        operators=[Operator(name, overload) for name, overload in emission.operators],
        delegates=emission.delegates,
        non_const_buffer_sizes=[0, *(buffer.size for buffer in plan.buffers)]
        if plan.buffers
        else [0, 0],
        non_const_buffer_device=devices or None,
    )


@dataclass
class Emission:
    """A method as far as it is emitted: its values, instructions and operators."""

    target: Target
    values: ValueTable
    blobs: BlobPool
    delegates: list[BackendDelegate] = field(default_factory=list)
    instructions: list[Instruction] = field(default_factory=list)
    stacktrace: list[FrameList] | None = None
    operators: dict[tuple[str, str], int] = field(default_factory=dict)
    _indices: dict[fx.Node, int] = field(default_factory=dict)
    _items: dict[fx.Node, list[int]] = field(default_factory=dict)

    def placeholders(self, method: MethodGraph) -> list[int]:
        """Give every placeholder a value; the indices of the user's inputs come back."""
        inputs = []
        for node, given in zip(method.placeholders, method.inputs, strict=True):
            if given.kind is InputKind.OPERAND:
                continue
            specs = specs_of(node)
            if specs:
                index = self.values.tensor(specs[0])
            elif isinstance(node.meta["val"], torch.SymInt | torch.SymFloat | torch.SymBool):
                index = self.values.result(node.meta["val"])
            else:
                index = self.values.literal(given.value, "")
            self._indices[node] = index
            if given.kind is InputKind.USER:
                inputs.append(index)
        return inputs

    def require_placewire(self) -> None:
        """Call what only placewire's runtime has, so that no other one runs the method."""
        self.call(REQUIRE, [])
        if self.stacktrace is not None:
            self.stacktrace.append(FrameList())

    def body(self, method: MethodGraph) -> None:
        for node in method.graph.nodes:
            if is_control_flow(node.target):
                emit_control_flow(self, method, node)
            elif is_delegate_call(node):
                self._delegate(node, method.delegates[str(node.args[0])])
            elif is_view(node):
                self._view(node)
            elif (copy := copy_kind(node)) is not None:
                self._copy(node, copy)
            elif node.op == "call_function" and not is_item(node):
                self._call(node)
            self.note_source(node)

    def output(self, result: object) -> int:
        if isinstance(result, fx.Node):
            return self.index_of(result)
        return self.values.literal(result, "")

    def index_of(self, node: fx.Node) -> int:
        """The value of a node that has one result."""
        known = self._indices.get(node)
        if known is None and specs_of(node):
            (spec,) = specs_of(node)
            known = self._indices[node] = self.values.tensor(spec)
        elif known is None:
            assert is_item(node)
            source, item = node.args
            assert isinstance(source, fx.Node)
            known = self._indices[node] = self._items[source][item]  # type: ignore[index]
        return known

    def name(self, node: fx.Node, index: int) -> None:
        """Say which value a node stands for."""
        self._indices[node] = index

    def name_items(self, node: fx.Node, indices: list[int]) -> None:
        """Say which values the results of a node stand for."""
        self._items[node] = indices

    def _call(self, node: fx.Node) -> None:
        if isinstance(node.target, OpOverload):
            kernel = kernel_of(node.target, self.target)
            assert kernel is not None, node.target
            arguments, results = kernel_arguments(node, kernel, self.values, self.index_of)
            self.call(wire_name(kernel), arguments)
        else:
            name = number_operator(node)
            assert name is not None, node.target
            arguments = [
                argument_value(value, "number", self.values, self.index_of) for value in node.args
            ]
            results = [self.values.result(node.meta["val"])]
            self.call(name, [*arguments, *results])
        if len(results) == 1:
            self._indices[node] = results[0]

    def _delegate(self, node: fx.Node, delegate: Delegate) -> None:
        """Call a delegate with its inputs and then its outputs; each call has its own entry."""
        inputs = [
            argument_value(value, "number", self.values, self.index_of) for value in node.args[1:]
        ]
        outputs = [self.values.tensor(spec) for spec in specs_of(node)]
        self.instructions.append(Instruction(DelegateCall(len(self.delegates), inputs + outputs)))
        self.delegates.append(self.blobs.entry(delegate))

    def _copy(self, node: fx.Node, kind: CopyKind) -> None:
        (source,) = node.all_input_nodes
        result = self.index_of(node)
        self.call(kind.wire_name, [self.index_of(source), result, result])

    def _view(self, node: fx.Node) -> None:
        """A tensor in the memory of another: nothing to do, if all of it is known ahead of time."""
        spec = spec_of(node)
        is_static = spec.dynamism is TensorShapeDynamism.STATIC
        if is_static and (spec.storage.planned or spec.storage.constant is not None):
            return
        source, sizes = node.args
        arguments = [
            argument_value(source, "Tensor", self.values, self.index_of),
            argument_value(sizes, "List[SymInt]", self.values, self.index_of),
            self.index_of(node),
        ]
        self.call(("executorch_prim::et_view", "default"), arguments)

    def note_source(self, node: fx.Node) -> None:
        """Say of all instructions since the last time that they come from a node, if wanted."""
        if self.stacktrace is None:
            return
        missing = len(self.instructions) - len(self.stacktrace)
        self.stacktrace.extend(FrameList(frames_of(node)) for _ in range(missing))

    def call(self, name: tuple[str, str], arguments: list[int]) -> None:
        """Append a call of a kernel."""
        index = self.operators.setdefault(name, len(self.operators))
        self.instructions.append(Instruction(KernelCall(index, arguments)))
