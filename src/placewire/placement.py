"""Where a program places things: the devices of its tensors, planned buffers and delegates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema.errors import InvalidArgumentError
from placewire_schema.program import DeviceType, ExtraTensorInfo, Tensor

from .device import Device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placewire_schema.program import BackendDelegate, CompileSpec, ExecutionPlan, Program

__all__ = [
    "CPU",
    "TARGET_DEVICE",
    "buffer_devices",
    "device_text",
    "device_texts",
    "target_device",
    "target_device_specs",
    "tensor_device",
    "tensors",
]

CPU = Device(DeviceType.CPU, 0)

TARGET_DEVICE = "target_device"
"""Key of the compile spec that names the device a delegate runs on."""


def tensors(plan: ExecutionPlan) -> Iterator[tuple[int, Tensor]]:
    """All tensors of a method with their value indices."""
    for index, value in enumerate(plan.values):
        if isinstance(value.val, Tensor):
            yield index, value.val


def tensor_device(tensor: Tensor) -> Device:
    """The device of a tensor; one that says nothing is on `cpu:0`.

    Raises:
        InvalidArgumentError: The schema does not know the device.
    """
    extra = tensor.extra_tensor_info
    return CPU if extra is None else Device(extra.device_type, extra.device_index)


def buffer_devices(plan: ExecutionPlan) -> list[Device]:
    """The device of each entry of `plan.non_const_buffer_sizes`; what is not listed is on `cpu:0`.

    Of two entries for one buffer the first counts, as in ExecuTorch. Entries for buffers that do
    not exist are left out.

    Raises:
        InvalidArgumentError: The schema does not know a device.
    """
    devices = [CPU] * len(plan.non_const_buffer_sizes)
    for entry in reversed(plan.non_const_buffer_device or []):
        if 0 <= entry.buffer_idx < len(devices):
            devices[entry.buffer_idx] = Device(entry.device_type, entry.device_index)
    return devices


def target_device_specs(delegate: BackendDelegate) -> list[CompileSpec]:
    """The compile specs that name the delegate's device. ExecuTorch reads the first."""
    return [spec for spec in delegate.compile_specs if spec.key == TARGET_DEVICE]


def target_device(spec: CompileSpec) -> Device | None:
    """The device that a `target_device` spec names, `None` if its value is not a device.

    ExecuTorch allows blanks around the name, so they are ignored here too.
    """
    try:
        return Device.parse(bytes(spec.value).strip().decode("utf-8"))
    except (UnicodeDecodeError, InvalidArgumentError):
        return None


def device_text(device_type: int, index: int) -> str:
    """A device in words, also one that the schema does not know."""
    try:
        return str(Device(DeviceType(device_type), index))
    except ValueError:
        name = device_type.name.lower() if isinstance(device_type, DeviceType) else "unknown"
        return f"{name}(type {int(device_type)}):{index}"


def device_texts(program: Program) -> list[str]:
    """All devices that tensors, planned buffers and delegates of a program are on, in words."""
    texts: set[str] = set()
    for plan in program.execution_plan:
        for _, tensor in tensors(plan):
            extra = tensor.extra_tensor_info or ExtraTensorInfo()
            texts.add(device_text(extra.device_type, extra.device_index))
        for entry in plan.non_const_buffer_device or []:
            texts.add(device_text(entry.device_type, entry.device_index))
        for delegate in plan.delegates:
            asked = map(target_device, target_device_specs(delegate)[:1])
            texts.update(str(device) for device in asked if device is not None)
    return sorted(texts)
