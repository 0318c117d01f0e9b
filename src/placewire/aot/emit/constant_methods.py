"""Emits constant methods: they take nothing, run nothing, and give back what is known already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from placewire_schema.program import Chain, ContainerMetadata, ExecutionPlan, TensorShapeDynamism
from torch._subclasses import FakeTensor
from torch.utils import _pytree as pytree

from placewire.aot.specs import TensorSpec, rank_problem, scalar_type_of
from placewire.aot.wording import described
from placewire.wording import is_encodable

from .nesting import nesting_text
from .values import ValueTable

if TYPE_CHECKING:
    from .constants import ConstantPool

__all__ = ["check_constant", "emit_constant_method"]


def check_constant(method: str, value: object) -> None:
    """See that a program can hold what a constant method gives.

    Raises:
        TypeError: There is something in it that a program cannot hold.
        ValueError: A program cannot hold the dtype or rank of a tensor, a number or a text.
    """
    for leaf in pytree.tree_leaves(value):
        if isinstance(leaf, torch.Tensor):
            if leaf.is_meta or isinstance(leaf, FakeTensor):
                raise TypeError(f"the constant method {method} gives a tensor without data")
            if leaf.layout is not torch.strided:
                raise TypeError(
                    f"the constant method {method} gives a tensor with the layout {leaf.layout}; "
                    "expected dense tensors"
                )
            scalar_type_of(leaf.dtype)
            if reason := rank_problem(leaf):
                raise ValueError(f"the constant method {method}: {reason}")
        elif leaf is not None and not isinstance(leaf, bool | int | float | str):
            raise TypeError(
                f"the constant method {method} gives {described(leaf)}; expected tensors, "
                "numbers, strings, bools or None, alone or in tuples, lists and dictionaries"
            )
        elif isinstance(leaf, int) and not -(2**63) <= leaf < 2**63:
            raise ValueError(
                f"the constant method {method} gives {leaf}; a program holds whole numbers of 64 "
                "bits"
            )
        elif isinstance(leaf, str) and not is_encodable(leaf):
            raise ValueError(
                f"the constant method {method} gives {leaf!r}; a program holds text that can be "
                "encoded as UTF-8"
            )


def emit_constant_method(
    name: str, value: object, constants: ConstantPool, initial_values: ConstantPool
) -> ExecutionPlan:
    """The execution plan of a method that gives back a constant.

    As ExecuTorch writes them, it has one value for each number, string or tensor, all of them
    outputs, no instructions, and no planned memory.

    Args:
        name: Name of the method.
        value: A tensor on the host, number, string, bool or None, or any nesting of them in tuples,
            lists and dictionaries, as `check_constant` lets through.
        constants: Where the data of tensors goes.
        initial_values: Where initial values would go; a constant has none.
    """
    leaves, nesting = pytree.tree_flatten(value)
    table = ValueTable(constants, initial_values)
    outputs = [_emit(leaf, table) for leaf in leaves]
    return ExecutionPlan(
        name=name,
        container_meta_type=ContainerMetadata("", nesting_text(nesting)),
        values=table.values,
        outputs=outputs,
        chains=[Chain()],
        non_const_buffer_sizes=[0],
    )


def _emit(leaf: Any, table: ValueTable) -> int:
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
    return table.literal(leaf, "")
