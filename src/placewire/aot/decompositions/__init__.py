"""Decompositions of our own, for operators that neither the target nor torch's tables cover.

Each computes what the operator of the same name does, from operators that the target has kernels
for. One that covers only some arguments raises `CannotDecomposeError` for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from . import arithmetic, embedding, sorting, spatial
from .base import CannotDecomposeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor
    from torch._ops import OpOverload

__all__ = ["OWN_DECOMPOSITIONS", "CannotDecomposeError"]

_aten = torch.ops.aten


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
        _aten._adaptive_avg_pool3d.default: spatial.adaptive_avg_pool,
        _aten._embedding_bag.default: embedding.embedding_bag,
        _aten._embedding_bag_forward_only.default: embedding.embedding_bag,
        _aten._trilinear.default: arithmetic.trilinear,
        _aten.adaptive_avg_pool2d.default: spatial.adaptive_avg_pool2d,
        _aten.adaptive_max_pool2d.default: spatial.adaptive_max_pool,
        _aten.adaptive_max_pool3d.default: spatial.adaptive_max_pool,
        _aten.add.Scalar: arithmetic.add_number,
        _aten.addbmm.default: arithmetic.addbmm,
        _aten.avg_pool3d.default: spatial.avg_pool3d,
        _aten.bucketize.Tensor: sorting.bucketize,
        _aten.constant_pad_nd.default: arithmetic.cropped,
        _aten.convolution.default: spatial.convolution,
        _aten.cumsum.default: arithmetic.cumsum,
        _aten.diagonal_scatter.default: arithmetic.diagonal_scatter,
        _aten.exp2.default: arithmetic.exp2,
        _aten.fmax.default: arithmetic.fmax,
        _aten.fmin.default: arithmetic.fmin,
        _aten.kthvalue.default: sorting.kthvalue,
        _aten.median.default: sorting.median,
        _aten.median.dim: sorting.median_dim,
        _aten.remainder.Scalar: arithmetic.remainder,
        _aten.remainder.Tensor: arithmetic.remainder,
        _aten.round.decimals: arithmetic.round_decimals,
        _aten.rrelu_with_noise_functional.default: arithmetic.rrelu,
        _aten.searchsorted.Tensor: sorting.searchsorted,
        _aten.sort.default: sorting.sort,
        _aten.sort.stable: sorting.sort_stable,
        _aten.split.Tensor: arithmetic.split,
        _aten.split_copy.Tensor: arithmetic.split,
        _aten.split_with_sizes.default: arithmetic.split_with_sizes,
        _aten.split_with_sizes_copy.default: arithmetic.split_with_sizes,
        _aten.topk.default: sorting.topk,
        _aten.unbind.int: arithmetic.unbind,
        _aten.unbind_copy.int: arithmetic.unbind,
        prims.convert_element_type.default: _converted,
        prims.view_of.default: _same,
    }


OWN_DECOMPOSITIONS = _registered()
"""What we can decompose ourselves, by operator."""
