"""Residents: tensors that stay on a device from call to call, which ExecuTorch's runtime has not.

A constant that a delegate needs on its device is uploaded once, when the program is loaded. A
buffer that a delegate changes is planned on its device, and the delegate writes the new value over
the old one. If methods share their buffers, all of them must agree on where each one is.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from placewire.placement import CPU

from .delegates import is_delegate_call
from .graph import GraphInput, InputKind
from .simplify import remove_dead_code
from .specs import spec_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torch import fx

    from placewire.device import Device

    from .graph import MethodGraph

__all__ = ["make_constant_resident", "make_states_resident", "shared_homes"]


@dataclass(frozen=True, slots=True)
class _Resident:
    """A buffer that can stay on a device: the delegate's result that becomes it, and where."""

    write: fx.Node
    call: fx.Node
    new: fx.Node
    device: Device


def shared_homes(methods: Iterable[MethodGraph]) -> dict[str, Device]:
    """Where the buffers that methods share stay, by name; what is not named stays on the CPU.

    It is the device on which all methods that change a buffer compute its new value.
    """
    homes: dict[str, set[Device]] = {}
    for method in methods:
        remove_dead_code(method)
        inputs = dict(zip(method.placeholders, method.inputs, strict=True))
        residents = _residents(method, inputs)
        for node, given in inputs.items():
            if given.is_state and given.mutated:
                device = residents[node].device if node in residents else CPU
                homes.setdefault(given.name, set()).add(device)
    agreed = {name: devices.pop() for name, devices in homes.items() if len(devices) == 1}
    return {name: device for name, device in agreed.items() if not device.is_cpu}


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
    method: MethodGraph,
    inputs: Mapping[fx.Node, GraphInput],
    homes: Mapping[str, Device] | None = None,
) -> dict[fx.Node, Device]:
    """Move buffers to the device of the delegate that computes their new value.

    The new value becomes the buffer's own tensor, and the operator that wrote it back goes. That is
    right if nothing reads the old value after the delegate.

    Args:
        method: The method.
        inputs: What its placeholders are.
        homes: If methods share their buffers, what `shared_homes` says of them.

    Returns:
        The placeholders that are on a device now.
    """
    found: dict[fx.Node, Device] = {}
    for node, resident in _residents(method, inputs).items():
        if homes is None or inputs[node].name in homes:
            _write_in_place(node, resident)
            found[node] = resident.device
    for node, given in inputs.items():
        if homes and given.is_state and given.name in homes and node not in found:
            spec_of(node).device = found[node] = homes[given.name]
    return found


def _residents(
    method: MethodGraph, inputs: Mapping[fx.Node, GraphInput]
) -> dict[fx.Node, _Resident]:
    """The buffers of a method that can stay on the device where their new value is computed."""
    position = {node: place for place, node in enumerate(method.graph.nodes)}
    found: dict[fx.Node, _Resident] = {}
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
        taken.add(new)
        found[node] = _Resident(write, call, new, device)
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


def _write_in_place(buffer: fx.Node, resident: _Resident) -> None:
    spec = spec_of(buffer)
    spec.device = resident.device
    new, call = resident.new, resident.call
    specs = list(call.meta["spec"])
    specs[new.args[1]] = spec  # type: ignore[index]
    call.meta["spec"] = tuple(specs)
    new.meta["spec"] = spec
    resident.write.replace_all_uses_with(new)
    resident.write.graph.erase_node(resident.write)
