"""ConstantPool: the data of a program's constants, each kept once however many tensors share it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ConstantPool"]


class ConstantPool:
    """Constants in the order in which they were first asked for; entry 0 is reserved and empty.

    Two tensors of one memory are recognised without looking at their data, others by a hash of it.

    Args:
        alignment: Bytes to which each constant is aligned in the segment.
    """

    def __init__(self, alignment: int) -> None:
        self._alignment = alignment
        self._data: list[np.ndarray] = []
        self._by_memory: dict[tuple[int, int], tuple[int, torch.Tensor]] = {}
        self._by_content: dict[bytes, int] = {}

    def index_of(self, tensor: torch.Tensor) -> int:
        """The entry of a tensor's data, in the order of its elements in memory."""
        memory = (tensor.data_ptr(), tensor.nbytes)
        if tensor.nbytes and memory in self._by_memory:
            return self._by_memory[memory][0]
        data = _bytes_of(tensor)
        digest = hashlib.sha256(data.data).digest()
        known = self._by_content.get(digest)
        if known is None:
            self._data.append(data)
            known = self._by_content[digest] = len(self._data)
        # Kept, so that no other tensor gets its memory.
        self._by_memory[memory] = known, tensor
        return known

    def __len__(self) -> int:
        return len(self._data)

    def offsets(self) -> list[int]:
        """Where each entry begins in the segment, in bytes; the reserved one at 0."""
        return [0, *(start for start, _ in self._placed())] if self._data else [0]

    def segment(self) -> np.ndarray:
        """All entries, one after the other, padded with zeros."""
        size = max((start + data.nbytes for start, data in self._placed()), default=0)
        segment = np.zeros(size, dtype=np.uint8)
        for start, data in self._placed():
            segment[start : start + data.nbytes] = data
        return segment

    def _placed(self) -> Iterator[tuple[int, np.ndarray]]:
        start = 0
        for data in self._data:
            yield start, data
            start += -(-data.nbytes // self._alignment) * self._alignment


def _bytes_of(tensor: torch.Tensor) -> np.ndarray:
    """The bytes of a tensor's elements as they lie in memory, without gaps."""
    tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
    strides = tensor.stride()
    order = sorted(range(tensor.dim()), key=lambda dimension: -strides[dimension])
    dense = tensor.permute(order).contiguous()
    return dense.reshape(-1).view(torch.uint8).numpy()
