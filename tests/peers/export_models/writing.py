"""Models that write in place, keep buffers, branch and loop."""

from __future__ import annotations

import torch
from torch import Tensor, nn, randn

from .model import ExportModel, function

__all__ = ["WRITING"]


def _in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.add_(1).mul_(2)
    y[0] = 7.0
    y[:, 1:].relu_()
    return y


class Counter(nn.Module):
    """Adds up what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.total = nn.Buffer(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 2


class Cache(nn.Module):
    """Puts rows into a cache of keys, as a decoder does."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = nn.Buffer(torch.zeros(8, 4))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        self.keys.index_copy_(0, position, x)
        return self.keys.sum(1)


class Branch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x.sin(), (x,))


class Loop(nn.Module):
    def forward(self, rows: Tensor, y: Tensor) -> Tensor:
        from torch._higher_order_ops import map as higher_order_map

        return higher_order_map(lambda row, y: row * y + 1, rows, y)  # type: ignore[arg-type]


WRITING = [
    function("in_place_operators", _in_place, lambda: (randn(3, 4),)),
    ExportModel("mutable_buffer", Counter, lambda: (randn(4),)),
    ExportModel("cache", Cache, lambda: (randn(1, 4), torch.randint(0, 8, (1,)))),
    ExportModel("condition", Branch, lambda: (randn(3),)),
    ExportModel("map", Loop, lambda: (randn(3, 4), randn(4))),
]
