"""Operators that torch runs without a look at what would end the process, or change what they do
not say: here they get one.

They were found by calling every operator with numbers that no exporter would write, and index
tensors that point nowhere.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["guarded"]


def guarded(name: str, function: Callable[..., object]) -> Callable[..., object]:
    """The function to call for an operator instead of torch's, with the same arguments.

    Args:
        name: The operator, such as `aten::div.out_mode`.
        function: torch's.

    Returns:
        `function` itself if it needs no guard. Others raise what is wrong with the arguments.
    """
    guard = _GUARDS.get(name)
    return function if guard is None else partial(guard, function)


def _divide(
    function: Callable[..., object],
    x: torch.Tensor,
    divisor: torch.Tensor | float,
    *,
    rounding_mode: str | None,
    out: torch.Tensor,
) -> None:
    """Divide, and negate where the divisor is -1: the least integer has no such quotient, for which
    processors raise a signal. Like torch's other operators it becomes itself.
    """
    type_ = torch.result_type(x, divisor)
    denominator = torch.as_tensor(divisor).to(type_)  # the type may be too small for a number
    is_negated = denominator == -1
    is_integer = type_ in {torch.int32, torch.int64}
    if not is_integer or rounding_mode != "trunc" or not is_negated.any():
        function(x, divisor, rounding_mode=rounding_mode, out=out)
        return
    numerator = x.to(type_)
    quotient = torch.div(
        numerator, torch.where(is_negated, 1, denominator), rounding_mode=rounding_mode
    )
    result = torch.where(is_negated, -numerator, quotient)
    if out.shape != result.shape:
        out.resize_(result.shape)
    out.copy_(result)


def _spread_max_pool(
    function: Callable[..., object],
    gradient: torch.Tensor,
    x: torch.Tensor,
    *arguments: object,
    **grad_input: torch.Tensor,
) -> None:
    """Refuse indices that lie outside of the plane of which they are."""
    indices = arguments[-1]
    assert isinstance(indices, torch.Tensor)
    size = prod(x.shape[-2:])
    if indices.numel() != 0:
        for index in (int(indices.min()), int(indices.max())):
            if not 0 <= index < size:
                raise IndexError(f"an index is {index}; expected 0 to {size - 1}, as x is given")
    function(gradient, x, *arguments, **grad_input)


def _normalize_batch(
    function: Callable[..., object],
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    training: bool,
    momentum: float,
    epsilon: float,
    *,
    out: Sequence[torch.Tensor],
) -> None:
    """Refuse to take statistics from where there are none."""
    if not training:
        raise ValueError("training is False; expected True, as no statistics are given")
    function(x, weight, bias, training, momentum, epsilon, out=out)


def _normalize_batch_by(
    function: Callable[..., object],
    x: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor | None,
    variance: torch.Tensor | None,
    training: bool,
    *numbers: float,
    **outs: object,
) -> None:
    """Refuse to change running statistics: torch does, although the schema does not say so."""
    if training:
        _refuse_statistics(mean, variance)
    function(x, weight, bias, mean, variance, training, *numbers, **outs)


def _update_statistics(
    function: Callable[..., object],
    x: torch.Tensor,
    mean: torch.Tensor | None,
    variance: torch.Tensor | None,
    momentum: float,
    **outs: object,
) -> None:
    """The same, which this operator always does."""
    _refuse_statistics(mean, variance)
    function(x, mean, variance, momentum, **outs)


def _refuse_statistics(*statistics: torch.Tensor | None) -> None:
    if any(each is not None for each in statistics):
        raise ValueError(
            "it would change the running statistics, which it does not say; expected none, or "
            "aten::_native_batch_norm_legit.out, which does"
        )


def _bound(function: Callable[..., object], *arguments: object, **outs: object) -> None:
    """Refuse strides, paddings and dilations with which sizes overflow."""
    for numbers in arguments:
        if isinstance(numbers, list):
            for number in numbers:
                if abs(number) > _LARGEST:
                    raise ValueError(f"there is {number}; expected {-_LARGEST} to {_LARGEST}")
    function(*arguments, **outs)


def _resample(function: Callable[..., object], *arguments: object, **keywords: object) -> None:
    """Refuse scales with which a filter has more taps than can be counted."""
    for argument in (*arguments, *keywords.values()):
        for scale in argument if isinstance(argument, list) else [argument]:
            if isinstance(scale, float) and not 1 / _LARGEST_SCALE <= scale <= _LARGEST_SCALE:
                raise ValueError(
                    f"a scale is {scale}; expected {1 / _LARGEST_SCALE} to {_LARGEST_SCALE}"
                )
    function(*arguments, **keywords)


_LARGEST_SCALE = 2.0**20
_LARGEST = 2**31 - 1

_GUARDS: dict[str, Callable[..., None]] = {
    "aten::_native_batch_norm_legit.no_stats_out": _normalize_batch,
    "aten::_upsample_bilinear2d_aa.out": _resample,
    "aten::batch_norm_update_stats.out": _update_statistics,
    "aten::convolution.out": _bound,
    "aten::convolution_backward.out": _bound,
    "aten::div.Scalar_mode_out": _divide,
    "aten::div.out_mode": _divide,
    "aten::max_pool2d_with_indices_backward.grad_input": _spread_max_pool,
    "aten::native_batch_norm.out": _normalize_batch_by,
    "aten::upsample_bilinear2d.vec_out": _resample,
    "aten::upsample_nearest2d.vec_out": _resample,
    **{
        f"aten::{kind}_pad{n}d.out": _bound
        for kind in ("reflection", "replication")
        for n in (1, 2, 3)
    },
}
