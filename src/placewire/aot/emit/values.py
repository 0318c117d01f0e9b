"""Values: the entries of a method's value table, made from nodes and from literal arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from placewire_schema.program import (
    AllocationDetails,
    Bool,
    BoolList,
    Double,
    DoubleList,
    EValue,
    ExtraTensorInfo,
    Int,
    IntList,
    Null,
    OptionalTensorList,
    ScalarType,
    String,
    Tensor,
    TensorList,
)

from placewire.aot.specs import scalar_type_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placewire_schema.program import KernelTypes

    from placewire.aot.specs import TensorSpec

    from .constants import ConstantPool

__all__ = ["ValueTable"]

_MEMORY_FORMATS = {
    torch.contiguous_format: 0,
    torch.preserve_format: 1,
    torch.channels_last: 2,
    torch.channels_last_3d: 3,
}
"""Numbers of `c10::MemoryFormat`, which kernels take as an integer."""


class ValueTable:
    """The values of one method; every literal argument gets a value of its own, as in ExecuTorch.

    Args:
        constants: Where the data of constants goes.
        initial_values: Where the initial values of tensors that the method changes go.
    """

    def __init__(self, constants: ConstantPool, initial_values: ConstantPool) -> None:
        self.values: list[EValue] = []
        self._constants = constants
        self._initial_values = initial_values
        self._tensors: dict[TensorSpec, int] = {}

    def append(self, value: KernelTypes) -> int:
        self.values.append(EValue(value))
        return len(self.values) - 1

    def tensor(self, spec: TensorSpec) -> int:
        """The value of a tensor; there is one for each spec."""
        index = self._tensors.get(spec)
        if index is None:
            index = self._tensors[spec] = self.append(self._tensor(spec))
        return index

    def literal(self, value: object, kind: str) -> int:
        """A value for a literal argument of a schema type such as `int`, `number` or `bool?`."""
        return self.append(_literal(value, kind))

    def result(self, value: object) -> int:
        """A value for a symbolic number that an instruction computes."""
        if isinstance(value, torch.SymBool | bool):
            return self.append(Bool(bool_val=False))
        if isinstance(value, torch.SymFloat | float):
            return self.append(Double(0.0))
        return self.append(Int(0))

    def integers(self, items: Sequence[int]) -> int:
        """A list of integers, given by the indices of its elements."""
        return self.append(IntList(list(items)))

    def tensors(self, items: Sequence[int]) -> int:
        """A list of tensors, given by their indices."""
        return self.append(TensorList(list(items)))

    def optional_tensors(self, items: Sequence[int | None]) -> int:
        """A list of tensors that may be absent."""
        return self.append(OptionalTensorList([-1 if item is None else item for item in items]))

    def empty_tensor(self) -> int:
        """What stands for a tensor that is not there in a place that must have one."""
        return self.append(Tensor(scalar_type=ScalarType.BYTE, sizes=[0], dim_order=b"\0"))

    def _tensor(self, spec: TensorSpec) -> Tensor:
        storage = spec.storage
        tensor = Tensor(
            scalar_type=spec.scalar_type,
            sizes=list(spec.sizes),
            dim_order=bytes(spec.dim_order),
            shape_dynamism=spec.dynamism,
        )
        if storage.constant is not None:
            tensor.data_buffer_idx = self._constants.index_of(storage.constant)
        elif storage.place is not None:
            offset = storage.place.offset
            tensor.allocation_info = AllocationDetails(
                memory_id=storage.place.buffer,
                memory_offset_low=offset & 0xFFFFFFFF,
                memory_offset_high=offset >> 32,
            )
            if spec.initial is not None:
                tensor.data_buffer_idx = self._initial_values.index_of(spec.initial)
        tensor.extra_tensor_info = _extra(spec)
        return tensor


def _extra(spec: TensorSpec) -> ExtraTensorInfo | None:
    if spec.device.is_cpu and spec.qualified_name is None:
        return None
    return ExtraTensorInfo(
        fully_qualified_name=spec.qualified_name,
        device_type=spec.device.type,
        device_index=spec.device.index,
    )


def _literal(value: object, kind: str) -> KernelTypes:
    if value is None:
        return Null()
    if isinstance(value, list | tuple):
        return _literal_list(list(value), kind)
    if isinstance(value, bool):
        return Bool(value)
    if isinstance(value, int) and not kind.startswith("float"):
        return Int(value)
    if isinstance(value, int | float):
        return Double(float(value))
    if isinstance(value, str):
        return String(value)
    if isinstance(value, torch.dtype):
        return Int(int(scalar_type_of(value)))
    if isinstance(value, torch.memory_format):
        return Int(_MEMORY_FORMATS[value])
    if isinstance(value, torch.layout):
        return Int(0)
    raise TypeError(f"an argument of type {kind} cannot be {value!r}")


def _literal_list(items: list[object], kind: str) -> KernelTypes:
    if "bool" in kind:
        return BoolList([bool(item) for item in items])
    if "float" in kind or any(isinstance(item, float) for item in items):
        return DoubleList([float(item) for item in items])  # type: ignore[arg-type]
    raise TypeError(f"an argument of type {kind} cannot be {items!r}")
