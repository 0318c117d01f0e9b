"""The device table: which devices a program uses, and what it needs of each.

It can be derived from the program's plan, so a file need not carry one. A file that does carries it
as named data; see `placewire.pte.PteFile.device_table`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from placewire_schema.device_info import DeviceInfo, DeviceTable
from placewire_schema.program import TensorDataLocation

from .placement import (
    buffer_devices,
    target_device,
    target_device_specs,
    tensor_device,
    tensors,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from placewire_schema.program import DeviceType, ExecutionPlan, Program, Tensor

    from .device import Device

__all__ = ["derive", "move"]

_Constants = dict[tuple[str, int, int], int]
"""Bytes of each constant, by the list that holds it, its segment, and its index there."""


def derive(program: Program, previous: DeviceTable | None = None) -> DeviceTable | None:
    """Work out the device table of a program.

    A device is used if a planned buffer that is not empty, a tensor, or a delegate's
    `target_device` is on it. Constants count once however many tensors share them, and not on the
    CPU, which reads them from the file.

    Args:
        program: The program.
        previous: A table whose `alignment` and `requirements`, which no plan holds, are taken over
            for every device that is still used.

    Returns:
        The table, ordered by kind and index; `None` if everything is on the CPU.

    Raises:
        InvalidArgumentError: The schema does not know a device of the program.
    """
    infos: dict[Device, DeviceInfo] = {}
    constants: defaultdict[Device, _Constants] = defaultdict(dict)
    for plan in program.execution_plan:
        _count_buffers(plan, infos)
        for _, tensor in tensors(plan):
            device = tensor_device(tensor)
            _info(infos, device)
            if tensor.data_buffer_idx and not device.is_cpu:
                constants[device].update(_constant(tensor))
        for delegate in plan.delegates:
            for spec in target_device_specs(delegate)[:1]:
                if (device_asked := target_device(spec)) is not None:
                    _info(infos, device_asked)
    if all(device.is_cpu for device in infos):
        return None
    for device, sizes in constants.items():
        infos[device].constant_bytes = sum(sizes.values())
    # By number: a table from elsewhere may name a device that the schema does not know.
    by_number = {(device.type, device.index): info for device, info in infos.items()}
    for old in previous.devices if previous else []:
        if (new := by_number.get((old.device_type, old.device_index))) is not None:
            new.alignment, new.requirements = old.alignment, old.requirements
    return DeviceTable(devices=[infos[device] for device in sorted(infos)])


def move(table: DeviceTable, moves: Mapping[Device, Device]) -> DeviceTable:
    """Apply a retargeting to a table, so that what is asked of a device goes along with it.

    Where two devices become one, the stricter alignment holds, and the requirements are those of
    the device that was there before, if it has any.
    """
    targets = {(old.type, old.index): (new.type, new.index) for old, new in moves.items()}
    moved: dict[tuple[DeviceType, int], DeviceInfo] = {}
    for info in sorted(table.devices, key=lambda entry: _number(entry) in targets):
        type_, index = targets.get(_number(info), _number(info))
        new = replace(info, device_type=type_, device_index=index)
        if (other := moved.get((type_, index))) is not None:
            new.alignment = max(new.alignment, other.alignment)
            new.requirements = other.requirements or new.requirements
        moved[type_, index] = new
    return DeviceTable(devices=[moved[number] for number in sorted(moved)])


def _number(info: DeviceInfo) -> tuple[DeviceType, int]:
    """The device of an entry, also if the schema does not know it."""
    return info.device_type, info.device_index


def _info(infos: dict[Device, DeviceInfo], device: Device) -> DeviceInfo:
    if device not in infos:
        infos[device] = DeviceInfo(device_type=device.type, device_index=device.index)
    return infos[device]


def _count_buffers(plan: ExecutionPlan, infos: dict[Device, DeviceInfo]) -> None:
    for size, device in zip(plan.non_const_buffer_sizes, buffer_devices(plan), strict=True):
        if size > 0:
            info = _info(infos, device)
            info.planned_bytes += size
            info.buffer_count += 1


def _constant(tensor: Tensor) -> _Constants:
    """Key and size of a tensor's constant or initial value."""
    extra = tensor.extra_tensor_info
    if extra is not None and extra.location is TensorDataLocation.EXTERNAL:
        return {}
    key = ("constant", 0, tensor.data_buffer_idx)
    if tensor.allocation_info is not None:
        segment = extra.mutable_data_segments_idx if extra is not None else 0
        key = ("mutable", segment, tensor.data_buffer_idx)
    return {key: math.prod(tensor.sizes) * tensor.scalar_type.bytes}
