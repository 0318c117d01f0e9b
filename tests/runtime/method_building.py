"""Builds small programs for the tests of methods, on tensors of four floats."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from placewire_schema import program as p

from tests.runtime.programs import Sample, tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

CUDA = p.DeviceType.CUDA
ADD = ("aten::add", "out")
COPY = ("aten::copy_", "")
VIEW = ("aten::view_copy", "out")
H2D = ("et_copy::_h2d_copy", "out")
D2H = ("et_copy::_d2h_copy", "out")
CLOCK = ("test::clock", "out")
GROW = ("test::grow", "out")


def floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def unplanned(*, dynamic: bool = False) -> p.Tensor:
    """A tensor of four floats whose memory is the caller's; at most four if it is dynamic."""
    dynamism = p.TensorShapeDynamism.DYNAMIC_BOUND if dynamic else p.TensorShapeDynamism.STATIC
    return p.Tensor(p.ScalarType.FLOAT, 0, [2, 2], b"\0\1", shape_dynamism=dynamism)


def constant(index: int, *, device: p.DeviceType = p.DeviceType.CPU) -> p.Tensor:
    """A tensor of four floats in the constant segment; the first has index 1."""
    extra = None if device == p.DeviceType.CPU else p.ExtraTensorInfo(device_type=device)
    return p.Tensor(
        p.ScalarType.FLOAT, 0, [2, 2], b"\0\1", data_buffer_idx=index, extra_tensor_info=extra
    )


def on_cuda(*, offset: int = 0, memory_id: int = 2, initial: int = 0) -> p.Tensor:
    """A planned tensor of four floats on cuda:0."""
    extra = p.ExtraTensorInfo(device_type=CUDA)
    return tensor(memory_id=memory_id, offset=offset, initial=initial, extra=extra)


def planned(
    offset: int, sizes: tuple[int, ...] = (2, 2), type_: p.ScalarType = p.ScalarType.FLOAT
) -> p.Tensor:
    """A tensor at a place of the host's planned memory."""
    order = bytes(range(len(sizes)))
    return replace(
        tensor(memory_id=1, offset=offset), sizes=list(sizes), dim_order=order, scalar_type=type_
    )


def method(
    values: Sequence[Any],
    calls: Sequence[Any],
    *,
    inputs: Sequence[int],
    outputs: Sequence[int],
    sizes: Sequence[int] = (0, 64),
    devices: Sequence[p.NonConstBufferDevice] | None = None,
    name: str = "forward",
    delegates: Sequence[p.BackendDelegate] = (),
) -> p.ExecutionPlan:
    """A method; a call is `(operator, arguments)`, or any other instruction."""
    operators: list[tuple[str, str]] = []
    instructions = []
    for call in calls:
        if not isinstance(call, tuple):
            instructions.append(p.Instruction(call))
            continue
        operator, arguments = call
        if operator not in operators:
            operators.append(operator)
        instructions.append(p.Instruction(p.KernelCall(operators.index(operator), list(arguments))))
    return p.ExecutionPlan(
        name=name,
        container_meta_type=p.ContainerMetadata("in", "out"),
        values=[p.EValue(value) for value in values],
        inputs=list(inputs),
        outputs=list(outputs),
        chains=[p.Chain(instructions=instructions)],
        operators=[p.Operator(*operator) for operator in operators],
        delegates=list(delegates),
        non_const_buffer_sizes=list(sizes),
        non_const_buffer_device=None if devices is None else list(devices),
    )


def program(
    *plans: p.ExecutionPlan, constants: bytes = b"", initial: Sequence[bytes] = ()
) -> Sample:
    """A program with constants of 16 bytes each, and lists of one initial value each."""
    segments = [p.DataSegment(0, len(constants))]
    area = constants.ljust(128, b"\0")
    lists = []
    for value in initial:
        lists.append(p.SubsegmentOffsets(len(segments), [0, 0]))
        segments.append(p.DataSegment(len(area), len(value)))
        area += value.ljust(128, b"\0")
    offsets = [0, *range(0, len(constants), 16)]
    end = segments[-1].offset + segments[-1].size
    return Sample(
        p.Program(
            execution_plan=list(plans),
            constant_buffer=[p.Buffer(b"")],
            segments=segments,
            constant_segment=p.SubsegmentOffsets(0, offsets),
            mutable_data_segments=lists or None,
        ),
        area[:end],
        header_length=32 if end else 0,
    )


def flat_file(
    values: Sequence[Any],
    calls: Sequence[Any],
    inputs: Sequence[int],
    outputs: Sequence[int],
    constants: bytes = b"",
    *,
    sizes: Sequence[int] = (0, 64),
) -> bytes:
    """The file of a program of one method that takes and gives lists."""
    plan = method(values, calls, inputs=inputs, outputs=outputs, sizes=sizes)
    plan.container_meta_type = p.ContainerMetadata("", "")
    return program(plan, constants=constants).file()
