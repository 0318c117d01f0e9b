"""Decompositions of our own, for operators that neither the target nor torch's tables cover.

Each computes what the operator of the same name does, from operators that the target has kernels
for. One that covers only some arguments raises `CannotDecomposeError` for the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor
    from torch._ops import OpOverload

__all__ = ["OWN_DECOMPOSITIONS", "CannotDecomposeError"]

_aten = torch.ops.aten


class CannotDecomposeError(Exception):
    """A decomposition does not cover these arguments; the text says what it would take."""


def _is_static(*sizes: object) -> bool:
    """Whether sizes are the same in every call: plain integers, and not symbolic ones."""
    return all(isinstance(size, int) for size in sizes)


_LONGEST_STABLE_SORT = 1024
"""Elements up to which a stable sort compares every one with every other."""


def _addbmm(
    self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = torch.bmm(batch1, batch2).sum(0)
    return self * beta + product * alpha


def _add_number(self: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    return _aten.add.Scalar(self.to(torch.result_type(self, other)), other, alpha)


def _unbind(self: Tensor, dim: int = 0) -> list[Tensor]:
    count = self.shape[dim]
    if not _is_static(count):
        raise CannotDecomposeError(f"it is decomposed along a static dimension; found {count}")
    return [self.select(dim, position) for position in range(count)]


def _split(self: Tensor, split_size: int, dim: int = 0) -> list[Tensor]:
    size = self.shape[dim]
    if not _is_static(size, split_size):
        raise CannotDecomposeError(f"it is decomposed along a static dimension; found {size}")
    starts = range(0, size, split_size)
    return [self.narrow(dim, start, min(split_size, size - start)) for start in starts]


def _split_with_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    parts, start = [], 0
    for size in split_sizes:
        parts.append(self.narrow(dim, start, size))
        start += size
    return parts


def _trilinear(
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


def _rrelu(
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


def _fmax(self: Tensor, other: Tensor) -> Tensor:
    """`maximum`, but a number beats NaN."""
    greater = torch.maximum(self, other)
    return _without_nan(self, other, greater)


def _fmin(self: Tensor, other: Tensor) -> Tensor:
    """`minimum`, but a number beats NaN."""
    smaller = torch.minimum(self, other)
    return _without_nan(self, other, smaller)


def _without_nan(left: Tensor, right: Tensor, chosen: Tensor) -> Tensor:
    if not chosen.is_floating_point():
        return chosen
    left, right = left.to(chosen.dtype), right.to(chosen.dtype)
    return torch.where(left.isnan(), right, torch.where(right.isnan(), left, chosen))


def _remainder(self: Tensor, other: Any) -> Tensor:
    """The remainder of integers has the sign of the divisor, that of `fmod` the dividend's."""
    left = torch.fmod(self, other)
    if left.dtype.is_floating_point:
        return torch.remainder(self.to(left.dtype), other)
    return torch.where((left != 0) & ((left < 0) != (other < 0)), left + other, left)


def _exp2(self: Tensor) -> Tensor:
    return torch.pow(2.0, self)


def _round_decimals(self: Tensor, *, decimals: int) -> Tensor:
    if not self.is_floating_point():
        raise CannotDecomposeError(
            f"it is decomposed for floating point numbers; found {self.dtype}"
        )
    scale = 10.0 ** abs(decimals)
    if decimals >= 0:
        return torch.round(self * scale) / scale
    return torch.round(self / scale) * scale


def _diagonal_scatter(
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


def _cumsum(
    self: Tensor,
    dim: int,  # noqa: ARG001
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    if self.dim():
        raise CannotDecomposeError("it is decomposed for tensors without dimensions")
    return self.to(dtype) if dtype is not None else self.clone()


def _cropped(self: Tensor, pad: Sequence[int], value: Any = 0.0) -> Tensor:
    """Padding whose negative widths crop: what is cropped first needs no padding."""
    if not _is_static(*pad):
        raise CannotDecomposeError("negative widths are decomposed where all widths are static")
    for position in range(len(pad) // 2):
        dim = self.dim() - 1 - position
        before, after = min(pad[2 * position], 0), min(pad[2 * position + 1], 0)
        self = self.narrow(dim, -before, self.shape[dim] + before + after)
    widths = [max(width, 0) for width in pad]
    return _aten.constant_pad_nd.default(self, widths, value) if any(widths) else self.clone()


# Sorting and searching.


def _searchsorted(
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


def _bucketize(
    self: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return _searchsorted(boundaries, self, out_int32=out_int32, right=right)


def _sort(self: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    if self.dtype is torch.bool:
        values, indices = _sort(self.to(torch.int8), dim, descending)
        return values.to(torch.bool), indices
    return _aten.topk.default(self, self.shape[dim], dim, largest=descending)


def _sort_stable(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    if not stable or self.dim() == 0:
        return _sort(self, dim, descending)
    size = self.shape[dim]
    if not _is_static(size) or size > _LONGEST_STABLE_SORT:
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


def _median(self: Tensor) -> Tensor:
    flat = self.reshape(-1)
    return _kth(flat, (flat.shape[0] + 1) // 2, 0)[0].squeeze(0)


def _median_dim(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    return _kthvalue(self, (self.shape[dim] + 1) // 2, dim, keepdim)


def _topk(
    self: Tensor,
    k: int,  # noqa: ARG001
    dim: int = -1,  # noqa: ARG001
    largest: bool = True,  # noqa: ARG001
    sorted: bool = True,  # noqa: A002, ARG001
) -> tuple[Tensor, Tensor]:
    if self.dim():
        raise CannotDecomposeError("it is decomposed for tensors without dimensions")
    return self.clone(), torch.zeros((), dtype=torch.int64)


def _kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if self.dim() == 0:
        return self.clone(), torch.zeros((), dtype=torch.int64)
    values, indices = _kth(self, k, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _kth(self: Tensor, k: int, dim: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.topk(self, k, dim, largest=False, sorted=True)
    return values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)


# Pooling.


def _windows(size: int, count: int) -> list[tuple[int, int]]:
    """Where the windows of adaptive pooling begin and end."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _adaptive_mean(self: Tensor, dim: int, count: int) -> Tensor:
    windows = _windows(self.shape[dim], count)
    parts = [self.narrow(dim, start, end - start).mean(dim, keepdim=True) for start, end in windows]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim)


def _adaptive_avg_pool(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Averages one dimension after the other: the mean over a box is the mean of means."""
    if not _is_static(*self.shape[-len(output_size) :]):
        raise CannotDecomposeError("adaptive pooling is decomposed for sizes that are static")
    for dim, count in enumerate(output_size, -len(output_size)):
        self = _adaptive_mean(self, dim, count)
    return self


def _adaptive_avg_pool2d(self: Tensor, output_size: Sequence[int]) -> Tensor:
    if all(size == 1 for size in output_size):
        return self.mean((-1, -2), keepdim=True)
    return _aten._adaptive_avg_pool2d.default(self, output_size)


def _adaptive_max_pool(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The maximum of every window, and where it is in the flattened image."""
    rank = len(output_size)
    sizes = list(self.shape[-rank:])
    if not _is_static(*sizes):
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


def _avg_pool3d(
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


# Convolution in three dimensions.


def _convolution(
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


# Embedding bags.


def _embedding_bag(
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


# What reference implementations are made of.


def _converted(a: Tensor, dtype: torch.dtype) -> Tensor:
    return a.to(dtype)


def _same(a: Tensor) -> Tensor:
    return a


def _registered() -> dict[OpOverload, Callable[..., Any]]:
    # `<<` and `>>` have their kernels under the names of the functions.
    prims = torch.ops.prims
    return {
        _aten.__lshift__.Scalar: _aten.bitwise_left_shift.Tensor_Scalar,
        _aten.__lshift__.Tensor: _aten.bitwise_left_shift.Tensor,
        _aten.__rshift__.Scalar: _aten.bitwise_right_shift.Tensor_Scalar,
        _aten.__rshift__.Tensor: _aten.bitwise_right_shift.Tensor,
        _aten._adaptive_avg_pool3d.default: _adaptive_avg_pool,
        _aten._embedding_bag.default: _embedding_bag,
        _aten._embedding_bag_forward_only.default: _embedding_bag,
        _aten._trilinear.default: _trilinear,
        _aten.adaptive_avg_pool2d.default: _adaptive_avg_pool2d,
        _aten.adaptive_max_pool2d.default: _adaptive_max_pool,
        _aten.adaptive_max_pool3d.default: _adaptive_max_pool,
        _aten.add.Scalar: _add_number,
        _aten.addbmm.default: _addbmm,
        _aten.avg_pool3d.default: _avg_pool3d,
        _aten.bucketize.Tensor: _bucketize,
        _aten.constant_pad_nd.default: _cropped,
        _aten.convolution.default: _convolution,
        _aten.cumsum.default: _cumsum,
        _aten.diagonal_scatter.default: _diagonal_scatter,
        _aten.exp2.default: _exp2,
        _aten.fmax.default: _fmax,
        _aten.fmin.default: _fmin,
        _aten.kthvalue.default: _kthvalue,
        _aten.median.default: _median,
        _aten.median.dim: _median_dim,
        _aten.remainder.Scalar: _remainder,
        _aten.remainder.Tensor: _remainder,
        _aten.round.decimals: _round_decimals,
        _aten.rrelu_with_noise_functional.default: _rrelu,
        _aten.searchsorted.Tensor: _searchsorted,
        _aten.sort.default: _sort,
        _aten.sort.stable: _sort_stable,
        _aten.split.Tensor: _split,
        _aten.split_copy.Tensor: _split,
        _aten.split_with_sizes.default: _split_with_sizes,
        _aten.split_with_sizes_copy.default: _split_with_sizes,
        _aten.topk.default: _topk,
        _aten.unbind.int: _unbind,
        _aten.unbind_copy.int: _unbind,
        prims.convert_element_type.default: _converted,
        prims.view_of.default: _same,
    }


OWN_DECOMPOSITIONS = _registered()
"""What we can decompose ourselves, by operator."""
