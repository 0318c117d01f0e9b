"""Operators: which kernel computes a functional operator, found by schema, not listed by hand."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeGuard

import torch
from torch._ops import OpOverload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .target import Target

__all__ = [
    "copying_variant",
    "custom_remedy",
    "is_operator",
    "is_write",
    "kernel_name",
    "kernel_of",
    "out_arguments",
    "out_variant",
    "scalar_variant",
    "wire_name",
]


def is_operator(target: object) -> bool:
    return isinstance(target, OpOverload)


def is_write(target: object) -> TypeGuard[OpOverload]:
    """Whether a node's target is an operator that writes to its arguments."""
    return isinstance(target, OpOverload) and target._schema.is_mutable


def kernel_name(operator: OpOverload) -> str:
    """The name under which a runtime looks a kernel up: `aten::add.out`, `aten::copy_`."""
    name, overload = wire_name(operator)
    return f"{name}.{overload}" if overload else name


def wire_name(operator: OpOverload) -> tuple[str, str]:
    """Name and overload as a program says them; the default overload is the empty string."""
    name = operator._schema.name
    return _WIRE_NAMES.get(name, name), operator._schema.overload_name


_WIRE_NAMES = {"placewire::clone_dim_order": "dim_order_ops::_clone_dim_order"}
"""How the runtime calls operators of ours; its own cannot be registered a second time."""


def out_arguments(operator: OpOverload) -> list[torch._C.Argument]:
    """The arguments of an out variant that receive its results; none for other operators."""
    return [
        argument
        for argument in operator._schema.arguments
        if argument.kwarg_only and argument.alias_info is not None and argument.alias_info.is_write
    ]


@cache
def copying_variant(operator: OpOverload) -> OpOverload:
    """The operator that gives a tensor of its own where this one gives a view; else itself.

    `aten.permute.default` becomes `aten.permute_copy.default`.
    """
    if not operator.is_view:
        return operator
    namespace, _, name = operator._schema.name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), f"{name}_copy", None)
    if packet is None:
        return operator
    variant: OpOverload | None = getattr(packet, operator._overloadname, None)
    return variant if variant is not None else operator


@cache
def scalar_variant(operator: OpOverload) -> OpOverload | None:
    """The overload that takes a number where this one takes its second tensor, if there is one.

    A graph may hold `aten.add.Tensor(x, 2)`; what it means is `aten.add.Scalar(x, 2)`.
    """
    arguments = operator._schema.arguments
    for other in _overloads(operator):
        theirs = other._schema.arguments
        if len(arguments) >= 2 and len(theirs) >= len(arguments[:2]):
            same_first = str(theirs[0].type) == str(arguments[0].type) == "Tensor"
            number = str(arguments[1].type) == "Tensor" and str(theirs[1].type) == "number"
            same_names = [a.name for a in theirs] == [a.name for a in arguments]
            if same_first and number and same_names and not out_arguments(other):
                return other
    return None


_OPTIONS = ("dtype", "layout", "device", "pin_memory")
"""What a functional operator says of a tensor it creates; an out variant sees it on the tensor."""


@cache
def out_variant(operator: OpOverload) -> OpOverload | None:
    """The overload of a functional operator that writes its results into tensors it is given.

    It takes the same arguments, but for those that say of what type the result is; what it takes
    besides has a default.
    """
    arguments = operator._schema.arguments
    wanted = [(argument.name, str(argument.type)) for argument in arguments]
    bare = [argument for argument in wanted if argument[0] not in _OPTIONS]
    candidates = [other for other in _overloads(operator) if _can_hold(operator, other)]
    for arguments_taken in (wanted, bare):
        fitting = [other for other in candidates if _takes(other, arguments_taken)]
        if fitting:
            return min(fitting, key=lambda other: len(other._schema.arguments))
    return None


def _can_hold(operator: OpOverload, out: OpOverload) -> bool:
    outs = out_arguments(out)
    return bool(outs) and len(outs) == len(operator._schema.returns)


def _takes(out: OpOverload, wanted: list[tuple[str, str]]) -> bool:
    taken = out._schema.arguments[: len(out._schema.arguments) - len(out_arguments(out))]
    names = [(argument.name, str(argument.type)) for argument in taken]
    extra = [argument for argument, name in zip(taken, names, strict=True) if name not in wanted]
    return [name for name in names if name in wanted] == wanted and all(
        argument.has_default_value() for argument in extra
    )


def kernel_of(operator: OpOverload, target: Target) -> OpOverload | None:
    """The kernel of `target` that computes an operator: its out variant, or itself if it has none.

    Returns:
        None if the target has no kernel for it.
    """
    return _kernel_of(operator, target)


@cache
def _kernel_of(operator: OpOverload, target: Target) -> OpOverload | None:
    out = out_variant(operator)
    for candidate in (out, operator):
        if candidate is not None and target.has(kernel_name(candidate)):
            return candidate
    return None


def custom_remedy(operator: object) -> str | None:
    """What to do about an operator that is not PyTorch's and has no kernel; None for PyTorch's."""
    if not isinstance(operator, OpOverload) or operator.namespace in _OF_TORCH:
        return None
    if operator._schema.is_mutable:
        return (
            "programs call no custom operators, least of all one that writes to its arguments; let "
            "it return the new value, write that with Tensor.copy_, and say the operator in those "
            "of torch: exported.run_decompositions({operator: function})"
        )
    return (
        "programs call no custom operators, with an out variant or without; say it in operators of "
        "torch: exported.run_decompositions({operator: function}), or give it to a backend whose "
        "partitioner preserves it"
    )


_OF_TORCH = frozenset({"aten", "prim", "prims", "inductor", "mkldnn", "quantized"})


def _overloads(operator: OpOverload) -> Iterator[OpOverload]:
    packet = operator.overloadpacket
    for name in packet.overloads():
        yield getattr(packet, name)
