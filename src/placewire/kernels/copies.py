"""Operators that do nothing but copy: they are one `Tensor.copy_`, from a view where there is one.

torch's own out variants of most of them make a tensor first and copy that.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import torch

from .call import Call
from .direct import call_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch._ops import OpOverload

    from .call import Specialized

__all__ = ["DIM_ORDER_SCHEMAS", "copying_call"]

DIM_ORDER_SCHEMAS = {
    "dim_order_ops::_clone_dim_order.out": "(Tensor self, *, bool non_blocking=False,"
    " int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
    "dim_order_ops::_to_dim_order_copy.out": "(Tensor self, *, bool non_blocking=False,"
    " int[]? dim_order=None, Tensor(a!) out) -> Tensor(a!)",
    "dim_order_ops::_empty_dim_order.out": "(int[] size, *, int[]? dim_order=None,"
    " Tensor(a!) out) -> Tensor(a!)",
}
"""ExecuTorch's operators that say how the result lies in memory, which the out argument does too.

torch knows them only where ExecuTorch's exporter is imported; then they are registered there, and
could not be a second time.
"""

_COPIES = {
    "aten::clone.out",
    "aten::_to_copy.out",
    "aten::lift_fresh_copy.out",
    "dim_order_ops::_clone_dim_order.out",
    "dim_order_ops::_to_dim_order_copy.out",
}
"""Operators whose first argument is what the out argument becomes, but for type and strides."""


def copying_call(
    schema: torch._C.FunctionSchema,
    overload: OpOverload | None,
    outs: Sequence[int],
    *,
    fixed: bool,
) -> Call | None:
    """The call for an operator that copies; None for others.

    Where something may change from one execution to the next, a view made once would be stale.
    """
    name = f"{schema.name}.{schema.overload_name}"
    if name in _COPIES:
        if fixed:
            return Call(torch.Tensor.copy_, (outs[0], 0), same_sizes=(outs[0], 0))
        return Call(_copy_and_resize, (outs[0], 0))
    if overload is None:
        return Call(torch.Tensor.resize_, (outs[0], 0))
    view = _view_of(overload)
    if view is None:
        return None
    if str(overload._schema.arguments[outs[0]].type) == "List[Tensor]":
        return None if fixed else Call(_CopiesOfParts(view), (outs[0], *range(outs[0])))
    if not fixed:
        return None
    return replace(call_of(overload), specialize=partial(_copy_of_view, view))


def _copy_and_resize(out: torch.Tensor, source: torch.Tensor) -> None:
    if out.shape != source.shape:
        out.resize_(source.shape)
    out.copy_(source)


def _copy_of_view(view: Callable[..., object], *arguments: object) -> Specialized | None:
    *taken, out = arguments
    source = view(*taken)
    assert isinstance(source, torch.Tensor)
    assert isinstance(out, torch.Tensor)
    same = source.shape == out.shape
    return (torch.Tensor.copy_, (out, source), {}) if same else None


class _CopiesOfParts:
    """Copies the parts of a tensor to a list of others, which become as large as the parts.

    torch's own `split_copy.Tensor_out` takes none but such as are.

    Args:
        view: The operator that gives the parts as views.
    """

    def __init__(self, view: Callable[..., object]) -> None:
        self._view = view

    def __call__(self, outs: Sequence[torch.Tensor], *arguments: object) -> None:
        """Copy the parts.

        Raises:
            ValueError: There are more parts than tensors for them, or fewer.
        """
        parts = self._view(*arguments)
        assert isinstance(parts, list)
        if len(parts) != len(outs):
            raise ValueError(f"there are {len(parts)} parts, but {len(outs)} tensors for them")
        for out, part in zip(outs, parts, strict=True):
            _copy_and_resize(out, part)


def _view_of(overload: OpOverload) -> Callable[..., object] | None:
    """The operator that gives as a view what this one copies: `permute` for `permute_copy.out`."""
    namespace, _, name = overload._schema.name.partition("::")
    base = name.removesuffix("_copy")
    if base == name:
        return None
    packet = getattr(getattr(torch.ops, namespace), base, None)
    functional = overload._schema.overload_name.removesuffix("out").rstrip("_") or "default"
    view: OpOverload | None = getattr(packet, functional, None)
    if view is None or not view.is_view:
        return None
    taken = [argument.name for argument in overload._schema.arguments if not argument.kwarg_only]
    same = taken == [argument.name for argument in view._schema.arguments]
    return view._op if same else None
