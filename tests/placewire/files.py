"""Files that the tests make by hand, without the code under test."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from placewire_schema import pack_program
from placewire_schema.program import (
    AllocationDetails,
    BackendDelegate,
    BackendDelegateDataReference,
    Chain,
    CompileSpec,
    DataLocation,
    DataSegment,
    DeviceType,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    NonConstBufferDevice,
    Program,
    ScalarType,
    SubsegmentOffsets,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


def file_bytes(
    program: Program,
    segments: Sequence[bytes] = (),
    *,
    header_length: int = 32,
    segment_alignment: int = 128,
    gap: bytes = b"\0",
    trailing: bytes = b"",
    extra: bytes = b"",
) -> bytes:
    """Lay out a .pte file: FlatBuffer, extended header, segments.

    Args:
        program: Its `segments` are overwritten.
        segments: Contents of the segments.
        header_length: 24, 32, or more for a header with `extra`; 0 for none.
        segment_alignment: Alignment of the base and of each segment.
        gap: The byte that fills what lies between segments.
        trailing: What follows the last segment, still inside the segment data.
        extra: What follows byte 32 of the header.
    """
    area = bytearray()
    program.segments = []
    for segment in segments:
        area += gap * (-len(area) % segment_alignment)
        program.segments.append(DataSegment(offset=len(area), size=len(segment)))
        area += segment
    return with_area(
        program,
        bytes(area + trailing),
        header_length=header_length,
        segment_alignment=segment_alignment,
        extra=extra,
    )


def with_area(
    program: Program,
    area: bytes,
    *,
    header_length: int = 32,
    segment_alignment: int = 128,
    extra: bytes = b"",
) -> bytes:
    """Lay out a .pte file whose `program.segments` may say anything about its segment data."""
    flatbuffer = pack_program(program)
    if not header_length:
        return flatbuffer
    region = -(-header_length // 16) * 16
    program_size = len(flatbuffer) + region
    base = -(-program_size // segment_alignment) * segment_alignment
    header = struct.pack("<4sIQQQ", b"eh00", header_length, program_size, base, len(area)) + extra
    (root,) = struct.unpack_from("<I", flatbuffer)
    head = struct.pack("<I", root + region) + flatbuffer[4:8]
    head += header[:header_length].ljust(region, b"\0")
    return (head + flatbuffer[8:]).ljust(base, b"\0") + area


def header_of(data: bytes) -> tuple[int, int, int, int]:
    """Header length, program size, segment base and segment data size of a file."""
    magic, length, program_size, base, size = struct.unpack_from("<4sIQQQ", data, 8)
    assert magic == b"eh00"
    return length, program_size, base, size


def with_u32(data: bytes, position: int, value: int) -> bytes:
    """The same file with another number at a position."""
    return data[:position] + struct.pack("<I", value) + data[position + 4 :]


def with_u64(data: bytes, position: int, value: int) -> bytes:
    """The same file with another number at a position."""
    return data[:position] + struct.pack("<Q", value) + data[position + 8 :]


def tensor(
    device_type: DeviceType = DeviceType.CPU,
    device_index: int = 0,
    *,
    buffer: int = 1,
    data: int = 0,
) -> Tensor:
    """A planned 2x2 tensor of 16 bytes; on `cpu:0` it has no `extra_tensor_info`, as usual."""
    on_cpu = device_type == DeviceType.CPU
    return Tensor(
        scalar_type=ScalarType.FLOAT,
        sizes=[2, 2],
        dim_order=b"\0\1",
        data_buffer_idx=data,
        allocation_info=AllocationDetails(memory_id=buffer),
        extra_tensor_info=None
        if on_cpu
        else ExtraTensorInfo(device_type=device_type, device_index=device_index),
    )


def delegate(location: DataLocation, index: int, target: bytes | None = None) -> BackendDelegate:
    """A delegate whose blob is at a place."""
    return BackendDelegate(
        id="demo",
        processed=BackendDelegateDataReference(location=location, index=index),
        compile_specs=[] if target is None else [CompileSpec(key="target_device", value=target)],
    )


def two_gpu_program() -> Program:
    """A program with a tensor, a buffer and a delegate on each of cpu:0, cuda:0 and cuda:1."""
    cuda = DeviceType.CUDA
    plan = ExecutionPlan(
        name="forward",
        values=[
            EValue(val=tensor()),
            EValue(val=tensor(cuda, 0, buffer=2)),
            EValue(val=tensor(cuda, 1, buffer=3)),
        ],
        inputs=[0],
        outputs=[0],
        chains=[Chain()],
        delegates=[
            delegate(DataLocation.SEGMENT, 1, b"cuda:0"),
            delegate(DataLocation.SEGMENT, 1, b"cuda:1"),
        ],
        non_const_buffer_sizes=[0, 16, 32, 48],
        non_const_buffer_device=[
            NonConstBufferDevice(buffer_idx=2, device_type=cuda, device_index=0),
            NonConstBufferDevice(buffer_idx=3, device_type=cuda, device_index=1),
        ],
    )
    return Program(
        execution_plan=[plan], constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0])
    )
