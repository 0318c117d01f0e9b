"""Decompositions of arithmetic on elements, of products, and of parts of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from .base import CannotDecomposeError, is_static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = [
    "add_number",
    "addbmm",
    "cropped",
    "cumsum",
    "diagonal_scatter",
    "exp2",
    "fmax",
    "fmin",
    "remainder",
    "round_decimals",
    "rrelu",
    "split",
    "split_with_sizes",
    "trilinear",
    "unbind",
]

_aten = torch.ops.aten


def addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = torch.bmm(batch1, batch2).sum(0)
    return self * beta + product * alpha


def add_number(self: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    return _aten.add.Scalar(self.to(torch.result_type(self, other)), other, alpha)


def unbind(self: Tensor, dim: int = 0) -> list[Tensor]:
    count = self.shape[dim]
    if not is_static(count):
        raise CannotDecomposeError(f"it is decomposed along a static dimension; found {count}")
    return [self.select(dim, position) for position in range(count)]


def split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    size = self.shape[dim]
    if not is_static(size, split_size):
        raise CannotDecomposeError(f"it is decomposed along a static dimension; found {size}")
    starts = range(0, size, split_size)
    return [self.narrow(dim, start, min(split_size, size - start)) for start in starts]


def split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    parts, start = [], 0
    for size in split_sizes:
        parts.append(self.narrow(dim, start, size))
        start += size
    return parts


def trilinear(
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,  # noqa: ARG001
) -> Tensor:
    factors = []
    for factor, dims in ((i1, expand1), (i2, expand2), (i3, expand3)):
        spread = factor
        for dim in dims:
            spread = spread.unsqueeze(dim)
        factors.append(spread)
    product = factors[0] * factors[1] * factors[2]
    return product.sum(list(sumdim)) if sumdim else product


def rrelu(
    self: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: object = None,  # noqa: ARG001
) -> tuple[Tensor, Tensor]:
    if training:
        raise CannotDecomposeError("it draws random numbers in training mode")
    return functional.leaky_relu(self, (lower + upper) / 2), noise


def fmax(self: Tensor, other: Tensor) -> Tensor:
    """`maximum`, but a number beats NaN."""
    greater = torch.maximum(self, other)
    return _without_nan(self, other, greater)


def fmin(self: Tensor, other: Tensor) -> Tensor:
    """`minimum`, but a number beats NaN."""
    smaller = torch.minimum(self, other)
    return _without_nan(self, other, smaller)


def _without_nan(left: Tensor, right: Tensor, chosen: Tensor) -> Tensor:
    if not chosen.is_floating_point():
        return chosen
    left, right = left.to(chosen.dtype), right.to(chosen.dtype)
    return torch.where(left.isnan(), right, torch.where(right.isnan(), left, chosen))


def remainder(self: Tensor, other: Any) -> Tensor:
    """The remainder of integers has the sign of the divisor, that of `fmod` the dividend's."""
    left = torch.fmod(self, other)
    if left.dtype.is_floating_point:
        return torch.remainder(self.to(left.dtype), other)
    return torch.where((left != 0) & ((left < 0) != (other < 0)), left + other, left)


def exp2(self: Tensor) -> Tensor:
    return torch.pow(2.0, self)


def round_decimals(self: Tensor, *, decimals: int) -> Tensor:
    if not self.is_floating_point():
        raise CannotDecomposeError(
            f"it is decomposed for floating point numbers; found {self.dtype}"
        )
    scale = 10.0 ** abs(decimals)
    if decimals >= 0:
        return torch.round(self * scale) / scale
    return torch.round(self / scale) * scale


def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Put `src` on a diagonal: where the two coordinates differ by `offset`."""
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    rows, columns = self.shape[dim1], self.shape[dim2]
    row = torch.arange(rows)[:, None]
    column = torch.arange(columns)[None, :]
    position = (row + min(offset, 0)).clamp(0, max(src.shape[-1] - 1, 0))
    last = self.movedim((dim1, dim2), (-2, -1))
    spread = src[..., position.expand(rows, columns)]
    return torch.where(column - row == offset, spread, last).movedim((-2, -1), (dim1, dim2))


def cumsum(
    self: Tensor,
    dim: int,  # noqa: ARG001
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    if self.dim():
        raise CannotDecomposeError("it is decomposed for tensors without dimensions")
    return self.to(dtype) if dtype is not None else self.clone()


def cropped(self: Tensor, pad: Sequence[int], value: Any = 0.0) -> Tensor:
    """Padding whose negative widths crop: what is cropped first needs no padding."""
    if not is_static(*pad):
        raise CannotDecomposeError("negative widths are decomposed where all widths are static")
    for position in range(len(pad) // 2):
        dim = self.dim() - 1 - position
        before, after = min(pad[2 * position], 0), min(pad[2 * position + 1], 0)
        self = self.narrow(dim, -before, self.shape[dim] + before + after)
    widths = [max(width, 0) for width in pad]
    return _aten.constant_pad_nd.default(self, widths, value) if any(widths) else self.clone()
