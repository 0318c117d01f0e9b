"""Models with dynamic shapes, run at sizes other than those they are exported with."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn, randn
from torch.export import Dim
from torch.nn import functional

from .model import ExportModel, function
from .networks import Decoder

__all__ = ["DYNAMIC"]


def _rows(*counts: int) -> tuple[Any, ...]:
    return tuple(lambda count=count: (randn(count, 8),) for count in counts)


def _batch(maximum: int = 16) -> tuple[dict[int, Dim], ...]:
    return ({0: Dim("batch", min=1, max=maximum)},)


def _sizes_in_arithmetic(x: Tensor) -> tuple[Any, ...]:
    rows = x.shape[0]
    return x * rows, x.sum() / rows, torch.full((rows,), 2.0), torch.arange(rows * 2), rows + 1


def _shapes_from_sizes(x: Tensor) -> tuple[Tensor, ...]:
    rows, columns = x.shape
    return (
        x.view(rows, 2, columns // 2).transpose(1, 2).reshape(rows * columns),
        x.unsqueeze(1).expand(rows, 3, columns),
        torch.cat([x, x.new_zeros(rows, 1)], 1),
        x[: rows - 1],
        x[-1:],
        torch.cat([x, x]),
        *x.unbind(1)[:2],
        *x.chunk(2, 1),
        *x.split([3, 5], 1),
    )


def _kept(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[x > 0], torch.nonzero(x > 0)


def _counted(x: Tensor, n: Tensor) -> Tensor:
    count = n.item()
    torch._check(count >= 1)
    torch._check(count <= 6)
    return x[:count] * 2


def _repeated_by_value(x: Tensor, n: Tensor) -> Tensor:
    return x * n.item()


class Convolutional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: Tensor) -> Tensor:
        return functional.adaptive_avg_pool2d(
            functional.relu(self.norm(self.convolution(x))), 1
        ).flatten(1)


def _tokens(batch: int, length: int) -> Any:
    return lambda: (torch.randint(0, 50, (batch, length)),)


DYNAMIC = [
    ExportModel(
        "dynamic_batch_of_a_perceptron",
        lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)),
        lambda: (randn(3, 8),),
        _rows(1, 16, 7),
        _batch(),
    ),
    ExportModel(
        "dynamic_batch_and_image_size",
        Convolutional,
        lambda: (randn(2, 3, 8, 8),),
        (lambda: (randn(1, 3, 5, 12),), lambda: (randn(4, 3, 12, 4),)),
        ({0: Dim("n", max=4), 2: Dim("h", min=4, max=12), 3: Dim("w", min=4, max=12)},),
    ),
    ExportModel(
        "dynamic_batch_and_length_of_a_decoder",
        Decoder,
        _tokens(2, 5),
        (_tokens(1, 3), _tokens(3, 9)),
        ({0: Dim("batch", max=3), 1: Dim("length", min=2, max=9)},),
    ),
    function(
        "dynamic_sizes_in_arithmetic",
        _sizes_in_arithmetic,
        lambda: (randn(3, 8),),
        _rows(2, 16),
        _batch(),
    ),
    function(
        "dynamic_shapes_from_sizes",
        _shapes_from_sizes,
        lambda: (randn(4, 8),),
        _rows(3, 16),
        ({0: Dim("batch", min=3, max=16)},),
    ),
    function(
        "dynamic_sizes_shared_by_two_arguments",
        lambda a, b: (a + b, torch.cat([a, b], 1), a @ b.t()),
        lambda: (randn(3, 4), randn(3, 4)),
        (lambda: (randn(1, 4), randn(1, 4)), lambda: (randn(8, 4), randn(8, 4))),
        ({0: (rows := Dim("rows", max=8))}, {0: rows}),
    ),
    function("data_dependent_selection", _kept, lambda: (randn(3, 4),)),
    function("data_dependent_length", _counted, lambda: (randn(6, 2), torch.randint(1, 7, ()))),
    function("data_dependent_number", _repeated_by_value, lambda: (randn(6, 2), randn(()))),
]
