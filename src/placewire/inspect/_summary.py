"""What a person wants to know first about a program: methods, inputs, outputs, memory, data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from placewire_schema import UnknownMember
from placewire_schema.program import (
    DataLocation,
    KernelCall,
    ScalarType,
    Tensor,
    TensorShapeDynamism,
)

from placewire.placement import CPU, TARGET_DEVICE, device_text

if TYPE_CHECKING:
    from placewire_schema.program import (
        BackendDelegate,
        ExecutionPlan,
        NonConstBufferDevice,
        Program,
    )

    from placewire.pte import PteFile

__all__ = [
    "BufferSummary",
    "DelegateSummary",
    "FileSummary",
    "MethodSummary",
    "SegmentSummary",
    "ValueSummary",
    "summarize",
]


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """An input or output.

    Attributes:
        index: Index in `ExecutionPlan.values`.
        kind: Element type of a tensor, such as `float32`; else the kind of value, such as `Int`.
        sizes: Extents of a tensor, `None` for everything else.
        is_bound: Whether `sizes` are upper bounds.
        device: Device of a tensor, "" for everything else.
    """

    index: int
    kind: str
    sizes: tuple[int, ...] | None = None
    is_bound: bool = False
    device: str = ""


@dataclass(frozen=True, slots=True)
class BufferSummary:
    """The planned memory on one device: number of buffers and their bytes together."""

    device: str
    buffers: int
    size: int


@dataclass(frozen=True, slots=True)
class DelegateSummary:
    """A delegate: its backend, the device it asks for ("" if none), and where its blob is."""

    id: str
    device: str
    size: int
    where: str


@dataclass(frozen=True, slots=True)
class MethodSummary:
    """A method.

    Attributes:
        name: Name.
        inputs: What the caller supplies.
        outputs: What the caller receives.
        values: Number of values of all kinds.
        instructions: Number of instructions in all chains.
        buffers: Planned memory, by device.
        delegates: The delegates.
        operators: Each operator, `name.overload`, with the number of calls; most calls first.
    """

    name: str
    inputs: tuple[ValueSummary, ...]
    outputs: tuple[ValueSummary, ...]
    values: int
    instructions: int
    buffers: tuple[BufferSummary, ...]
    delegates: tuple[DelegateSummary, ...]
    operators: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SegmentSummary:
    """A segment: its index, offset from the segment base, bytes, and what it is for."""

    index: int
    offset: int
    size: int
    use: str


@dataclass(frozen=True, slots=True)
class FileSummary:
    """A file: its bytes, schema version, methods, segments, and what the schema does not know."""

    size: int
    version: int
    methods: tuple[MethodSummary, ...]
    segments: tuple[SegmentSummary, ...]
    unknown: tuple[str, ...]


def summarize(pte: PteFile) -> FileSummary:
    """Describe a file. Works on damaged plans too: what refers to nothing is called so."""
    program = pte.program
    return FileSummary(
        size=pte.size,
        version=program.version,
        methods=tuple(_method(plan, pte) for plan in program.execution_plan),
        segments=tuple(
            SegmentSummary(index, segment.offset, segment.size, use)
            for index, (segment, use) in enumerate(
                zip(program.segments, _uses(program), strict=True)
            )
        ),
        unknown=tuple(map(str, pte.unknown)),
    )


def _method(plan: ExecutionPlan, pte: PteFile) -> MethodSummary:
    calls = [instruction.instr_args for chain in plan.chains for instruction in chain.instructions]
    counts = Counter(call.op_index for call in calls if isinstance(call, KernelCall))
    return MethodSummary(
        name=plan.name,
        inputs=tuple(_value(plan, index) for index in plan.inputs),
        outputs=tuple(_value(plan, index) for index in plan.outputs),
        values=len(plan.values),
        instructions=len(calls),
        buffers=_buffers(plan),
        delegates=tuple(_delegate(delegate, pte) for delegate in plan.delegates),
        operators=tuple((_operator(plan, index), count) for index, count in counts.most_common()),
    )


def _value(plan: ExecutionPlan, index: int) -> ValueSummary:
    if not 0 <= index < len(plan.values):
        return ValueSummary(index, "no such value")
    value = plan.values[index].val
    if isinstance(value, UnknownMember):
        return ValueSummary(index, f"unknown (type {value.tag})")
    if not isinstance(value, Tensor):
        return ValueSummary(index, type(value).__name__)
    extra = value.extra_tensor_info
    return ValueSummary(
        index,
        _element_type(value.scalar_type),
        tuple(value.sizes),
        value.shape_dynamism != TensorShapeDynamism.STATIC,
        str(CPU) if extra is None else device_text(extra.device_type, extra.device_index),
    )


def _element_type(number: int) -> str:
    try:
        member = ScalarType(number)
    except ValueError:
        return f"unknown (type {int(number)})"
    return member.torch or member.name.lower()


def _buffers(plan: ExecutionPlan) -> tuple[BufferSummary, ...]:
    places: dict[int, NonConstBufferDevice] = {}
    for entry in plan.non_const_buffer_device or []:
        places.setdefault(entry.buffer_idx, entry)
    sizes: dict[str, list[int]] = {}
    for index, size in enumerate(plan.non_const_buffer_sizes):
        place = places.get(index)
        device = device_text(place.device_type, place.device_index) if place else str(CPU)
        if size:
            sizes.setdefault(device, []).append(size)
    return tuple(BufferSummary(device, len(all_), sum(all_)) for device, all_ in sizes.items())


def _delegate(delegate: BackendDelegate, pte: PteFile) -> DelegateSummary:
    asked = next((spec for spec in delegate.compile_specs if spec.key == TARGET_DEVICE), None)
    device = bytes(asked.value).decode("utf-8", "replace") if asked else ""
    where = delegate.processed
    if where.location == DataLocation.SEGMENT:
        place, there = f"segment {where.index}", where.index < len(pte.segments)
    else:
        place = f"inline data {where.index}"
        there = where.index < len(pte.program.backend_delegate_data)
    if not there:
        return DelegateSummary(delegate.id, device, 0, f"{place}, which is not there")
    return DelegateSummary(delegate.id, device, len(pte.delegate_blob(delegate)), place)


def _operator(plan: ExecutionPlan, index: int) -> str:
    if not 0 <= index < len(plan.operators):
        return f"operator {index}, which is not there"
    operator = plan.operators[index]
    return f"{operator.name}.{operator.overload}" if operator.overload else operator.name


def _uses(program: Program) -> list[str]:
    """What each segment is for, in the words of the schema."""
    uses: list[list[str]] = [[] for _ in program.segments]

    def note(index: int, use: str) -> None:
        if index < len(uses) and use not in uses[index]:
            uses[index].append(use)

    if program.constant_segment is not None:
        note(program.constant_segment.segment_index, "constants")
    for entry in program.mutable_data_segments or []:
        note(entry.segment_index, "initial values")
    for plan in program.execution_plan:
        for delegate in plan.delegates:
            if delegate.processed.location == DataLocation.SEGMENT:
                note(delegate.processed.index, f"delegate {delegate.id}")
    for named in program.named_data or []:
        note(named.segment_index, f"named {named.key!r}")
    return [", ".join(use) or "not referred to" for use in uses]
