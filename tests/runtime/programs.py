"""Programs that the tests of the runtime break: real ones, and one that has everything."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from placewire_schema import pack_device_table, pack_program, unpack_program
from placewire_schema import program as p
from placewire_schema.device_info import DeviceInfo, DeviceTable
from placewire_schema.reflection import TableInfo, TableReference, UnionInfo, VectorInfo, describe

from placewire.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from placewire_schema import Finding

HEADER = struct.Struct("<4sIQQQ")
HEADER_REGION = 32


@dataclass
class Sample:
    """A program to edit, and the bytes of its segments."""

    program: p.Program
    area: bytes = b""
    header_length: int = 32

    @classmethod
    def load(cls, path: Path) -> Sample:
        """Read a real file."""
        data = path.read_bytes()
        program = unpack_program(data)
        if data[8:12] != b"eh00":
            return cls(program, header_length=0)
        _, _, _, base, size = HEADER.unpack_from(data, 8)
        return cls(program, data[base : base + size])

    @property
    def plan(self) -> p.ExecutionPlan:
        """The first method."""
        return self.program.execution_plan[0]

    def tensor(self, index: int) -> p.Tensor:
        """A value of the first method, which is a tensor."""
        value = self.plan.values[index].val
        assert isinstance(value, p.Tensor)
        return value

    def file(self) -> bytes:
        """Lay the program out as a file."""
        return laid_out(pack_program(self.program), self.area, header_length=self.header_length)

    def validate(self) -> list[Finding]:
        """Validate the file."""
        return validate(self.file())


def laid_out(flatbuffer: bytes, area: bytes = b"", *, header_length: int = 32) -> bytes:
    """Put an extended header into a FlatBuffer and segment data behind it."""
    if header_length == 0:
        return flatbuffer
    program_size = len(flatbuffer) + HEADER_REGION
    base = -(-program_size // 128) * 128
    header = HEADER.pack(b"eh00", header_length, program_size, base, len(area))
    (root,) = struct.unpack_from("<I", flatbuffer)
    head = struct.pack("<I", root + HEADER_REGION) + flatbuffer[4:8]
    head += header[:header_length].ljust(HEADER_REGION, b"\0")
    return (head + flatbuffer[8:]).ljust(base, b"\0") + area


def broken(findings: list[Finding]) -> list[tuple[str, str]]:
    """The rules and paths of findings."""
    return [(finding.rule, finding.path) for finding in findings]


def complete() -> Sample:
    """A sound program in which every table of the schema occurs."""
    values: list[Any] = [
        p.Tensor(p.ScalarType.FLOAT, 0, [4], b"\0", data_buffer_idx=1),  # 0: a constant
        tensor(memory_id=1),
        tensor(memory_id=2, extra=p.ExtraTensorInfo(device_type=p.DeviceType.CUDA)),
        tensor(memory_id=1, offset=16, initial=1, extra=p.ExtraTensorInfo(1, "state")),
        p.Null(),
        p.Int(4),  # 5
        p.Bool(True),  # noqa: FBT003 - the field's only meaning
        p.Double(0.5),
        p.String("mode"),
        p.IntList([5, 5]),
        p.DoubleList([1.0]),  # 10
        p.BoolList([True]),
        p.TensorList([1, 3]),
        p.OptionalTensorList([-1, 0]),
    ]
    instructions: list[Any] = [
        p.JumpFalseCall(6, 6),
        p.KernelCall(0, [0, 1, 3, 3]),
        p.KernelCall(1, [3, 2, 2]),
        p.DelegateCall(0, [2, 2]),
        p.MoveCall(1, 3),
        p.FreeCall(1),
    ]
    plan = p.ExecutionPlan(
        name="forward",
        container_meta_type=p.ContainerMetadata("in", "out"),
        values=[p.EValue(value) for value in values],
        inputs=[1],
        outputs=[3],
        chains=[
            p.Chain(
                inputs=[1],
                outputs=[3],
                instructions=[p.Instruction(instruction) for instruction in instructions],
                stacktrace=[
                    p.FrameList([p.Frame("model.py", 7, "forward", "return a + b")])
                    for _ in instructions
                ],
            )
        ],
        operators=[p.Operator("aten::add", "out"), p.Operator("et_copy::_h2d_copy", "out")],
        delegates=[
            p.BackendDelegate(
                "demo",
                p.BackendDelegateDataReference(p.DataLocation.INLINE, 0),
                [p.CompileSpec("target_device", b"cuda:0")],
            )
        ],
        non_const_buffer_sizes=[0, 32, 16],
        non_const_buffer_device=[p.NonConstBufferDevice(2, p.DeviceType.CUDA, 0)],
    )
    table = pack_device_table(
        DeviceTable([DeviceInfo(planned_bytes=32, buffer_count=1), cuda_info(16)])
    )
    area = bytes(128) + bytes(128) + table
    return Sample(
        p.Program(
            execution_plan=[plan],
            constant_buffer=[p.Buffer(b"")],
            backend_delegate_data=[p.BackendDelegateInlineData(b"blob")],
            segments=[
                p.DataSegment(0, 16),
                p.DataSegment(128, 16),
                p.DataSegment(256, len(table)),
            ],
            constant_segment=p.SubsegmentOffsets(0, [0, 0]),
            mutable_data_segments=[
                p.SubsegmentOffsets(1, [0]),
                p.SubsegmentOffsets(1, [0, 0]),
            ],
            named_data=[p.NamedData("placewire.device_table", 2)],
        ),
        area,
    )


def tensor(
    *,
    memory_id: int,
    offset: int = 0,
    initial: int = 0,
    extra: p.ExtraTensorInfo | None = None,
) -> p.Tensor:
    """A planned tensor of four floats."""
    return p.Tensor(
        p.ScalarType.FLOAT,
        0,
        [2, 2],
        b"\0\1",
        data_buffer_idx=initial,
        allocation_info=p.AllocationDetails(memory_id, offset & 0xFFFFFFFF, offset >> 32),
        extra_tensor_info=extra,
    )


def cuda_info(planned_bytes: int, index: int = 0) -> DeviceInfo:
    """The device table's entry for a GPU with one planned buffer."""
    return DeviceInfo(p.DeviceType.CUDA, index, planned_bytes, 1)


@dataclass
class Cursor:
    """A table on the wire, found by the names of fields; for damage that no writer can do."""

    data: bytearray
    info: TableInfo
    start: int
    path: str = field(default="")

    @classmethod
    def root(cls, data: bytearray, type_: type[Any] = p.Program) -> Cursor:
        return cls(data, describe(type_), struct.unpack_from("<I", data)[0])

    @property
    def vtable(self) -> int:
        """Position of the vtable."""
        return self.start - int(struct.unpack_from("<i", self.data, self.start)[0])

    def entry(self, slot: int) -> int:
        """Position of a vtable entry."""
        return self.vtable + 4 + 2 * slot

    def place(self, slot: int) -> int:
        """Position of what stands in the table for a field; 0 if it is absent."""
        (size,) = struct.unpack_from("<H", self.data, self.vtable)
        if self.entry(slot) + 2 > self.vtable + size:
            return 0
        (distance,) = struct.unpack_from("<H", self.data, self.entry(slot))
        return self.start + distance if distance else 0

    def follow(self, place: int) -> int:
        """Position that the offset at `place` leads to."""
        return place + int(struct.unpack_from("<I", self.data, place)[0])

    def slot(self, name: str) -> int:
        """The slot of a field; of a union, that of its value."""
        return self.info.field(name).id

    def child(self, name: str, index: int | None = None) -> Cursor:
        """The table in a field, or an element of a vector of tables."""
        field_info = self.info.field(name)
        place = self.follow(self.place(field_info.id))
        path = f"{self.path}.{name}".lstrip(".")
        match field_info.type:
            case TableReference(type=type_):
                return Cursor(self.data, describe(type_), place, path)
            case UnionInfo(members=members):
                tag = self.data[self.place(field_info.id - 1)]
                return Cursor(self.data, describe(members[tag]), place, path)
            case VectorInfo(element=TableReference(type=type_)):
                assert index is not None
                element = self.follow(place + 4 + 4 * index)
                return Cursor(self.data, describe(type_), element, f"{path}[{index}]")
            case other:
                raise TypeError(f"{name} holds no table, but {other}")

    def walk(self) -> Iterator[Cursor]:
        """This table and all tables below it."""
        yield self
        for info in self.info.fields:
            place = self.place(info.id)
            if not place:
                continue
            match info.type:
                case TableReference() | UnionInfo():
                    yield from self.child(info.name).walk()
                case VectorInfo(element=TableReference()):
                    (count,) = struct.unpack_from("<I", self.data, self.follow(place))
                    for index in range(count):
                        yield from self.child(info.name, index).walk()

    def own_vtable(self, slots: int = 0) -> None:
        """Give the table a vtable that no other table shares, at the end, with room for `slots`."""
        (size,) = struct.unpack_from("<H", self.data, self.vtable)
        copy = bytearray(self.data[self.vtable : self.vtable + size])
        copy.extend(bytes(max(0, 4 + 2 * slots - size)))
        struct.pack_into("<H", copy, 0, len(copy))
        self.data.extend(bytes(-len(self.data) % 4))
        struct.pack_into("<i", self.data, self.start, self.start - len(self.data))
        self.data.extend(copy)
        self.data.extend(bytes(-len(self.data) % 4))

    def remove(self, name: str) -> None:
        """Make a field absent from this table."""
        self.own_vtable()
        slots = [self.slot(name)]
        if isinstance(self.info.field(name).type, UnionInfo):
            slots.append(slots[0] - 1)
        for slot in slots:
            struct.pack_into("<H", self.data, self.entry(slot), 0)
