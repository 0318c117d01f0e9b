"""Models with several methods, and a machine whose methods share the memory that they keep."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from placewire_schema.program import ExecutionPlan, Tensor
from torch.export import ExportedProgram
from torch.utils import _pytree as pytree

from placewire.aot import Artifact, MethodGraph, Partition, Partitioner
from placewire.placement import tensors
from tests.placewire.aot.device_machine import Machine

_Calls = Mapping[str, tuple[torch.Tensor, ...]]


class Decoder(torch.nn.Module):
    """Keeps the last rows that it was given, and how many there were."""

    cache: torch.Tensor
    count: torch.Tensor
    unused: torch.Tensor

    def __init__(self, rows: int = 8) -> None:
        super().__init__()
        self.register_buffer("cache", torch.full((rows, 4), 0.5))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("unused", torch.zeros(1000))

    def prefill(self, x: torch.Tensor) -> torch.Tensor:
        self.cache[: x.shape[0]] = x
        self.count += x.shape[0]
        return self.cache.sum(0)

    def decode(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.cache[position] = x
        self.count += 1
        return self.cache * 2 + x

    def peek(self) -> tuple[torch.Tensor, torch.Tensor]:
        return self.cache * 1, self.count + 0

    def grow(self, x: torch.Tensor) -> torch.Tensor:
        self.cache += x
        return self.cache.sum(0)

    def stateless(self, x: torch.Tensor) -> torch.Tensor:
        return (x.sin() + 1).cos()


DECODER_CALLS: dict[str, tuple[torch.Tensor, ...]] = {
    "prefill": (torch.ones(3, 4),),
    "decode": (torch.ones(1, 4), torch.tensor([4])),
    "peek": (),
    "grow": (torch.ones(4),),
    "stateless": (torch.ones(6),),
}


def methods_of(model: torch.nn.Module, *names: str, calls: _Calls = DECODER_CALLS) -> Any:
    """Methods of one module, exported each under its name."""
    assert names
    return {name: exported(model, name, calls[name]) for name in names}


def exported(model: torch.nn.Module, name: str, args: tuple[torch.Tensor, ...]) -> ExportedProgram:
    model.forward = getattr(model, name)
    try:
        return torch.export.export(model, args)
    finally:
        del model.forward


def kept_tensors(artifact: Artifact) -> dict[str, dict[str, Tensor]]:
    """The tensors of a program that have a name: by name, and then by method."""
    found: dict[str, dict[str, Tensor]] = {}
    for plan in artifact.program.execution_plan:
        for _, tensor in tensors(plan):
            extra = tensor.extra_tensor_info
            if extra is not None and extra.fully_qualified_name is not None:
                found.setdefault(extra.fully_qualified_name, {})[plan.name] = tensor
    return found


@dataclass(frozen=True)
class ForMethod:
    """Gives each method to a partitioner of its own, or to none."""

    partitioners: Mapping[str, Partitioner]
    preserved: Any = field(default=frozenset())

    def partition(self, method: MethodGraph) -> Sequence[Partition]:
        chosen = self.partitioners.get(method.name)
        return [] if chosen is None else chosen.partition(method)


class SharingMachine:
    """All methods of a program, loaded into the same memory; what is not kept is lost in between.

    Args:
        artifact: A program that shares its buffers.
    """

    def __init__(self, artifact: Artifact) -> None:
        plans = artifact.program.execution_plan
        self._kept = range(2, 2 + len(artifact.report.shared_buffers))
        sizes = [_largest(plans, number) for number in range(self._kept.stop)]
        common = [torch.full((size,), 0xA5, dtype=torch.uint8) for size in sizes]
        self.methods: dict[str, Machine] = {}
        for plan in plans:
            own = plan.non_const_buffer_sizes[len(common) :]
            memory = [*common, *(torch.full((size,), 0xA5, dtype=torch.uint8) for size in own)]
            self.methods[plan.name] = Machine(artifact, plan.name, memory)

    def __call__(self, method: str, *inputs: torch.Tensor) -> list[Any]:
        machine = self.methods[method]
        for number, buffer in enumerate(machine.memory):
            if number not in self._kept:
                buffer.random_(0, 256)
        return machine(*inputs)


def _largest(plans: list[ExecutionPlan], number: int) -> int:
    sizes = [plan.non_const_buffer_sizes for plan in plans]
    return max((each[number] for each in sizes if number < len(each)), default=0)


def buffer_sizes(artifact: Artifact) -> dict[str, list[int]]:
    """The sizes of the planned buffers of each method."""
    return {plan.name: plan.non_const_buffer_sizes for plan in artifact.program.execution_plan}


def places_of(artifact: Artifact, name: str) -> list[tuple[int, int]]:
    """Number and offset of a buffer of the model, in each method that has it."""
    infos = [tensor.allocation_info for tensor in kept_tensors(artifact)[name].values()]
    return [(info.memory_id, info.memory_offset_low) for info in infos if info is not None]


def check_calls(artifact: Artifact, model: torch.nn.Module, calls: list[tuple[str, Any]]) -> None:
    """Call methods that share memory in turn, beside the model."""
    machine, eager = SharingMachine(artifact), copy.deepcopy(model)
    assert calls
    for name, args in calls:
        expected = pytree.tree_leaves(getattr(eager, name)(*args))
        expected = [item.clone() for item in expected]
        torch.testing.assert_close(machine(name, *args), expected)
