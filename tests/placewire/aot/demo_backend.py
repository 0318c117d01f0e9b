"""A backend for tests that compiles nothing, and partitioners that say exactly what goes to it."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

import torch
from placewire_schema.program import CompileSpec
from torch import fx
from torch._ops import OpOverload
from torch.export import ExportedProgram

from placewire.aot.graph import MethodGraph
from placewire.aot.partition import Backend, OperatorPartitioner, Partition

ADD = torch.ops.aten.add.Tensor
SIN = torch.ops.aten.sin.default


class DemoBackend:
    """Its blob is a text that lists the operators."""

    id = "BackendWithCompilerDemo"

    def preprocess(self, subgraph: ExportedProgram, compile_specs: Sequence[CompileSpec]) -> bytes:
        del compile_specs
        calls = [node for node in subgraph.graph.nodes if node.op == "call_function"]
        return "".join(f"{node.target};" for node in calls).encode()


def specs(device: str | bytes | None) -> tuple[CompileSpec, ...]:
    """The compile specs of the demo backend, with a device if there is one."""
    value = device.encode() if isinstance(device, str) else device
    first = CompileSpec("max_value", bytes([4]))
    return (first,) if value is None else (first, CompileSpec("target_device", value))


def adds_on(device: str | bytes | None) -> OperatorPartitioner:
    """Gives all additions to the demo backend, in as few partitions as possible."""
    return OperatorPartitioner([ADD], DemoBackend(), specs(device))


@dataclass(frozen=True)
class EachAlone:
    """Makes a partition of its own of each operator of a list.

    Attributes:
        operators: What it takes.
        devices: The devices of the partitions in their order; the last one holds for all that
            follow. None is a delegate without a device.
        backend: Where they go.
    """

    operators: Sequence[OpOverload]
    devices: Sequence[str | None] = ("cuda:0",)
    backend: Backend = field(default_factory=DemoBackend)
    preserved: Container[OpOverload] = frozenset()

    def partition(self, method: MethodGraph) -> list[Partition]:
        nodes = [node for node in method.graph.nodes if node.target in self.operators]
        last = len(self.devices) - 1
        return [
            Partition((node,), self.backend, specs(self.devices[min(place, last)]))
            for place, node in enumerate(nodes)
        ]


def module(function: Callable[..., object]) -> torch.nn.Module:
    """A module that computes a function."""

    class Function(torch.nn.Module):
        def forward(self, *args: torch.Tensor) -> object:
            return function(*args)

    return Function()


def matrices(count: int) -> tuple[torch.Tensor, ...]:
    """Arguments of two rows and two columns."""
    return tuple(torch.full((2, 2), float(number)) for number in range(count))


def is_call(node: fx.Node) -> bool:
    return node.op == "call_function"
