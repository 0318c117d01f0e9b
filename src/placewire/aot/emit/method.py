"""Emits one method: its values, its instructions, and how its inputs and outputs nest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.program import (
    Chain,
    ContainerMetadata,
    ExecutionPlan,
    Instruction,
    KernelCall,
    NonConstBufferDevice,
    Operator,
)
from torch import fx
from torch._ops import OpOverload

from placewire.aot.graph import InputKind, MethodGraph
from placewire.aot.operators import kernel_of, wire_name
from placewire.aot.specs import is_item, specs_of

from .calls import argument_value, kernel_arguments, number_operator
from .nesting import nesting_text
from .values import ValueTable

if TYPE_CHECKING:
    from placewire.aot.memory import MemoryPlan
    from placewire.aot.target import Target

    from .constants import ConstantPool

__all__ = ["emit_method"]


def emit_method(
    method: MethodGraph,
    plan: MemoryPlan,
    target: Target,
    constants: ConstantPool,
    initial_values: ConstantPool,
) -> ExecutionPlan:
    """The execution plan of a method whose tensors have their places."""
    emission = _Emission(target, ValueTable(constants, initial_values))
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
        chains=[Chain(instructions=emission.instructions)],
        operators=[Operator(name, overload) for name, overload in emission.operators],
        non_const_buffer_sizes=[0, *(buffer.size for buffer in plan.buffers)]
        if plan.buffers
        else [0, 0],
        non_const_buffer_device=devices or None,
    )


@dataclass
class _Emission:
    target: Target
    values: ValueTable
    instructions: list[Instruction] = field(default_factory=list)
    operators: dict[tuple[str, str], int] = field(default_factory=dict)
    _indices: dict[fx.Node, int] = field(default_factory=dict)

    def placeholders(self, method: MethodGraph) -> list[int]:
        """Give every placeholder a value; the indices of the user's inputs come back."""
        inputs = []
        for node, given in zip(method.placeholders, method.inputs, strict=True):
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
            if node.op == "call_function" and not is_item(node):
                self._call(node)

    def output(self, result: object) -> int:
        if isinstance(result, fx.Node):
            return self.index_of(result)
        return self.values.literal(result, "")

    def index_of(self, node: fx.Node) -> int:
        """The value of a node that has one result."""
        known = self._indices.get(node)
        if known is None:
            (spec,) = specs_of(node)
            known = self._indices[node] = self.values.tensor(spec)
        return known

    def _call(self, node: fx.Node) -> None:
        if isinstance(node.target, OpOverload):
            kernel = kernel_of(node.target, self.target)
            assert kernel is not None, node.target
            arguments, results = kernel_arguments(node, kernel, self.values, self.index_of)
            self._append(wire_name(kernel), arguments)
        else:
            name = number_operator(node)
            assert name is not None, node.target
            arguments = [
                argument_value(value, "number", self.values, self.index_of) for value in node.args
            ]
            results = [self.values.result(node.meta["val"])]
            self._append(name, [*arguments, *results])
        if len(results) == 1:
            self._indices[node] = results[0]

    def _append(self, name: tuple[str, str], arguments: list[int]) -> None:
        index = self.operators.setdefault(name, len(self.operators))
        self.instructions.append(Instruction(KernelCall(index, arguments)))
