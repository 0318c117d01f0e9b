"""Memory planning: which tensors live when, and where in which buffer each of them lies."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from placewire.device import Device
from placewire.planner import Mode, plan

from .graph import InputKind, MethodGraph
from .specs import Place, TensorSpec, specs_of

if TYPE_CHECKING:
    from torch import fx

__all__ = ["BufferPlan", "Lifetime", "MemoryPlan", "lifetimes", "plan_memory"]


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
    """

    device: Device
    pool: int
    size: int
    lower_bound: int
    tensors: int


@dataclass(slots=True)
class MemoryPlan:
    """The planned buffers of a method; buffer `n` of a program is entry `n - 1`."""

    buffers: list[BufferPlan] = field(default_factory=list)


def plan_memory(method: MethodGraph, alignment: int, mode: Mode = "fast") -> MemoryPlan:
    """Give every planned tensor of a method its place.

    Each device and pool has a buffer of its own. The CPU comes first, then the devices by kind and
    index, as ExecuTorch numbers them.

    Args:
        method: The method; its specs get their places.
        alignment: Bytes to which each tensor is aligned in its buffer.
        mode: How hard to try.
    """
    groups: defaultdict[tuple[Device, int], list[TensorSpec]] = defaultdict(list)
    living = lifetimes(method)
    for spec in living:
        groups[spec.device, spec.pool].append(spec)
    result = MemoryPlan()
    for number, (device, pool) in enumerate(sorted(groups), 1):
        specs = groups[device, pool]
        tensors = [(spec.nbytes, living[spec].first, living[spec].end) for spec in specs]
        planned = plan(tensors, mode=mode, alignment=alignment)
        for spec, offset in zip(specs, planned.offsets.tolist(), strict=True):
            spec.place = Place(number, offset)
        result.buffers.append(
            BufferPlan(device, pool, planned.total, planned.lower_bound, len(specs))
        )
    return result


def lifetimes(method: MethodGraph) -> dict[TensorSpec, Lifetime]:
    """When each planned tensor of a method is in use, in steps of its instructions.

    Inputs are there from the start, results up to the end, and what a method keeps from call to
    call always.
    """
    found: dict[TensorSpec, Lifetime] = {}
    nodes = list(method.graph.nodes)
    end = len(nodes) + 1
    for step, node in enumerate(nodes, 1):
        for spec in specs_of(node):
            _see(found, spec, step)
        for argument in node.all_input_nodes:
            for spec in specs_of(argument):
                _see(found, spec, step)
    for node, given in zip(method.placeholders, method.inputs, strict=True):
        for spec in specs_of(node):
            if (lifetime := found.get(spec.storage)) is not None:
                lifetime.first = 0
                if given.kind is not InputKind.USER:
                    lifetime.end = end
    for result in method.results:
        for spec in specs_of(result) if _is_node(result) else ():
            if (lifetime := found.get(spec.storage)) is not None:
                lifetime.end = end
    return found


def _see(found: dict[TensorSpec, Lifetime], spec: TensorSpec | None, step: int) -> None:
    if spec is None:
        return
    spec = spec.storage
    if not spec.planned:
        return
    if spec in found:
        found[spec].end = max(found[spec].end, step + 1)
    else:
        found[spec] = Lifetime(step, step + 1)


def _is_node(value: object) -> bool:
    from torch import fx

    return isinstance(value, fx.Node)
