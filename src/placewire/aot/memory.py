"""Memory planning: which tensors live when, and where in which buffer each of them lies."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from torch import fx

from placewire.placement import CPU
from placewire.planner import Mode, plan

from .control_flow import control_flow_of, is_control_flow, operands_of
from .graph import InputKind, MethodGraph
from .specs import Place, TensorSpec, specs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from placewire.device import Device

__all__ = ["BufferPlan", "Lifetime", "MemoryPlan", "lifetimes", "plan_group", "plan_memory"]


@dataclass(slots=True)
class Lifetime:
    """When a tensor's memory is in use: from `first` up to, and not including, `end`."""

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class BufferPlan:
    """A planned buffer.

    Attributes:
        device: Where it is.
        pool: The pool that it serves.
        size: Bytes.
        lower_bound: The most bytes that live at once: no plan can do with less.
        tensors: How many tensors lie in it.
        shared: It holds what methods share: see `plan_jointly`.
    """

    device: Device
    pool: int
    size: int
    lower_bound: int
    tensors: int
    shared: bool = False


@dataclass(slots=True)
class MemoryPlan:
    """The planned buffers of a method; buffer `n` of a program is entry `n - 1`."""

    buffers: list[BufferPlan] = field(default_factory=list)


def plan_memory(
    method: MethodGraph, alignment: int, mode: Mode = "fast", *, devices: bool = True
) -> MemoryPlan:
    """Give every planned tensor of a method its place.

    Each device and pool has a buffer of its own. The CPU comes first, then the devices by kind and
    index, as ExecuTorch numbers them.

    Args:
        method: The method; its specs get their places.
        alignment: Bytes to which each tensor is aligned in its buffer.
        mode: How hard to try.
        devices: Plan for the devices of tensors. If not, all is planned on the CPU.
    """
    groups: defaultdict[tuple[Device, int], list[TensorSpec]] = defaultdict(list)
    living = lifetimes(method)
    for spec in living:
        groups[spec.device if devices else CPU, spec.pool].append(spec)
    result = MemoryPlan()
    for number, group in enumerate(sorted(groups), 1):
        result.buffers.append(plan_group(number, group, groups[group], living, alignment, mode))
    return result


def plan_group(
    number: int,
    group: tuple[Device, int],
    specs: Sequence[TensorSpec],
    living: Mapping[TensorSpec, Lifetime],
    alignment: int,
    mode: Mode,
) -> BufferPlan:
    """Give the tensors of one device and pool their places in the buffer of a number."""
    tensors = [(spec.nbytes, living[spec].first, living[spec].end) for spec in specs]
    planned = plan(tensors, mode=mode, alignment=alignment)
    for spec, offset in zip(specs, planned.offsets.tolist(), strict=True):
        spec.place = Place(number, offset)
    return BufferPlan(*group, planned.total, planned.lower_bound, len(specs))


def lifetimes(method: MethodGraph) -> dict[TensorSpec, Lifetime]:
    """When each planned tensor of a method is in use, in steps of its instructions.

    Inputs are there from the start, results up to the end, and what a method keeps from call to
    call always. Bodies of branches and loops are numbered where they stand. What a loop uses and
    was there before it is in use up to its end, since the next iteration comes back to it.
    """
    usage = _Usage()
    usage.walk(method)
    found = usage.found
    end = usage.step + 1
    for node, given in zip(method.placeholders, method.inputs, strict=True):
        for spec in specs_of(node):
            if (lifetime := found.get(spec.storage)) is not None:
                lifetime.first = 0
                if given.kind is not InputKind.USER or given.mutated:
                    lifetime.end = end
    for spec, lifetime in found.items():
        if spec.initial is not None:
            lifetime.first, lifetime.end = 0, end
    for result in method.results:
        for spec in specs_of(result) if isinstance(result, fx.Node) else ():
            if (lifetime := found.get(spec.storage)) is not None:
                lifetime.end = end
    return found


class _Usage:
    """Numbers the nodes of a method with its bodies, and notes when tensors are in use."""

    def __init__(self) -> None:
        self.found: dict[TensorSpec, Lifetime] = {}
        self.step = 0
        self._loops: list[set[TensorSpec]] = []

    def walk(self, method: MethodGraph) -> None:
        for node in method.graph.nodes:
            if node.op == "get_attr":
                continue
            self.step += 1
            for argument in node.all_input_nodes:
                self._see(specs_of(argument))
            if is_control_flow(node.target):
                self._control_flow(method, node)
            else:
                self._see(specs_of(node))

    def _control_flow(self, method: MethodGraph, node: fx.Node) -> None:
        flow = control_flow_of(node.target, node.args)
        bodies = [method.bodies[body.target] for body in flow.bodies]
        if not flow.is_loop:
            for body in bodies:
                self.walk(body)
                self.step += 1
                self._see(specs_of(node))
            return
        first = self.step
        self._loops.append(set())
        self._see(specs_of(node))
        for mapped in flow.mapped:
            self._see(specs_of(mapped))
        for body in bodies:
            for operand in operands_of(body):
                self._see(specs_of(operand))
            self.walk(body)
        self.step += 1
        self._see(specs_of(node))
        used = self._loops.pop()
        for spec in used:
            lifetime = self.found[spec]
            if lifetime.first <= first:
                lifetime.end = max(lifetime.end, self.step + 1)
        if self._loops:
            self._loops[-1] |= used

    def _see(self, specs: Iterable[TensorSpec | None]) -> None:
        for spec in [one.storage for one in specs if one is not None]:
            if not spec.planned:
                continue
            lifetime = self.found.get(spec)
            if lifetime is None:
                self.found[spec] = Lifetime(self.step, self.step + 1)
            else:
                lifetime.end = max(lifetime.end, self.step + 1)
            if self._loops:
                self._loops[-1].add(spec)
