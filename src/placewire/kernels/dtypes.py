"""What a program has as a number and torch as an object: element types, layouts, memory formats."""

from __future__ import annotations

import torch
from placewire_schema.program import ScalarType

__all__ = ["LAYOUTS", "MEMORY_FORMATS", "scalar_type"]

LAYOUTS = {0: torch.strided}
"""By the numbers of `c10::Layout`; a program's tensors are never sparse."""

MEMORY_FORMATS = {
    0: torch.contiguous_format,
    1: torch.preserve_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
}
"""By the numbers of `c10::MemoryFormat`."""


def scalar_type(number: int) -> torch.dtype:
    """The dtype of an element type of the schema.

    Raises:
        ValueError: There is no such element type.
    """
    dtype: torch.dtype = getattr(torch, ScalarType(number).torch)
    return dtype
