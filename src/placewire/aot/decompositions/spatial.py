"""Decompositions of pooling, and of what has three dimensions in terms of two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from .base import CannotDecomposeError, is_static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

__all__ = [
    "adaptive_avg_pool",
    "adaptive_avg_pool2d",
    "adaptive_max_pool",
    "avg_pool3d",
    "convolution",
]

_aten = torch.ops.aten


def _windows(size: int, count: int) -> list[tuple[int, int]]:
    """Where the windows of adaptive pooling begin and end."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _adaptive_mean(self: Tensor, dim: int, count: int) -> Tensor:
    windows = _windows(self.shape[dim], count)
    parts = [self.narrow(dim, start, end - start).mean(dim, keepdim=True) for start, end in windows]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


def adaptive_avg_pool(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Averages one dimension after the other: the mean over a box is the mean of means."""
    if not is_static(*self.shape[-len(output_size) :]):
        raise CannotDecomposeError("adaptive pooling is decomposed for sizes that are static")
    for dim, count in enumerate(output_size, -len(output_size)):
        self = _adaptive_mean(self, dim, count)
    return self


def adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    if all(size == 1 for size in output_size):
        return self.mean((-1, -2), keepdim=True)
    return _aten._adaptive_avg_pool2d.default(self, output_size)


def adaptive_max_pool(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The maximum of every window, and where it is in the flattened image."""
    rank = len(output_size)
    sizes = list(self.shape[-rank:])
    if not is_static(*sizes):
        raise CannotDecomposeError("adaptive pooling is decomposed for sizes that are static")
    places = torch.arange(math.prod(sizes)).reshape(sizes)
    cells = [(self, places)]
    for axis, count in enumerate(output_size):
        dim = axis - rank
        cells = [
            (image.narrow(dim, start, end - start), at.narrow(dim, start, end - start))
            for image, at in cells
            for start, end in _windows(sizes[axis], count)
        ]
    maxima, indices = [], []
    for image, at in cells:
        value, inside = image.flatten(-rank).max(-1)
        maxima.append(value)
        indices.append(at.reshape(-1)[inside])
    shape = [*self.shape[:-rank], *output_size]
    return torch.stack(maxima, -1).view(shape), torch.stack(indices, -1).view(shape)


def avg_pool3d(
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Pools height and width, then depth; an average over a box is one of averages."""
    kernel, padding = _three(kernel_size), _three(padding)
    stride = _three(stride) if stride else kernel
    if not self.is_floating_point():
        raise CannotDecomposeError(
            f"3-d pooling is decomposed for floating point; found {self.dtype}"
        )
    if ceil_mode or (any(padding) and not count_include_pad):
        raise CannotDecomposeError(
            "3-d pooling is decomposed without ceil_mode, and with padding counted"
        )
    batched = self if self.dim() == 5 else self.unsqueeze(0)
    n, c, depth, height, width = batched.shape
    divisor = 1 if divisor_override else None
    flat = functional.avg_pool2d(
        batched.reshape(n * c, depth, height, width),
        kernel[1:],
        stride[1:],
        padding[1:],
        divisor_override=divisor,
    )
    height, width = flat.shape[-2:]
    columns = flat.reshape(n * c, 1, depth, height * width)
    pooled = functional.avg_pool2d(
        columns,
        (kernel[0], 1),
        (stride[0], 1),
        (padding[0], 0),
        divisor_override=divisor,
    )
    result = pooled.reshape(n, c, pooled.shape[-2], height, width)
    result = result / divisor_override if divisor_override else result
    return result if self.dim() == 5 else result.squeeze(0)


def _three(sizes: Sequence[int]) -> list[int]:
    return list(sizes) * 3 if len(sizes) == 1 else list(sizes)


def convolution(
    input: Tensor,  # noqa: A002
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """A 3-d convolution as one in 2-d: what the kernel sees along depth become channels."""
    if input.dim() != 5:
        raise CannotDecomposeError(f"convolution takes up to 5 dimensions; found {input.dim()}")
    stride, padding, dilation = _three(stride), _three(padding), _three(dilation)
    output_padding = _three(output_padding)
    source = input
    reach = dilation[0] * (weight.shape[2] - 1)
    if transposed:
        source = _spread(input, stride[0])
        weight = weight.flip(2).transpose(1, 2).flatten(0, 1)
        before = reach - padding[0]
        after, step = before + output_padding[0], 1
    else:
        weight = weight.flatten(1, 2)
        before = after = padding[0]
        step = stride[0]
    padded = functional.pad(source, (0, 0, 0, 0, before, after)) if before or after else source
    taps = reach // dilation[0] + 1 if reach else 1
    depth = (padded.shape[2] - reach - 1) // step + 1
    seen = [
        padded[:, :, tap * dilation[0] : tap * dilation[0] + (depth - 1) * step + 1 : step]
        for tap in range(taps)
    ]
    images = torch.stack(seen, 2).permute(0, 3, 1, 2, 4, 5)
    n, _, channels, _, height, width = images.shape
    flat = torch.convolution(
        images.reshape(n * depth, channels * taps, height, width),
        weight,
        bias,
        stride[1:],
        padding[1:],
        dilation[1:],
        transposed,
        output_padding[1:],
        groups,
    )
    return flat.reshape(n, depth, *flat.shape[1:]).permute(0, 2, 1, 3, 4)


def _spread(source: Tensor, step: int) -> Tensor:
    """Zeros between the slices along depth, as a transposed convolution has them."""
    if step == 1:
        return source
    zeros = torch.zeros_like(source)
    spread = torch.stack([source, *[zeros] * (step - 1)], 3).flatten(2, 3)
    return spread[:, :, : (source.shape[2] - 1) * step + 1]
