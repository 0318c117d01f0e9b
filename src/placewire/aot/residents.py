"""Residents: tensors that stay on a device from call to call, which ExecuTorch's runtime has not.

A constant that a delegate needs on its device is uploaded once, when the program is loaded. A
buffer that a delegate changes is planned on its device, and the delegate writes the new value over
the old one.
"""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from .delegates import is_delegate_call
from .graph import GraphInput, InputKind
from .specs import spec_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import fx

    from placewire.device import Device

    from .graph import MethodGraph

__all__ = ["make_constant_resident", "make_states_resident"]


def make_constant_resident(
    method: MethodGraph, node: fx.Node, given: GraphInput, device: Device
) -> fx.Node:
    """Give a method a constant on a device: a planned tensor with that initial value."""
    graph = method.graph
    with graph.inserting_after(method.placeholders[-1]):
        new = graph.placeholder(f"{node.name}_{device.type.name.lower()}_{device.index}")
    method.inputs.append(GraphInput(given.kind, given.name, given.value))
    new.meta["val"] = node.meta["val"]
    new.meta["spec"] = replace(
        spec_of(node),
        device=device,
        planned=True,
        constant=None,
        initial=given.value,
        place=None,
    )
    return new


def make_states_resident(
    method: MethodGraph, inputs: Mapping[fx.Node, GraphInput]
) -> dict[fx.Node, Device]:
    """Move buffers to the device of the delegate that computes their new value.

    The new value becomes the buffer's own tensor, and the operator that wrote it back goes. That is
    right if nothing reads the old value after the delegate.

    Returns:
        The placeholders that are on a device now.
    """
    position = {node: place for place, node in enumerate(method.graph.nodes)}
    found: dict[fx.Node, Device] = {}
    taken: set[fx.Node] = set()
    for node, given in inputs.items():
        if given.kind is not InputKind.BUFFER or not given.mutated:
            continue
        writes = [user for user in node.users if user.target is torch.ops.aten.copy_.default]
        if len(writes) != 1 or writes[0].args[0] is not node or writes[0].args[1] is node:
            continue
        (write,) = writes
        new = write.args[1]
        assert isinstance(new, torch.fx.Node)
        device = _device_of_output(method, new)
        if device is None or new in taken or not _same_form(node, new):
            continue
        call = new.args[0]
        assert isinstance(call, torch.fx.Node)
        if any(position[user] > position[call] for user in node.users if user is not write):
            continue
        _write_in_place(node, call, new, write, device)
        taken.add(new)
        found[node] = device
    return found


def _device_of_output(method: MethodGraph, node: fx.Node) -> Device | None:
    """The device of the delegate that a node is a result of; None for any other node."""
    call = node.args[0] if node.target is operator.getitem else None
    if not isinstance(call, torch.fx.Node) or not is_delegate_call(call):
        return None
    return method.delegates[str(call.args[0])].device


def _same_form(old: fx.Node, new: fx.Node) -> bool:
    a, b = spec_of(old), spec_of(new)
    return (a.scalar_type, a.sizes, a.dim_order, a.dynamism) == (
        b.scalar_type,
        b.sizes,
        b.dim_order,
        b.dynamism,
    )


def _write_in_place(
    buffer: fx.Node, call: fx.Node, new: fx.Node, write: fx.Node, device: Device
) -> None:
    spec = spec_of(buffer)
    spec.device = device
    specs = list(call.meta["spec"])
    specs[new.args[1]] = spec  # type: ignore[index]
    call.meta["spec"] = tuple(specs)
    new.meta["spec"] = spec
    write.replace_all_uses_with(new)
    write.graph.erase_node(write)
