"""Tensors that may lie on any device: views of what a method has, and copies that own their memory.

`Tensor` is a class of the compiled core. It has `__dlpack__`, so that numpy, torch and others take
what they can reach without a copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from placewire_schema.errors import NotSupportedError
from placewire_schema.program import DeviceType, ScalarType

from ._core import core
from .argument_types import wrong_type
from .device import Device, as_device
from .torch_tensors import borrowable

__all__ = ["Tensor", "copy_tensor", "to_numpy"]

Tensor = core.Tensor


def copy_tensor(value: object, device: Device | str = "cpu") -> Tensor:
    """Copy a tensor to a device, where the copy owns its memory.

    Args:
        value: Anything with `__dlpack__` or a buffer of numbers, on any device that has an
            allocator: a numpy array, a torch tensor, a `Tensor`. Its elements lie without gaps.
        device: Where to. Default: the host.

    Raises:
        InvalidTypeError: `value` is no tensor, or of an element type that programs do not have.
        InvalidArgumentError: There are gaps between its elements, torch negates or conjugates them
            when they are read, or `device` is none.
        NotFoundError: A device has no allocator.
        PlacewireError: The allocator fails.
    """
    place = as_device(device)
    return core.copy_tensor(borrowable(value), place.type, place.index)


def to_numpy(tensor: Tensor) -> np.ndarray[Any, Any]:
    """Copy a tensor from whatever device to a numpy array.

    Raises:
        InvalidTypeError: It is no `Tensor`.
        NotSupportedError: numpy has no such element type.
        PlacewireError: The allocator fails.
    """
    if not isinstance(tensor, Tensor):
        raise wrong_type("tensor", tensor, "a placewire.Tensor")
    scalar_type = ScalarType(tensor.scalar_type)
    if scalar_type.numpy is None:
        raise NotSupportedError(f"numpy has no {scalar_type.torch}")
    if tensor.nbytes == 0:
        return np.empty(tensor.shape, scalar_type.numpy)
    on_host = tensor.copy_to(DeviceType.CPU, 0)
    array: np.ndarray[Any, Any] = np.from_dlpack(on_host)
    return array
