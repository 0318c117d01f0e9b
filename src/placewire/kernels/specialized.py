"""Operators whose out variants do in each call what can be known once the arguments are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .call import Specialized

__all__ = ["SPECIALIZED", "flat_linear", "layer_norm"]


def flat_linear(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, out: torch.Tensor
) -> Specialized | None:
    """The one product of two matrices that `aten::linear.out` comes to, with the batch as rows.

    torch's own out variant finds that out in each call, and adds the bias in another pass.

    Args:
        x: (..., features).
        weight: (outputs, features).
        bias: (outputs), or None.
        out: (..., outputs).

    Returns:
        What is called; None if the sizes do not fit, or a tensor has no such view.
    """
    outputs, features = weight.shape
    fits = x.shape[-1:] == (features,) and out.shape == (*x.shape[:-1], outputs)
    if not fits or not (bias is None or bias.shape == (outputs,)):
        return None
    matrices = x.view(-1, features), weight.t()
    result: dict[str, object] = {"out": out.view(-1, outputs)}
    if bias is None:
        return torch.mm, matrices, result
    return torch.addmm, (bias, *matrices), result


def layer_norm(
    x: torch.Tensor,
    shape: Sequence[int],
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    epsilon: float,
    out: torch.Tensor,
    mean: torch.Tensor,
    rstd: torch.Tensor,
) -> Specialized | None:
    """`aten::native_layer_norm.out` as three copies of what torch's function gives.

    torch's own out variant does that, too, after it has resized what has the right sizes already.

    Args:
        x: (..., *shape).
        shape: The dimensions that are normalized.
        weight: (*shape), or None.
        bias: (*shape), or None.
        epsilon: What is added to the variance.
        out: As `x`.
        mean: (..., 1, ...), with a 1 for each dimension of `shape`.
        rstd: As `mean`: one over the standard deviation.

    Returns:
        What is called; None if sizes or element types do not fit.
    """
    given = [each for each in (x, weight, bias, out, mean, rstd) if each is not None]
    batch = (*x.shape[: x.dim() - len(shape)], *(1 for _ in shape))
    if out.shape != x.shape or mean.shape != batch or rstd.shape != batch:
        return None
    if any(each.dtype != x.dtype for each in given):
        return None
    return _copy_layer_norm, ((x, shape, weight, bias, epsilon), out, mean, rstd), {}


def _copy_layer_norm(arguments: tuple[Any, ...], *outs: torch.Tensor) -> None:
    for out, result in zip(outs, _native_layer_norm(*arguments), strict=True):
        _copy(out, result)


_copy = torch.Tensor.copy_
_native_layer_norm = torch._C._VariableFunctions.native_layer_norm

SPECIALIZED: dict[str, Callable[..., Specialized | None]] = {
    "aten::linear.out": flat_linear,
    "aten::native_layer_norm.out": layer_norm,
}
"""What `Call.specialize` is, by operator."""
