"""The operators of a graph that copy a tensor from one device to another, and their wire names.

They are the torch operators `placewire::h2d_copy`, `placewire::d2h_copy` and `placewire::d2d_copy`.
Programs call the first two by the names that ExecuTorch gave them, `et_copy::_h2d_copy.out` and
`et_copy::_d2h_copy.out`; a torch library of that name would clash with ExecuTorch's own if both are
imported in one process.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import torch
from torch._ops import OpOverload

from .specs import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import fx

    from placewire.device import Device

    from .graph import MethodGraph

__all__ = ["CopyKind", "copies_in", "copy_kind", "is_copy"]

_LIBRARY = torch.library.Library("placewire", "FRAGMENT")  # type: ignore[no-untyped-call]


def _define(name: str) -> None:
    """Define an operator with both variants; in eager mode all memory is the same to it."""
    _LIBRARY.define(f"{name}(Tensor self) -> Tensor")  # type: ignore[no-untyped-call]
    _LIBRARY.define(f"{name}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")  # type: ignore[no-untyped-call]
    _LIBRARY.impl(name, _copied, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]
    _LIBRARY.impl(f"{name}.out", _copied_to, "CompositeExplicitAutograd")  # type: ignore[no-untyped-call]


def _copied(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.clone()


def _copied_to(tensor: torch.Tensor, *, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(tensor)


class CopyKind(Enum):
    """A direction of copying.

    Attributes:
        label: As people write it: `H2D`.
        wire_name: Name and overload of the kernel that a program calls.
        functional: The operator in a graph, which gives a new tensor.
        out: Its variant that writes into a tensor it is given.
    """

    HOST_TO_DEVICE = ("H2D", "h2d_copy", "et_copy::_h2d_copy")
    DEVICE_TO_HOST = ("D2H", "d2h_copy", "et_copy::_d2h_copy")
    DEVICE_TO_DEVICE = ("D2D", "d2d_copy", "placewire::d2d_copy")

    def __init__(self, label: str, operator: str, kernel: str) -> None:
        self.label = label
        self.wire_name = (kernel, "out")
        _define(operator)
        packet = getattr(torch.ops.placewire, operator)
        self.functional: OpOverload = packet.default
        self.out: OpOverload = packet.out

    @classmethod
    def between(cls, source: Device, target: Device) -> CopyKind:
        """How to copy from one device to another one."""
        if source.is_cpu:
            return cls.HOST_TO_DEVICE
        return cls.DEVICE_TO_HOST if target.is_cpu else cls.DEVICE_TO_DEVICE


_KINDS = {kind.functional: kind for kind in CopyKind}


def copy_kind(node: fx.Node) -> CopyKind | None:
    """Which copy a node is; None if it is none."""
    return _KINDS.get(node.target) if isinstance(node.target, OpOverload) else None


def is_copy(node: fx.Node) -> bool:
    return copy_kind(node) is not None


def copies_in(method: MethodGraph) -> Iterator[tuple[fx.Node, CopyKind, int]]:
    """All copies of a method and its bodies of control flow, each with the bytes that it moves.

    These are the bytes at the upper bounds of dynamic sizes, for one run of the body it is in.
    """
    for node in method.graph.nodes:
        if (kind := copy_kind(node)) is not None:
            yield node, kind, spec_of(node).nbytes
    for body in method.bodies.values():
        yield from copies_in(body)
