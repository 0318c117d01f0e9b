"""Inputs for every operator of torch that a program may call: small, and legal for the operator."""

# ruff: noqa: FBT003 - what a boolean means is in the schema of the operator

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WITHOUT_COMPLEX_TYPES", "Inputs", "inputs"]

_random = torch.Generator().manual_seed(0)


@dataclass(frozen=True)
class Inputs:
    """Arguments of one call.

    Attributes:
        arguments: In the order of the schema, without the outs. What is left out is as the schema's
            default says.
        outs: Tensors like the results, where no variant of the operator makes them by itself, or
            where they are to be of another type.
    """

    arguments: tuple[object, ...]
    outs: tuple[torch.Tensor, ...] = ()


def _of(*arguments: object, outs: tuple[torch.Tensor, ...] = ()) -> Inputs:
    return Inputs(arguments, outs)


def _real(*shape: int) -> torch.Tensor:
    """Normally distributed numbers."""
    return torch.randn(shape, generator=_random)


def _positive(*shape: int) -> torch.Tensor:
    """Numbers from 0.1 to 0.9."""
    return torch.rand(shape, generator=_random) * 0.8 + 0.1


def _whole(*shape: int, to: int = 5, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    """Whole numbers from 0 to before `to`."""
    return torch.randint(to, shape, generator=_random).to(dtype)


def _truth(*shape: int) -> torch.Tensor:
    """Half true, half false, as the number of elements allows."""
    return (torch.arange(torch.Size(shape).numel()) % 2 == 0).reshape(shape)


def _special() -> torch.Tensor:
    """What comparisons and roundings tell apart."""
    return torch.tensor([[0.5, -1.5, float("nan")], [float("inf"), -float("inf"), -0.0]])


_UNARY = """
    abs asinh atan ceil cos cosh erf exp expm1 floor isinf isnan neg reciprocal relu round sigmoid
    sign sin sinh tan tanh trunc logical_not _conj_physical
""".split()
_UNARY_BELOW_ONE = "acos asin atanh".split()
_UNARY_OF_POSITIVES = "log log10 log1p log2 rsqrt sqrt".split()
_COMPARISONS = "eq ge gt le lt ne".split()
_BITWISE = "bitwise_and bitwise_or bitwise_xor".split()
_SHIFTS = "bitwise_left_shift bitwise_right_shift".split()
_LOGICAL = "logical_and logical_or logical_xor".split()

WITHOUT_COMPLEX_TYPES = frozenset(
    {"aten::_fft_c2r.out", "aten::_fft_r2c.out", "aten::view_as_real_copy.out"}
)
"""Operators that no program can call: one of their tensors is complex, and no element type is."""


def inputs() -> dict[str, list[Inputs]]:
    """The inputs by operator, made anew from equal random numbers."""
    _random.manual_seed(0)
    table: dict[str, list[Inputs]] = {}
    for part in (_elementwise(), _reductions(), _shapes(), _indexing(), _networks(), _creation()):
        for name, found in part:
            assert name not in table, name
            table[name] = found
    return table


def _elementwise() -> Iterator[tuple[str, list[Inputs]]]:
    for name in _UNARY:
        yield f"aten::{name}.out", [_of(_real(2, 3)), _of(_special()), _of(_real())]
    for name in _UNARY_BELOW_ONE:
        yield f"aten::{name}.out", [_of(_positive(2, 3)), _of(-_positive(4))]
    for name in _UNARY_OF_POSITIVES:
        yield f"aten::{name}.out", [_of(_positive(2, 3)), _of(_whole(4) + 1)]
    yield "aten::acosh.out", [_of(_positive(2, 3) + 1)]
    yield "aten::bitwise_not.out", [_of(_whole(2, 3)), _of(_truth(3))]
    yield "aten::logit.out", [_of(_positive(2, 3)), _of(_positive(4), 0.3)]
    for name in _COMPARISONS:
        yield f"aten::{name}.Scalar_out", [_of(_special(), 0.5), _of(_whole(6), 2)]
        yield f"aten::{name}.Tensor_out", [_of(_whole(3, 2), _whole(2)), _of(_special(), _real(3))]
    for name in _BITWISE:
        yield f"aten::{name}.Scalar_out", [_of(_whole(6), 3), _of(_truth(4), True)]
        yield f"aten::{name}.Tensor_out", [_of(_whole(2, 3), _whole(3)), _of(_truth(4), _truth(1))]
    for name in _SHIFTS:
        yield f"aten::{name}.Tensor_Scalar_out", [_of(_whole(6, to=90), 2)]
        yield f"aten::{name}.Tensor_out", [_of(_whole(2, 3, to=90), _whole(3))]
    for name in _LOGICAL:
        yield f"aten::{name}.out", [_of(_truth(4), _truth(1)), _of(_whole(4, to=2), _real(2, 4))]
    for name in ("maximum", "minimum"):
        yield f"aten::{name}.out", [_of(_real(2, 3), _real(3)), _of(_special(), _whole(3))]
    yield from _arithmetic()
    yield from _activations()


def _arithmetic() -> Iterator[tuple[str, list[Inputs]]]:
    x, y = _real(2, 3), _real(3)
    numbers = _whole(2, 3, dtype=torch.int32)
    yield "aten::add.out", [_of(x, y), _of(numbers, y, 2.5), _of(numbers, _whole(1), 3)]
    yield "aten::sub.out", [_of(x, y), _of(numbers, y, 2.5), _of(numbers, _whole(1), 3)]
    yield "aten::mul.out", [_of(x, y), _of(numbers, y), _of(_truth(2, 3), x)]
    yield "aten::div.out", [_of(x, _positive(3)), _of(numbers, _whole(3) + 1)]
    yield "aten::div.out_mode", [_of(x, _positive(3), mode) for mode in ("floor", "trunc", None)]
    yield "aten::add.Scalar_out", [_of(x, 2.5), _of(numbers, 2, 3), _of(x, True, 0.5)]
    yield "aten::sub.Scalar_out", [_of(x, 2.5), _of(numbers, 2, 3)]
    yield "aten::rsub.Scalar_out", [_of(x, 2.5), _of(numbers, 2, 3)]
    yield "aten::mul.Scalar_out", [_of(x, 2.5), _of(numbers, 2), _of(numbers, 0.5)]
    yield "aten::div.Scalar_out", [_of(x, 2.5), _of(numbers, 2)]
    yield (
        "aten::div.Scalar_mode_out",
        [_of(x, 0.3, "floor"), _of(numbers, 2, "trunc"), _of(x, 3, None)],
    )
    yield "aten::floor_divide.out", [_of(x, _positive(3)), _of(numbers, _whole(3) + 1)]
    for name in ("fmod", "remainder"):
        yield f"aten::{name}.Scalar_out", [_of(x, -0.7), _of(numbers, 3)]
        yield f"aten::{name}.Tensor_out", [_of(x, -_positive(3)), _of(numbers, _whole(3) + 1)]
    yield "aten::pow.Scalar_out", [_of(2, x), _of(1.5, numbers)]
    yield "aten::pow.Tensor_Scalar_out", [_of(x, 2), _of(_positive(4), 0.5), _of(numbers, 3)]
    yield "aten::pow.Tensor_Tensor_out", [_of(_positive(2, 3), y), _of(numbers, _whole(3))]
    yield "aten::atan2.out", [_of(x, y), _of(numbers, y)]
    yield "aten::clamp.out", [_of(x, -0.5, 0.5), _of(x, None, 0), _of(numbers, 2)]
    yield "aten::clamp.Tensor_out", [_of(x, y - 1, y + 1), _of(x, None, y), _of(x, y)]
    yield "aten::where.self_out", [_of(x > 0, x, y), _of(_truth(2, 1), numbers, _whole(3))]
    yield "aten::fill.Scalar_out", [_of(x, 2.5), _of(numbers, 7), _of(_truth(4), False)]
    yield "aten::fill.Tensor_out", [_of(x, _real()), _of(numbers, _whole())]
    yield "aten::copy.out", [_of(x, y), _of(x, numbers), _of(numbers, y, True)]
    yield "aten::copy_", [_of(x, y), _of(x, numbers), _of(numbers, y, True)]
    yield "aten::masked_fill.Scalar_out", [_of(x, _truth(3), 2.5), _of(numbers, _truth(2, 3), 7)]


def _activations() -> Iterator[tuple[str, list[Inputs]]]:
    x = _real(2, 4)
    yield "aten::elu.out", [_of(x), _of(x, 0.5, 2.0, 3)]
    yield "aten::gelu.out", [_of(x), _of(x, "tanh")]
    yield "aten::glu.out", [_of(x), _of(x, 0)]
    yield "aten::hardtanh.out", [_of(x), _of(x, -0.5, 2)]
    yield "aten::leaky_relu.out", [_of(x), _of(x, 0.3)]
    yield "aten::_softmax.out", [_of(x, -1, False), _of(x, 0, False)]
    yield "aten::_log_softmax.out", [_of(x, -1, False), _of(x, 0, False)]


def _reductions() -> Iterator[tuple[str, list[Inputs]]]:
    x, numbers = _real(2, 3, 4), _whole(2, 3)
    for name in ("amax", "amin"):
        yield f"aten::{name}.out", [_of(x), _of(x, [-1]), _of(x, [0, 2], True), _of(numbers, [1])]
    for name in ("argmax", "argmin"):
        yield f"aten::{name}.out", [_of(x), _of(x, 1), _of(x, -1, True)]
    for name in ("max.unary_out", "min.unary_out"):
        yield f"aten::{name}", [_of(x), _of(numbers)]
    for name in ("max.dim_max", "min.dim_min"):
        yield f"aten::{name}", [_of(x, 1), _of(x, -1, True), _of(torch.randperm(6), 0)]
    yield "aten::any.all_out", [_of(_truth(2, 3)), _of(torch.zeros(4))]
    yield "aten::any.dims_out", [_of(_truth(2, 3)), _of(_truth(2, 2, 2), [0, 2], True)]
    yield "aten::any.out", [_of(_truth(3, 2), 0), _of(numbers, -1, True)]
    yield "aten::mean.dtype_out", [_of(x), _of(numbers, torch.float64)]
    yield (
        "aten::mean.out",
        [_of(x, [1]), _of(x, None), _of(x, [0, -1], True), _of(numbers, [0], False, torch.float32)],
    )
    yield (
        "aten::sum.IntList_out",
        [_of(x, [1]), _of(x, None), _of(x, [0, 2], True), _of(numbers, [0], False, torch.float32)],
    )
    yield "aten::prod.out", [_of(x), _of(numbers, torch.float32)]
    yield "aten::prod.int_out", [_of(x, 1), _of(x, -1, True), _of(numbers, 0, False, torch.float32)]
    yield "aten::cumsum.out", [_of(x, 1), _of(numbers, 0), _of(numbers, -1, torch.float32)]
    yield "aten::var.out", [_of(x, [1]), _of(x, None, False), _of(x, [0, 1], True, True)]
    yield "aten::var.correction_out", [_of(x), _of(x, [1], 0), _of(x, [-1, 0], 1, True)]
    yield "aten::var_mean.correction_out", [_of(x), _of(x, [1], 0), _of(x, [-1], 1, True)]
    yield "aten::topk.values", [_of(x, 2), _of(x, 1, 0, False), _of(x, 3, 1, True, True)]
    yield "aten::_cdist_forward.out", [_of(_real(3, 4), _real(2, 4), p, None) for p in (1.0, 2.0)]
    yield "aten::_pdist_forward.out", [_of(_real(4, 3)), _of(_real(3, 2), 1.0)]
    yield "aten::_local_scalar_dense", [_of(_real()), _of(_whole(1)), _of(torch.tensor(True))]
    yield "aten::sym_numel", [_of(x), _of(_real())]
    yield "aten::sym_size.int", [_of(x, 1), _of(x, -1)]


def _shapes() -> Iterator[tuple[str, list[Inputs]]]:
    x, y, image = _real(2, 3, 4), _real(3, 4), _real(1, 4, 2, 3)
    channels_last = image.to(memory_format=torch.channels_last)
    for name in ("alias_copy", "clone", "detach_copy", "lift_fresh_copy"):
        yield f"aten::{name}.out", [_of(x), _of(_whole(3)), _of(channels_last)]
    yield "aten::as_strided_copy.out", [_of(x, [3, 2], [1, 4]), _of(x, [2, 2], [2, 3], 5)]
    yield "aten::constant_pad_nd.out", [_of(x, [1, 2]), _of(x, [1, 0, -1, 2], 2.5)]
    yield "aten::diagonal_copy.out", [_of(y), _of(x, 1, -1, 0)]
    yield "aten::expand_copy.out", [_of(_real(3, 1), [2, 3, 4]), _of(y, [-1, 4])]
    yield "aten::flip.out", [_of(x, [0]), _of(x, [1, -1])]
    yield "aten::narrow_copy.out", [_of(x, 1, 1, 2), _of(x, -1, 0, 3)]
    yield "aten::permute_copy.out", [_of(x, [2, 0, 1]), _of(channels_last, [0, -1, 1, 2])]
    yield "aten::pixel_shuffle.out", [_of(image, 2)]
    yield "aten::pixel_unshuffle.out", [_of(_real(1, 1, 4, 2), 2)]
    yield "aten::repeat.out", [_of(y, [2, 1, 2]), _of(x, [1, 2, 1])]
    yield "aten::roll.out", [_of(x, [2]), _of(x, [1, -1], [0, 2])]
    yield "aten::select_copy.int_out", [_of(x, 1, 2), _of(x, -1, -1)]
    yield "aten::slice_copy.Tensor_out", [_of(x, 2, 1, 4, 2), _of(x, 1, -2), _of(x, 0, None, 1)]
    yield "aten::split_copy.Tensor_out", [_of(x, 2, 1), _of(x, 1)]
    yield "aten::split_with_sizes_copy.out", [_of(x, [1, 3], -1), _of(x, [2])]
    yield "aten::squeeze_copy.dim_out", [_of(_real(2, 1, 3), 1), _of(x, 0)]
    yield "aten::squeeze_copy.dims_out", [_of(_real(1, 2, 1), [0, 2]), _of(x, [1])]
    yield "aten::t_copy.out", [_of(y), _of(_real(3))]
    yield "aten::transpose_copy.int_out", [_of(x, 0, 2), _of(x, -1, 1)]
    yield "aten::tril.out", [_of(y), _of(x, -1)]
    yield "aten::unbind_copy.int_out", [_of(x), _of(x, -1)]
    yield "aten::unfold_copy.out", [_of(x, 2, 2, 1), _of(_real(7), 0, 3, 2)]
    yield "aten::unsqueeze_copy.out", [_of(x, 1), _of(x, -1)]
    yield "aten::view_copy.out", [_of(x, [6, 4]), _of(x, [2, -1])]
    yield "aten::cat.out", [_of([x, x + 1]), _of([y, _real(2, 4), _whole(1, 4)]), _of([x, x], -1)]
    yield "aten::stack.out", [_of([y, y * 2]), _of([y, y, y], 1)]
    wide = torch.zeros(2, 3, 4, dtype=torch.float64)
    yield "aten::_to_copy.out", [_of(x, outs=(wide,)), _of(x, True, outs=(torch.zeros(2, 3, 4),))]
    order = "dim_order_ops::{}.out".format
    yield order("_clone_dim_order"), [_of(x), _of(image, False, [0, 2, 3, 1])]
    yield order("_to_dim_order_copy"), [_of(x, outs=(wide,)), _of(image, True, [0, 2, 3, 1])]


def _indexing() -> Iterator[tuple[str, list[Inputs]]]:
    x, y = _real(3, 4), _real(2, 3, 4)
    rows, columns = _whole(2, to=3), _whole(2, to=4)
    to_rows = _whole(2, 4, to=3)
    yield "aten::embedding.out", [_of(x, rows), _of(x, _whole(2, 2, to=3), 1, True)]
    yield "aten::gather.out", [_of(x, 0, to_rows), _of(x, -1, _whole(3, 2, to=4))]
    yield "aten::index_select.out", [_of(x, 0, rows), _of(x, -1, columns)]
    yield (
        "aten::index.Tensor_out",
        [
            _of(x, [rows, columns]),
            _of(y, [None, rows]),
            _of(x, [_truth(3)]),
            _of(y, [None, None, columns]),
        ],
    )
    unique = torch.tensor([2, 0])
    for name in ("index_put.out", "index_put_"):
        yield (
            f"aten::{name}",
            [
                _of(x, [unique], _real(2, 4)),
                _of(x, [rows, columns], _real(2), True),
                _of(y, [None, unique], _real(1, 2, 4)),
                _of(x, [_truth(3, 4)], _real()),
            ],
        )
    yield "aten::masked_scatter.out", [_of(x, _truth(3, 4), _real(8)), _of(y, _truth(4), _real(20))]
    yield "aten::masked_select.out", [_of(x, _truth(3, 4)), _of(y, _truth(4))]
    yield "aten::nonzero.out", [_of(_truth(3, 4)), _of(_whole(5, to=2)), _of(torch.zeros(2, 2))]
    yield "aten::repeat_interleave.Tensor_out", [_of(_whole(4)), _of(torch.tensor([1, 2]), 3)]
    permuted = torch.stack([torch.randperm(3), torch.randperm(3)])
    wide = _real(2, 3)
    yield "aten::scatter.src_out", [_of(wide, 1, permuted, _real(2, 3))]
    yield "aten::scatter.value_out", [_of(x, 0, to_rows, 2.5), _of(_whole(3, 4), 0, to_rows, 9)]
    yield "aten::scatter_add.out", [_of(x, 0, to_rows, _real(2, 4)), _of(wide, -1, permuted, wide)]
    yield "aten::select_scatter.out", [_of(x, _real(4), 0, 1), _of(x, _real(3), -1, -1)]
    yield (
        "aten::slice_scatter.out",
        [_of(x, _real(1, 4), 0, 1, 2), _of(x, _real(3, 2), -1, 0, None, 2), _of(x, _real(3, 4))],
    )


def _networks() -> Iterator[tuple[str, list[Inputs]]]:
    x, y, z = _real(2, 3), _real(3, 4), _real(4)
    yield "aten::mm.out", [_of(x, y)]
    yield "aten::bmm.out", [_of(_real(2, 2, 3), _real(2, 3, 4))]
    yield "aten::addmm.out", [_of(z, x, y), _of(_real(2, 4), x, y, 0.5, 2)]
    yield "aten::linear.out", [_of(x, _real(4, 3)), _of(_real(2, 2, 3), _real(4, 3), z)]
    yield from _convolutions()
    yield from _pools_and_samples()
    yield from _normalizations()
    yield "aten::native_dropout.out", [_of(_real(3, 4), 0.5, True), _of(_real(3, 4), 0.5, False)]


def _convolutions() -> Iterator[tuple[str, list[Inputs]]]:
    image, weight, bias = _real(1, 2, 5, 4), _real(3, 2, 3, 2), _real(3)
    plain = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    strided = ([2, 1], [1, 0], [1, 2], False, [0, 0], 1)
    transposed = ([2, 2], [1, 0], [1, 1], True, [1, 0], 1)
    back = _real(2, 3, 3, 2)
    line, grouped = _real(1, 4, 6), _real(4, 1, 3)
    by_group = ([1], [1], [1], False, [0], 4)
    channels_last = image.to(memory_format=torch.channels_last)
    yield (
        "aten::convolution.out",
        [
            _of(image, weight, bias, *plain),
            _of(image, weight, None, *strided),
            _of(image, back, bias, *transposed),
            _of(line, grouped, None, *by_group),
            _of(channels_last, weight, bias, *plain),
        ],
    )
    yield (
        "aten::convolution_backward.out",
        [
            _of(_real(1, 3, 3, 3), image, weight, [3], *plain, [True, True, True]),
            _of(_real(1, 4, 6), line, grouped, [4], *by_group, [True, True, True]),
        ],
    )


def _pools_and_samples() -> Iterator[tuple[str, list[Inputs]]]:
    image = _real(1, 2, 4, 6)
    channels_last = image.to(memory_format=torch.channels_last)
    yield "aten::_adaptive_avg_pool2d.out", [_of(image, [2, 3]), _of(image, [1, 4])]
    yield (
        "aten::avg_pool2d.out",
        [
            _of(image, [2, 2]),
            _of(image, [3, 2], [1, 2], [1, 0], True, False, 5),
            _of(channels_last, [2]),
        ],
    )
    yield (
        "aten::max_pool2d_with_indices.out",
        [
            _of(image, [2, 2]),
            _of(image, [3, 2], [1, 2], [1, 0], [1, 2], True),
            _of(channels_last, [2]),
        ],
    )
    pooled, indices = torch.ops.aten.max_pool2d_with_indices(image, [2, 2])
    yield (
        "aten::max_pool2d_with_indices_backward.grad_input",
        [_of(torch.ones_like(pooled), image, [2, 2], [2, 2], [0, 0], [1, 1], False, indices)],
    )
    grid = _real(1, 3, 2, 2).clamp(-1.2, 1.2)
    modes = [(mode, padding, padding == 1) for mode in (0, 1, 2) for padding in (0, 1, 2)]
    yield "aten::grid_sampler_2d.out", [_of(image, grid, *mode) for mode in modes]
    for name in ("reflection_pad", "replication_pad"):
        yield f"aten::{name}1d.out", [_of(_real(2, 4), [1, 2]), _of(_real(1, 2, 4), [0, 3])]
        yield f"aten::{name}2d.out", [_of(image, [1, 2, 3, 0]), _of(_real(2, 3, 3), [1, 1, 1, 1])]
        yield f"aten::{name}3d.out", [_of(_real(1, 2, 3, 3, 3), [1, 0, 2, 1, 1, 2])]
    yield (
        "aten::_upsample_bilinear2d_aa.out",
        [_of(image, [2, 3], False), _of(image, [6, 3], True), _of(image, [8, 9], False, 2.0, 1.5)],
    )
    yield (
        "aten::upsample_bilinear2d.vec_out",
        [_of(image, [6, 4], True, None), _of(image, None, False, [2.0, 1.5])],
    )
    yield (
        "aten::upsample_nearest2d.vec_out",
        [_of(image, [6, 4], None), _of(image, None, [2.0, 1.5])],
    )


def _normalizations() -> Iterator[tuple[str, list[Inputs]]]:
    image, weight, bias = _real(2, 4, 3), _real(4), _real(4)
    mean, variance = _real(4), _positive(4)
    yield (
        "aten::_native_batch_norm_legit.out",
        [
            _of(image, weight, bias, mean, variance, True, 0.1, 1e-5),
            _of(image, weight, None, mean, variance, False, 0.1, 1e-5),
        ],
    )
    yield (
        "aten::_native_batch_norm_legit.no_stats_out",
        [_of(image, weight, bias, True, 0.1, 1e-5), _of(image, None, None, True, 0.1, 1e-3)],
    )
    yield (
        "aten::_native_batch_norm_legit_no_training.out",
        [
            _of(image, weight, bias, mean, variance, 0.1, 1e-5),
            _of(image, None, None, mean, variance, 0.1, 1e-3),
        ],
    )
    yield (
        "aten::native_group_norm.out",
        [_of(image, weight, bias, 2, 4, 3, 2, 1e-5), _of(image, None, None, 2, 4, 3, 4, 1e-3)],
    )
    yield (
        "aten::native_layer_norm.out",
        [
            _of(image, [3], _real(3), _real(3), 1e-5),
            _of(image, [4, 3], None, None, 1e-3),
        ],
    )


def _creation() -> Iterator[tuple[str, list[Inputs]]]:
    whole, real = torch.zeros(5, dtype=torch.int64), torch.zeros(5)
    matrix, truth = torch.zeros(2, 3), torch.zeros(2, 3, dtype=torch.bool)
    yield "aten::arange.out", [_of(5, outs=(whole,)), _of(4.5, outs=(real,))]
    yield "aten::arange.start_out", [_of(2, 7, outs=(whole,)), _of(1, 3.5, 0.5, outs=(real,))]
    yield "aten::empty.out", [_of([2, 3], outs=(matrix,))]
    yield "dim_order_ops::_empty_dim_order.out", [_of([2, 3], outs=(matrix,))]
    yield "aten::full.out", [_of([2, 3], 2.5, outs=(matrix,)), _of([2, 3], True, outs=(truth,))]
    yield (
        "aten::full_like.out",
        [_of(_real(2, 3), 2.5, outs=(matrix,)), _of(truth, 7, outs=(matrix,))],
    )
    for name in ("ones", "zeros"):
        yield f"aten::{name}.out", [_of([2, 3], outs=(matrix,)), _of([2, 3], outs=(truth,))]
    for name in ("rand", "randn"):
        yield f"aten::{name}.out", [_of([2, 3], outs=(matrix,))]
    yield (
        "aten::scalar_tensor.out",
        [_of(2.5, outs=(torch.zeros(()),)), _of(7, outs=(torch.zeros((), dtype=torch.int64),))],
    )
