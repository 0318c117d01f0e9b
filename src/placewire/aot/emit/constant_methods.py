"""Emits constant methods: they take nothing, run nothing, and give back what is known already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.program import Chain, ContainerMetadata, ExecutionPlan, TensorShapeDynamism
from torch.utils import _pytree as pytree

from placewire.aot.specs import TensorSpec, scalar_type_of

from .nesting import nesting_text
from .values import ValueTable

if TYPE_CHECKING:
    from .constants import ConstantPool

__all__ = ["emit_constant_method"]


def emit_constant_method(
    name: str, value: object, constants: ConstantPool, initial_values: ConstantPool
) -> ExecutionPlan:
    """The execution plan of a method that gives back a constant.

    As ExecuTorch writes them, it has one value for each number, string or tensor, all of them
    outputs, no instructions, and no planned memory.

    Args:
        name: Name of the method.
        value: A tensor, number, string, bool or None, or any nesting of them in tuples, lists and
            dictionaries.
        constants: Where the data of tensors goes.
        initial_values: Where initial values would go; a constant has none.

    Raises:
        TypeError: There is something else in it.
        ValueError: A program cannot hold the dtype of a tensor.
    """
    leaves, nesting = pytree.tree_flatten(value)
    table = ValueTable(constants, initial_values)
    outputs = [_emit(name, leaf, table) for leaf in leaves]
    return ExecutionPlan(
        name=name,
        container_meta_type=ContainerMetadata("", nesting_text(nesting)),
        values=table.values,
        outputs=outputs,
        chains=[Chain()],
        non_const_buffer_sizes=[0],
    )


def _emit(method: str, leaf: Any, table: ValueTable) -> int:
    if isinstance(leaf, torch.Tensor):
        tensor = leaf.detach().contiguous()
        return table.tensor(
            TensorSpec(
                scalar_type=scalar_type_of(tensor.dtype),
                sizes=tuple(tensor.shape),
                dim_order=tuple(range(tensor.dim())),
                dynamism=TensorShapeDynamism.STATIC,
                planned=False,
                constant=tensor,
            )
        )
    if leaf is None or isinstance(leaf, bool | int | float | str):
        return table.literal(leaf, "")
    raise TypeError(
        f"the constant method {method} gives {type(leaf).__name__}; expected tensors, numbers, "
        "strings, bools or None, alone or in tuples, lists and dictionaries"
    )
