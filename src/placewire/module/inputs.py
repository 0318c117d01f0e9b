"""Inputs: what callers may give for a value of a method."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from placewire_schema.errors import InvalidArgumentError, InvalidTypeError, NotSupportedError
from placewire_schema.program import DeviceType, ScalarType

from placewire._core import core
from placewire.torch_tensors import borrowable, is_torch_tensor
from placewire.wording import described

from .metadata import type_name

if TYPE_CHECKING:
    import torch

__all__ = ["as_input", "converted"]


def as_input(value: object, expected: object) -> object:
    """The object that the core takes for a value, with the same elements at the same place.

    Args:
        value: What the caller gave: for a tensor anything with `__dlpack__` or a buffer.
        expected: The input as the method has it: a `core.Tensor`, or a number, string or `None`.

    Raises:
        InvalidArgumentError: A torch tensor's memory has other numbers than the tensor.
    """
    if isinstance(expected, core.Tensor):
        return borrowable(value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(expected, float) and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise InvalidArgumentError("an integer is too large for a float") from None
    return value


def converted(value: object, expected: object) -> object:
    """The same as a copy, with the element type, order and device that a method expects.

    Args:
        value: What the caller gave, or for a tensor also numbers in lists.
        expected: As for `as_input`.

    Raises:
        InvalidArgumentError: The element type cannot become the expected one without changing its
            kind, such as float32 to int64.
        InvalidTypeError: It is no tensor, and no numbers in lists.
        NotSupportedError: numpy has no such element type; give a torch tensor.
    """
    if not isinstance(expected, core.Tensor):
        return as_input(value, expected)
    scalar_type = ScalarType(expected.scalar_type)
    if is_torch_tensor(value):
        fitting: object = _torch_converted(value, scalar_type, expected.dim_order)
    elif isinstance(host := _on_host(value), core.Tensor) and host.scalar_type == scalar_type:
        fitting = host
    else:
        fitting = _in_order(_cast(host, scalar_type), expected.dim_order)
    if expected.device_type == DeviceType.CPU:
        return fitting
    return core.copy_tensor(fitting, expected.device_type, expected.device_index)


def _on_host(value: object) -> object:
    """A value's elements in the host's memory."""
    if isinstance(value, type) or not hasattr(value, "__dlpack_device__"):
        return value
    kind, _ = value.__dlpack_device__()
    return value if kind == DeviceType.CPU.dlpack else core.copy_tensor(value, DeviceType.CPU, 0)


def _cast(value: object, scalar_type: ScalarType) -> np.ndarray[Any, Any]:
    if scalar_type.numpy is None:
        raise NotSupportedError(
            f"numpy has no {scalar_type.torch}; give a torch tensor of that type"
        )
    array = np.from_dlpack(value) if isinstance(value, core.Tensor) else _as_array(value)
    # A list of Python's numbers has no element type of its own, so it may become any that holds it.
    rule = "same_kind" if hasattr(value, "dtype") or isinstance(value, core.Tensor) else "unsafe"
    if array.dtype.kind not in "biuf" or not np.can_cast(array.dtype, scalar_type.numpy, rule):  # type: ignore[arg-type]
        raise InvalidArgumentError(f"cannot convert {array.dtype} to {type_name(scalar_type)}")
    return array.astype(scalar_type.numpy)


def _as_array(value: object) -> np.ndarray[Any, Any]:
    try:
        array = np.asarray(value)
    except MemoryError:
        raise
    except Exception as error:  # the value's own code may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise InvalidTypeError(f"{described(value)} is no tensor: {reason}") from error
    # numpy makes an array of anything, if need be one of Python's objects.
    has_type = hasattr(value, "dtype") and not isinstance(value, type)
    if not has_type and array.dtype.kind not in "biufc":
        if isinstance(value, list | tuple | int):
            raise InvalidTypeError(
                f"{described(value)} is no tensor: numpy has no type of numbers for what is in it"
            )
        raise InvalidTypeError(
            f"{described(value)} is no tensor; expected one, or numbers in lists"
        )
    return array


def _in_order(array: np.ndarray[Any, Any], order: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if len(order) != array.ndim:
        return np.ascontiguousarray(array).reshape(array.shape)
    return np.ascontiguousarray(array.transpose(order)).transpose(np.argsort(order))


def _torch_converted(
    tensor: torch.Tensor, scalar_type: ScalarType, order: tuple[int, ...]
) -> torch.Tensor:
    try:
        host = tensor.detach().cpu().resolve_neg().resolve_conj()
        return _torch_in_order(_torch_cast(host, scalar_type), order)
    except RuntimeError as error:
        # A sparse, quantized, nested or meta tensor, or one whose storage is gone.
        reason = str(error).partition("\n")[0].partition(". ")[0]
        raise InvalidArgumentError(
            f"torch cannot make it a dense {type_name(scalar_type)} tensor: {reason}"
        ) from error


def _torch_cast(tensor: torch.Tensor, scalar_type: ScalarType) -> torch.Tensor:
    torch_module = sys.modules["torch"]
    wanted: torch.dtype = getattr(torch_module, scalar_type.torch)
    if not torch_module.can_cast(tensor.dtype, wanted):
        raise InvalidArgumentError(f"cannot convert {tensor.dtype} to {type_name(scalar_type)}")
    return tensor.to(wanted)


def _torch_in_order(tensor: torch.Tensor, order: tuple[int, ...]) -> torch.Tensor:
    if len(order) != tensor.dim():
        return tensor.contiguous()
    return tensor.permute(order).contiguous().permute(tuple(np.argsort(order).tolist()))
