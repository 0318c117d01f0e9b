"""What a file says of its methods, without loading them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, get_args

from placewire_schema.program import DeviceType, KernelTypes, ScalarType, TensorShapeDynamism

from placewire.device import Device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from placewire._core import core

__all__ = [
    "BufferMeta",
    "MethodMeta",
    "TensorMeta",
    "ValueMeta",
    "method_meta",
    "planned_buffer",
    "type_name",
]

_KIND_NAMES = {tag: kind.__name__ for tag, kind in enumerate(get_args(KernelTypes), start=1)}
"""Names of the members of the union by their number on the wire, which counts from 1."""


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """What a method says of a tensor that it takes or gives.

    Attributes:
        scalar_type: Type of its elements.
        shape: Sizes; upper bounds if the shape is dynamic.
        dim_order: The dimensions from outermost to innermost in memory.
        dynamism: Whether the sizes may change.
        device: Where it is, as the file has it: a `device_map` comes on top.
        is_memory_planned: Whether its memory is the method's own. An input is then copied, else
            used where it is.
        name: Its name in the model; `""` if the file has none.
    """

    scalar_type: ScalarType
    shape: tuple[int, ...]
    dim_order: tuple[int, ...]
    dynamism: TensorShapeDynamism
    device: Device
    is_memory_planned: bool
    name: str

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, at most if the shape is dynamic."""
        return prod(self.shape) * self.scalar_type.bytes

    def accepts(self, shape: Sequence[int]) -> bool:
        """Whether a tensor may have these sizes."""
        if self.dynamism is TensorShapeDynamism.STATIC:
            return tuple(shape) == self.shape
        return len(shape) == len(self.shape) and all(
            size <= bound for size, bound in zip(shape, self.shape, strict=True)
        )

    def __str__(self) -> str:
        """As in `float32[2, 3] on cuda:0`; a size that may change has `<=` in front."""
        bound = "" if self.dynamism is TensorShapeDynamism.STATIC else "<="
        sizes = ", ".join(f"{bound}{size}" for size in self.shape)
        place = "" if self.device.is_cpu else f" on {self.device}"
        return f"{type_name(self.scalar_type)}[{sizes}]{place}"


@dataclass(frozen=True, slots=True)
class ValueMeta:
    """What a method takes or gives at one place.

    Attributes:
        kind: Name of the type on the wire: `Tensor`, `Int`, `Double`, `Bool`, `String`, `Null`,
            or one of the lists.
        tensor: There if it is a tensor.
    """

    kind: str
    tensor: TensorMeta | None = None

    def __str__(self) -> str:
        return self.kind if self.tensor is None else str(self.tensor)


@dataclass(frozen=True, slots=True)
class BufferMeta:
    """A planned buffer.

    Attributes:
        nbytes: Its size in bytes.
        device: Where it is.
    """

    nbytes: int
    device: Device


@dataclass(frozen=True, slots=True)
class MethodMeta:
    """What a file says of one method.

    Attributes:
        name: Its name.
        inputs: What it takes, flat.
        outputs: What it gives, flat.
        input_tree: How the inputs nest, as JSON of a pytree; `""` if the file does not say.
        output_tree: How the outputs nest.
        buffers: Its planned memory, as the file has it.
        instruction_count: Number of its instructions.
        backends: Ids of the backends that its delegates need, each once.
        operators: Operators that it calls, such as `aten::add.out`.
    """

    name: str
    inputs: tuple[ValueMeta, ...]
    outputs: tuple[ValueMeta, ...]
    input_tree: str
    output_tree: str
    buffers: tuple[BufferMeta, ...]
    instruction_count: int
    backends: tuple[str, ...]
    operators: tuple[str, ...]

    def __str__(self) -> str:
        """As in `forward(float32[2, 3], Double) -> float32[2, 3]`."""
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"{self.name}({inputs}) -> {outputs if len(self.outputs) == 1 else f'({outputs})'}"


def method_meta(meta: core.MethodMeta) -> MethodMeta:
    """The core's description of a method, with the generated types."""
    return MethodMeta(
        name=meta.name,
        inputs=tuple(map(_value, meta.inputs)),
        outputs=tuple(map(_value, meta.outputs)),
        input_tree=meta.input_tree,
        output_tree=meta.output_tree,
        buffers=tuple(planned_buffer(*buffer) for buffer in meta.buffers),
        instruction_count=meta.instruction_count,
        backends=meta.backends,
        operators=meta.operators,
    )


def planned_buffer(nbytes: int, device_type: int, index: int) -> BufferMeta:
    """A buffer as the core describes it."""
    return BufferMeta(nbytes, Device(DeviceType(device_type), index))


def type_name(scalar_type: ScalarType) -> str:
    """A type's name as numpy has it, else as torch has it: `float32`, `bfloat16`."""
    return scalar_type.numpy or scalar_type.torch


def _value(value: core.ValueMeta) -> ValueMeta:
    kind = _KIND_NAMES.get(value.kind, str(value.kind))
    return ValueMeta(kind, _tensor(value.tensor) if value.tensor is not None else None)


def _tensor(tensor: core.TensorMeta) -> TensorMeta:
    return TensorMeta(
        scalar_type=ScalarType(tensor.scalar_type),
        shape=tensor.shape,
        dim_order=tensor.dim_order,
        dynamism=TensorShapeDynamism(tensor.dynamism),
        device=Device(DeviceType(tensor.device_type), tensor.device_index),
        is_memory_planned=tensor.is_memory_planned,
        name=tensor.name,
    )
