"""Decompositions of bags of embeddings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["embedding_bag"]


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,  # noqa: ARG001
    mode: int = 0,
    sparse: bool = False,  # noqa: ARG001
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sums, means or maxima over bags: a table says which entry is in which bag."""
    first = offsets[:-1] if include_last_offset else offsets
    count, bags = indices.shape[0], first.shape[0]
    bag_of = (torch.arange(count)[:, None] >= first[None, :]).sum(1) - 1
    member = bag_of[None, :] == torch.arange(bags)[:, None]
    if padding_idx >= 0:
        member = member & (indices != padding_idx)[None, :]
    rows = functional.embedding(indices, weight)
    sizes = member.sum(1)
    if mode == 2:
        lowest = torch.full((), -math.inf, dtype=weight.dtype)
        most = torch.where(member[:, :, None], rows[None], lowest).amax(1)
        result = torch.where((sizes > 0)[:, None], most, torch.zeros((), dtype=weight.dtype))
    else:
        share = member.to(weight.dtype)
        if per_sample_weights is not None:
            share = share * per_sample_weights[None, :]
        result = share @ rows
        if mode == 1:
            result = result / sizes.clamp(min=1)[:, None].to(weight.dtype)
    return result, bag_of, sizes, sizes
