"""Limits: what a kernel of the target refuses although its operator allows it, known ahead of time.

Found by running kernels of ExecuTorch 1.5.1 on samples of PyTorch's own operator tests; there may
be more. A call beyond a known limit is decomposed, or refused where nothing decomposes it, instead
of failing when the program runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from .operators import copying_variant

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch._ops import OpOverload

__all__ = ["limit_of"]


def limit_of(operator: OpOverload, given: Mapping[str, Any]) -> str | None:
    """Why the kernel of an operator cannot compute a call.

    Args:
        operator: The operator.
        given: Its arguments by name, with fake tensors.

    Returns:
        A reason to show, or None if the kernel takes the call.
    """
    check = _LIMITS.get(copying_variant(operator)._schema.name)
    return check(given) if check is not None else None


def _convolution(given: Mapping[str, Any]) -> str | None:
    rank = given["input"].dim()
    return f"its kernel takes 3 or 4 dimensions; found {rank}" if rank > 4 else None


def _linear(given: Mapping[str, Any]) -> str | None:
    rank = given["input"].dim()
    return None if rank >= 2 else f"its kernel takes at least 2 dimensions; found {rank}"


def _constant_pad(given: Mapping[str, Any]) -> str | None:
    if all(_is_natural(width) for width in given["pad"]):
        return None
    return f"its kernel cannot crop; found the widths {list(given['pad'])}"


def _cumsum(given: Mapping[str, Any]) -> str | None:
    return None if given["self"].dim() else "its kernel takes at least 1 dimension; found 0"


def _masked_select(given: Mapping[str, Any]) -> str | None:
    found, mask = given["self"].shape, given["mask"].shape
    if len(found) >= len(mask) and tuple(found) == tuple(torch.broadcast_shapes(found, mask)):
        return None
    return f"its kernel does not broadcast {tuple(found)} to the shape {tuple(mask)} of the mask"


def _add(given: Mapping[str, Any]) -> str | None:
    tensor, other = given["self"], given["other"]
    if isinstance(other, torch.Tensor) or torch.result_type(tensor, other) == tensor.dtype:
        return None
    return f"its kernel adds numbers of the same kind; found {tensor.dtype} and {type(other)}"


def _static(given: Mapping[str, Any]) -> str | None:
    """The kernel does not resize its results."""
    if all(isinstance(size, int) for size in given["self"].shape):
        return None
    return f"its kernel takes static sizes; found {tuple(given['self'].shape)}"


def _item(given: Mapping[str, Any]) -> str | None:
    dtype = given["self"].dtype
    if dtype in (torch.float16, torch.bfloat16):
        return f"its kernel does not read {dtype}; convert the tensor to torch.float32 before"
    return None


def _remainder(given: Mapping[str, Any]) -> str | None:
    """The kernel gives what C++ does for integers: the sign of the dividend."""
    tensor = given["self"] if isinstance(given["self"], torch.Tensor) else given["other"]
    if tensor.dtype.is_floating_point:
        return None
    return f"its kernel takes floating point numbers; found {tensor.dtype}"


def _topk(given: Mapping[str, Any]) -> str | None:
    return None if given["self"].dim() else "its kernel takes at least 1 dimension; found 0"


def _is_natural(value: object) -> bool:
    return not isinstance(value, int) or value >= 0


_LIMITS: dict[str, Callable[[Mapping[str, Any]], str | None]] = {
    "aten::_local_scalar_dense": _item,
    "aten::add": _add,
    "aten::constant_pad_nd": _constant_pad,
    "aten::convolution": _convolution,
    "aten::cumsum": _cumsum,
    "aten::linear": _linear,
    "aten::masked_select": _masked_select,
    "aten::remainder": _remainder,
    "aten::split_copy": _static,
    "aten::split_with_sizes_copy": _static,
    "aten::topk": _topk,
    "aten::unbind_copy": _static,
}
