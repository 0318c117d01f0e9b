"""Surroundings: what a body of control flow finds in the graph around it, device by device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from torch import fx

from .control_flow import ControlFlow, operands_of
from .graph import GraphInput, InputKind, MethodGraph
from .specs import TensorSpec, spec_of

if TYPE_CHECKING:
    from placewire.device import Device

__all__ = ["Surroundings"]

_Version: TypeAlias = "Callable[[fx.Node, Device], fx.Node]"


@dataclass
class Surroundings:
    """The graph around the bodies of a branch or loop.

    A body gets a tensor from outside where that is first. Where it is needed on another device, the
    copy is made outside, once for all bodies and iterations, and handed in as one more operand.

    Attributes:
        flow: The branch or loop. What it takes from outside is where that is first.
        bodies: Its bodies.
        version: Gives the version of something outside on a device, as of before the control flow.
    """

    flow: ControlFlow
    bodies: list[MethodGraph]
    version: _Version
    _added: dict[tuple[int, Device], list[fx.Node]] = field(default_factory=dict)
    _outside: list[fx.Node] = field(default_factory=list)

    def hand_in(self) -> None:
        """Let the operands of the bodies be the tensors that they are outside."""
        for body in self.bodies:
            for operand, position in self.positions(body).items():
                item = self.flow.outside[position]
                if isinstance(operand.meta.get("spec"), TensorSpec):
                    operand.meta["spec"] = spec_of(item)

    def positions(self, body: MethodGraph) -> dict[fx.Node, int]:
        """Which operands of a body come from outside, and where they stand there."""
        first = len(self.flow.carried) + len(self.flow.mapped)
        operands = operands_of(body)[first : first + len(self.flow.outside)]
        return {operand: position for position, operand in enumerate(operands)}

    def operand(self, body: MethodGraph, position: int, device: Device) -> fx.Node:
        """The operand of a body that is the version on a device of something from outside."""
        number = next(number for number, one in enumerate(self.bodies) if one is body)
        if (position, device) not in self._added:
            outside = self.version(self.flow.outside[position], device)
            self._outside.append(outside)
            self._added[position, device] = [_operand(body, outside) for body in self.bodies]
        return self._added[position, device][number]

    @property
    def arguments(self) -> tuple[object, ...]:
        """The arguments of the control flow with what was handed in besides."""
        outside = (*self.flow.outside, *self._outside)
        return replace(self.flow, outside=outside).arguments


def _operand(body: MethodGraph, outside: fx.Node) -> fx.Node:
    with body.graph.inserting_after(body.placeholders[-1]):
        node = body.graph.placeholder(f"{outside.name}_outside")
    node.meta = {"val": outside.meta["val"], "spec": spec_of(outside)}
    body.inputs.append(GraphInput(InputKind.OPERAND, node.name))
    return node
