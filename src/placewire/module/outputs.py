"""Outputs: what callers get for the values that a method gives."""

from __future__ import annotations

import sys
from typing import Any, Literal, TypeAlias

import numpy as np
from placewire_schema.errors import NotSupportedError
from placewire_schema.program import DeviceType, ScalarType

from placewire._core import core

__all__ = ["Library", "as_output"]

Library: TypeAlias = Literal["numpy", "torch"]
"""Whose tensors the outputs are."""


def as_output(value: object, library: Library, *, copy: bool) -> object:
    """The object that callers get for a value of the core.

    Args:
        value: A `core.Tensor`, a number, a string, `None`, or a list of these.
        library: Whose tensors they are to be, on the host and where the library has the device.
            What is on another device is a `placewire.Tensor` there.
        copy: Whether tensors own their elements; else they are valid until the method executes
            again, which changes them.

    Raises:
        NotSupportedError: numpy has no such element type.
    """
    if isinstance(value, list):
        return [as_output(item, library, copy=copy) for item in value]
    if not isinstance(value, core.Tensor):
        return value
    if library == "torch" and _torch_has_device(value):
        return _torch_tensor(value, copy=copy)
    if value.device_type == DeviceType.CPU:
        return _array(value, copy=copy)
    return value.copy_to(value.device_type, value.device_index) if copy else value


def _array(tensor: core.Tensor, *, copy: bool) -> np.ndarray[Any, Any]:
    scalar_type = ScalarType(tensor.scalar_type)
    if scalar_type.numpy is None:
        raise NotSupportedError(
            f"numpy has no {scalar_type.torch}; from Python, open the module with library='torch'"
        )
    if tensor.nbytes == 0:
        return np.empty(tensor.shape, scalar_type.numpy)
    array: np.ndarray[Any, Any] = np.from_dlpack(tensor)
    return array.copy(order="K") if copy else array


def _torch_tensor(tensor: core.Tensor, *, copy: bool) -> object:
    made = sys.modules["torch"].from_dlpack(tensor)
    return made.clone() if copy else made


def _torch_has_device(tensor: core.Tensor) -> bool:
    if tensor.device_type == DeviceType.CPU:
        return True
    cuda = sys.modules["torch"].cuda
    return (
        tensor.device_type == DeviceType.CUDA
        and cuda.is_available()
        and tensor.device_index < cuda.device_count()
    )
