"""Layouts: kernels that would misread a channels-last tensor get a contiguous one instead.

Operators of PyTorch take tensors of any strides. The kernels of a runtime take tensors whose
elements lie densely in the order of the dimensions, some of them also channels-last ones. Results
of a method keep the layout that they have in PyTorch.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import sympy
import torch
from torch import fx
from torch._ops import OpOverload

from .arguments import mapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .fakes import Size
    from .graph import MethodGraph

__all__ = ["dim_order_of", "has_standard_layout", "make_layouts_explicit"]

_library = torch.library.Library("placewire", "FRAGMENT")
_library.define(
    "clone_dim_order(Tensor self, *, bool non_blocking=False, int[]? dim_order=None) -> Tensor"
)
_library.define(
    "clone_dim_order.out(Tensor self, *, bool non_blocking=False, int[]? dim_order=None, "
    "Tensor(a!) out) -> Tensor(a!)"
)


def _clone_dim_order(
    self: torch.Tensor,
    *,
    non_blocking: bool = False,  # noqa: ARG001
    dim_order: Sequence[int] | None = None,
) -> torch.Tensor:
    """A copy whose dimensions lie in memory in the given order, from the outermost."""
    order = range(self.dim()) if dim_order is None else dim_order
    back = sorted(range(self.dim()), key=list(order).__getitem__)
    return self.permute(list(order)).clone(memory_format=torch.contiguous_format).permute(back)


_library.impl("clone_dim_order", _clone_dim_order, "CompositeExplicitAutograd")

_CHANNELS_LAST = {4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
"""Dimensions from outermost to innermost of a tensor with channels last, by rank."""

_TAKE_BOTH = frozenset(
    {
        "aten::convolution",
        "aten::max_pool2d_with_indices",
        "aten::upsample_bilinear2d",
        "aten::upsample_nearest2d",
    }
)
"""Kernels that read and write contiguous and channels-last tensors alike."""

_TAKE_CONTIGUOUS = frozenset({"aten::masked_fill"})
"""Pointwise kernels that take contiguous tensors only."""


def dim_order_of(value: torch.Tensor) -> tuple[int, ...]:
    """The dimensions from outermost to innermost in memory; contiguous where that can be said."""
    contiguous = tuple(range(value.dim()))
    for order in (contiguous, _CHANNELS_LAST.get(value.dim())):
        if order is not None and _lies_in_order(value, order):
            return order
    hints = [_hint(stride) for stride in value.stride()]
    return tuple(sorted(contiguous, key=lambda dimension: -hints[dimension]))


def has_standard_layout(value: torch.Tensor) -> bool:
    """Whether a tensor lies densely in memory, contiguous or with channels last."""
    orders = (tuple(range(value.dim())), _CHANNELS_LAST.get(value.dim()))
    return any(order is not None and _lies_in_order(value, order) for order in orders)


def make_layouts_explicit(method: MethodGraph) -> None:
    """Copy tensors into a layout that the kernels that use them can read, in bodies too."""
    for body in method.bodies.values():
        make_layouts_explicit(body)
    changing = _Changing(method)
    for node in list(method.graph.nodes):
        if node.op == "call_function" and node.target is not operator.getitem:
            changing.call(node)
    changing.restore_results()


class _Changing:
    def __init__(self, method: MethodGraph) -> None:
        self.method = method
        self._contiguous: dict[fx.Node, fx.Node] = {}
        self._wanted: dict[fx.Node, torch.Tensor] = {}
        self._plain: set[int] = set()

    def call(self, node: fx.Node) -> None:
        values = [argument.meta.get("val") for argument in node.all_input_nodes]
        value = node.meta.get("val")
        tensors = _tensors([*values, value])
        if all(map(self._is_plain, tensors)) or _takes(node, tensors):
            return
        node.args = mapped(node.args, lambda item: self._as_contiguous(item, node))
        node.kwargs = mapped(node.kwargs, lambda item: self._as_contiguous(item, node))
        node.meta["val"] = self._plain_value(node, value)
        for user in list(node.users):
            if user.target is operator.getitem:
                user.meta["val"] = self._plain_value(user, user.meta["val"])

    def restore_results(self) -> None:
        """Give the method's results the layout that they have in PyTorch."""
        output = self.method.output
        restored: dict[fx.Node, fx.Node] = {}
        for node in output.all_input_nodes:
            if node in self._wanted:
                wanted = self._wanted[node]
                with self.method.graph.inserting_before(output):
                    restored[node] = self._copy(node, wanted)
        output.args = mapped(output.args, lambda item: restored.get(item, item))

    def _is_plain(self, value: torch.Tensor) -> bool:
        if id(value) in self._plain:
            return True
        if dim_order_of(value) != tuple(range(value.dim())):
            return False
        self._plain.add(id(value))
        return True

    def _plain_value(self, node: fx.Node, value: Any) -> Any:
        """The same value, contiguous; what it was is kept for the results of the method."""
        if isinstance(value, tuple):
            return tuple(self._plain_value(node, item) for item in value)
        if not isinstance(value, torch.Tensor) or self._is_plain(value):
            return value
        if isinstance(node.meta["val"], torch.Tensor):
            self._wanted[node] = value
        return self.method.fakes.tensor(value.dtype, value.shape)

    def _as_contiguous(self, item: Any, user: fx.Node) -> Any:
        if not isinstance(item, fx.Node) or not isinstance(item.meta.get("val"), torch.Tensor):
            return item
        value = item.meta["val"]
        if self._is_plain(value):
            return item
        known = self._contiguous.get(item)
        if known is None:
            with self.method.graph.inserting_before(user):
                known = self._copy(item, self.method.fakes.tensor(value.dtype, value.shape))
            self._contiguous[item] = known
        return known

    def _copy(self, node: fx.Node, value: torch.Tensor) -> fx.Node:
        order = list(dim_order_of(value))
        clone = torch.ops.placewire.clone_dim_order.default
        copied = self.method.graph.call_function(clone, (node,), {"dim_order": order})
        copied.meta["val"] = value
        for key in ("stack_trace", "nn_module_stack"):
            if key in node.meta:
                copied.meta[key] = node.meta[key]
        return copied


def _takes(node: fx.Node, tensors: list[torch.Tensor]) -> bool:
    """Whether the kernel of a node reads and writes these tensors as they lie."""
    target = node.target
    if not isinstance(target, OpOverload):
        return False
    name = target._schema.name
    if name == "placewire::clone_dim_order":
        return True
    orders = [dim_order_of(tensor) for tensor in tensors]
    if any(
        order not in (tuple(range(len(order))), _CHANNELS_LAST.get(len(order))) for order in orders
    ):
        return False
    if name in _TAKE_BOTH:
        ranks = [order for order in orders if len(order) == tensors[0].dim()]
        return ranks[0] == ranks[-1]
    if torch.Tag.pointwise not in target.tags or name in _TAKE_CONTIGUOUS:
        return False
    first = tensors[0]
    same_shape = all(
        list(map(_expression, t.shape)) == list(map(_expression, first.shape)) for t in tensors
    )
    return same_shape and len(set(orders)) == 1


def _tensors(values: Sequence[Any]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, tuple):
            found += [item for item in value if isinstance(item, torch.Tensor)]
    return found


def _lies_in_order(value: torch.Tensor, order: Sequence[int]) -> bool:
    step: Any = 1
    for dimension in reversed(order):
        size = _expression(value.shape[dimension])
        if size == 0:
            return True
        if size != 1:
            if _expression(value.stride(dimension)) != step:
                return False
            step = step * size
    return True


def _expression(size: Size) -> Any:
    return size if isinstance(size, int) else sympy.expand(size.node.expr)


def _hint(size: Size) -> int:
    if isinstance(size, int):
        return size
    hint = size.node.hint
    return int(hint) if hint is not None else 1
