"""Looks operators up in torch, which is imported only when a program needs one of them."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

__all__ = ["find_torch_operator", "has_torch"]


@cache
def has_torch() -> bool:
    """Whether torch is installed."""
    return find_spec("torch") is not None


def find_torch_operator(name: str) -> object:
    """What `core.KernelSource` takes for an operator; `None` without torch, or if it has none."""
    if not has_torch():
        return None
    from placewire.kernels.operators import find_operator

    return find_operator(name)
