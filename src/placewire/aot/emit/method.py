"""Emits one method: its values, its instructions, and how its inputs and outputs nest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from placewire_schema.program import (
    Chain,
    ContainerMetadata,
    ExecutionPlan,
    FrameList,
    Instruction,
    KernelCall,
    NonConstBufferDevice,
    Operator,
)
from torch import fx
from torch._ops import OpOverload

from placewire.aot.control_flow import is_control_flow
from placewire.aot.graph import InputKind, MethodGraph
from placewire.aot.operators import kernel_of, wire_name
from placewire.aot.sources import frames_of
from placewire.aot.specs import is_item, specs_of
from placewire.aot.views import is_view

from .calls import argument_value, kernel_arguments, number_operator
from .control_flow import emit_control_flow
from .nesting import nesting_text
from .values import ValueTable

if TYPE_CHECKING:
    from placewire.aot.memory import MemoryPlan
    from placewire.aot.target import Target

    from .constants import ConstantPool

__all__ = ["Emission", "emit_method"]


def emit_method(
    method: MethodGraph,
    plan: MemoryPlan,
    target: Target,
    constants: ConstantPool,
    initial_values: ConstantPool,
    *,
    stacktraces: bool = False,
) -> ExecutionPlan:
    """The execution plan of a method whose tensors have their places."""
    emission = Emission(
        target, ValueTable(constants, initial_values), stacktrace=[] if stacktraces else None
    )
    inputs = emission.placeholders(method)
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

    def body(self, method: MethodGraph) -> None:
        for node in method.graph.nodes:
            if is_control_flow(node.target):
                emit_control_flow(self, method, node)
            elif node.op == "call_function" and not is_item(node) and not is_view(node):
                self._call(node)

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
        self.note_source(node)
        if len(results) == 1:
            self._indices[node] = results[0]

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
