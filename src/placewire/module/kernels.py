"""Where methods find the kernels that the core does not have."""

from __future__ import annotations

from functools import cache

from placewire._core import core

# In a module of its own: the source keeps the function, and that keeps the names of its module. So
# the source must not be among them, or nothing could ever free it.
from .torch_lookup import find_torch_operator

__all__ = ["default_kernels"]


@cache
def default_kernels() -> core.KernelSource:
    """Torch's kernels; one object for the whole process, so that what was found is kept."""
    return core.KernelSource(find_torch_operator)
