"""Where methods find the kernels that the core does not have."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from placewire._core import core

__all__ = ["default_kernels", "has_torch"]


@cache
def default_kernels() -> core.KernelSource:
    """Torch's kernels, without importing torch until a program needs one of them."""
    return core.KernelSource(_find)


@cache
def has_torch() -> bool:
    """Whether torch is installed."""
    return find_spec("torch") is not None


def _find(name: str) -> Any:
    if not has_torch():
        return None
    from placewire.kernels.operators import find_operator

    return find_operator(name)
