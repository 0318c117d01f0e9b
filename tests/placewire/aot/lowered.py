"""Lowers functions with the demo backend, and reads off the program what it does where."""

from __future__ import annotations

from collections import Counter
from typing import Any

from placewire_schema.program import (
    DelegateCall,
    ExecutionPlan,
    KernelCall,
    Tensor,
)

from placewire.aot import Artifact, ExportConfig, export
from placewire.device import Device
from placewire.placement import tensor_device, tensors
from tests.placewire.aot.demo_backend import (
    matrices,
    module,
)

CUDA0, CUDA1 = Device.parse("cuda:0"), Device.parse("cuda:1")


def lower(
    function: Any, count: int, *partitioners: Any, config: ExportConfig | None = None, **more: Any
) -> Artifact:
    return export(
        module(function), matrices(count), partitioners=partitioners, config=config, **more
    )


def plan_of(artifact: Artifact, method: str = "forward") -> ExecutionPlan:
    (plan,) = [plan for plan in artifact.program.execution_plan if plan.name == method]
    return plan


def copies(artifact: Artifact, method: str = "forward") -> tuple[int, int]:
    """How many H2D and D2H copies a method makes."""
    calls = Counter(steps(artifact, method))
    assert calls["placewire::d2d_copy"] == 0
    return calls["et_copy::_h2d_copy"], calls["et_copy::_d2h_copy"]


def steps(artifact: Artifact, method: str = "forward") -> list[str]:
    """What a method calls, in order."""
    plan = plan_of(artifact, method)
    (chain,) = plan.chains
    return [
        plan.operators[call.op_index].name
        if isinstance(call := instruction.instr_args, KernelCall)
        else "delegate"
        for instruction in chain.instructions
    ]


def arguments(artifact: Artifact, name: str) -> list[list[int]]:
    """The arguments of every call of an operator, or of every delegate."""
    plan = plan_of(artifact)
    calls = [instruction.instr_args for instruction in plan.chains[0].instructions]
    return [
        list(call.args)
        for call, step in zip(calls, steps(artifact), strict=True)
        if step == name and isinstance(call, KernelCall | DelegateCall)
    ]


def device(artifact: Artifact, value: int) -> Device:
    tensor = plan_of(artifact).values[value].val
    assert isinstance(tensor, Tensor)
    return tensor_device(tensor)


def device_counts(artifact: Artifact) -> Counter[Device]:
    return Counter(tensor_device(tensor) for _, tensor in tensors(plan_of(artifact)))


def is_planned(artifact: Artifact, value: int) -> bool:
    tensor = plan_of(artifact).values[value].val
    assert isinstance(tensor, Tensor)
    return tensor.allocation_info is not None


def skip_both() -> ExportConfig:
    return ExportConfig(skip_h2d_for_method_inputs=True, skip_d2h_for_method_outputs=True)
