"""Decompositions of operators that sort and search: `topk`, or comparing all with all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .base import CannotDecomposeError, is_static

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "bucketize",
    "kthvalue",
    "median",
    "median_dim",
    "searchsorted",
    "sort",
    "sort_stable",
    "topk",
]

_aten = torch.ops.aten


_LONGEST_STABLE_SORT = 1024
"""Elements up to which a stable sort compares every one with every other."""


def searchsorted(
    sorted_sequence: Tensor,
    self: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The number of elements of the sequence that come before each value."""
    if sorter is not None:
        sorted_sequence = torch.gather(sorted_sequence, -1, sorter)
    row = sorted_sequence if sorted_sequence.dim() == 1 else sorted_sequence.unsqueeze(-2)
    value = self.unsqueeze(-1)
    before = row <= value if right or side == "right" else row < value
    return before.sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def bucketize(
    self: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    if self.dtype is torch.bool:
        values, indices = sort(self.to(torch.int8), dim, descending)
        return values.to(torch.bool), indices
    return _aten.topk.default(self, self.shape[dim], dim, largest=descending)


def sort_stable(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    if not stable or self.dim() == 0:
        return sort(self, dim, descending)
    size = self.shape[dim]
    if not is_static(size) or size > _LONGEST_STABLE_SORT:
        raise CannotDecomposeError(
            f"a stable sort is decomposed up to {_LONGEST_STABLE_SORT} elements; found {size}; "
            "sort with stable=False"
        )
    order = _stable_ranks(self.movedim(dim, -1), descending)
    places = torch.arange(size).expand(order.shape)
    indices = torch.zeros_like(places).scatter(-1, order, places).movedim(-1, dim)
    return torch.gather(self, dim, indices), indices


def _stable_ranks(rows: Tensor, descending: bool) -> Tensor:
    """Where each element of a row goes: the number of elements that come before it."""
    mine, others = rows.unsqueeze(-1), rows.unsqueeze(-2)
    ahead = others > mine if descending else others < mine
    size = rows.shape[-1]
    earlier = torch.arange(size)[None, :] < torch.arange(size)[:, None]
    return (ahead | ((others == mine) & earlier)).sum(-1)


def median(self: Tensor) -> Tensor:
    flat = self.reshape(-1)
    return _kth(flat, (flat.shape[0] + 1) // 2, 0)[0].squeeze(0)


def median_dim(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    return kthvalue(self, (self.shape[dim] + 1) // 2, dim, keepdim)


def topk(
    self: Tensor,
    k: int,  # noqa: ARG001
    dim: int = -1,  # noqa: ARG001
    largest: bool = True,  # noqa: ARG001
    sorted: bool = True,  # noqa: A002, ARG001
) -> tuple[Tensor, Tensor]:
    if self.dim():
        raise CannotDecomposeError("it is decomposed for tensors without dimensions")
    return self.clone(), torch.zeros((), dtype=torch.int64)


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    values, indices = _kth(self, k, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _kth(self: Tensor, k: int, dim: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.topk(self, k, dim, largest=False, sorted=True)
    return values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
