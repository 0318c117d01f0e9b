"""Products of matrices, called as torch calls them once it has found out how tensors lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from .call import Specialized

__all__ = ["flat_linear"]


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
