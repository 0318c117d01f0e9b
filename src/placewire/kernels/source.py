"""The source in which methods find torch's operators."""

from __future__ import annotations

from functools import cache

from placewire._core import core

from .operators import find_operator

__all__ = ["torch_kernels"]


@cache
def torch_kernels() -> core.KernelSource:
    """The kernels of torch, as a method takes them; one object for the whole process.

    An operator is looked up when a program first needs it, and kept.
    """
    return core.KernelSource(find_operator)
