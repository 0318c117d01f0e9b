"""Tensors of torch's that callers give, for code that must not import torch itself."""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

from placewire_schema.errors import InvalidArgumentError

__all__ = ["borrowable", "is_torch_device", "is_torch_tensor"]


def is_torch_tensor(value: object) -> TypeGuard[Any]:
    """Whether a value is a torch tensor, without importing torch: who has one has done so."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and isinstance(value, torch_module.Tensor)


def is_torch_device(value: object) -> bool:
    """Whether a value is torch's name of a device, without importing torch."""
    torch_module = sys.modules.get("torch")
    return torch_module is not None and isinstance(value, torch_module.device)


def borrowable(value: object) -> object:
    """The object from which the core takes a tensor: of torch's one that needs no gradients.

    Raises:
        InvalidArgumentError: Its numbers are not those in its memory, because torch negates or
            conjugates them when they are read.
    """
    if not is_torch_tensor(value):
        return value
    if value.is_neg():
        raise InvalidArgumentError(_lazy("negative", "resolve_neg"))
    if value.is_conj():
        raise InvalidArgumentError(_lazy("conjugate", "resolve_conj"))
    # What needs gradients would be refused; a program computes none.
    return value.detach()


def _lazy(bit: str, remedy: str) -> str:
    return f"torch's {bit} bit is set, so its memory has other numbers; give x.{remedy}()"
