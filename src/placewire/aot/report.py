"""Report: what an export did, how long its stages took, and what each method does and needs."""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from placewire_schema.program import KernelCall, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from placewire_schema.program import ExecutionPlan

    from .memory import BufferPlan, MemoryPlan

__all__ = ["Copies", "MethodReport", "Report", "report_of"]


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies in one direction: how many, and the most bytes that a call moves with them."""

    count: int = 0
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class MethodReport:
    """What one method does and needs.

    Attributes:
        instructions: Number of instructions.
        operators: Calls of each kernel by name, the most frequent first.
        delegates: How many subgraphs backends run.
        copies: Copies between devices by direction: `H2D`, `D2H`, `D2D`.
        buffers: The planned buffers that it has for itself, with the least bytes that any plan
            needs beside the planned.
        notes: What the passes have to say, by name.
    """

    instructions: int
    operators: dict[str, int]
    delegates: int
    copies: dict[str, Copies]
    buffers: tuple[BufferPlan, ...]
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Report:
    """What an export did.

    Attributes:
        seconds: Time of each stage, over all methods, in the order of the stages.
        methods: The methods by name.
        shared_buffers: With `share_mutable_buffers`, the planned buffers that are the same for all
            methods that use them.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    methods: dict[str, MethodReport] = field(default_factory=dict)
    shared_buffers: tuple[BufferPlan, ...] = ()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time that the block takes to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start


_DIRECTIONS = {
    "et_copy::_h2d_copy": "H2D",
    "et_copy::_d2h_copy": "D2H",
    "placewire::d2d_copy": "D2D",
}


def report_of(plan: ExecutionPlan, memory: MemoryPlan, notes: dict[str, str]) -> MethodReport:
    """Read off a finished method what there is to report."""
    calls: Counter[str] = Counter()
    copied: dict[str, list[int]] = {}
    instructions = [step.instr_args for chain in plan.chains for step in chain.instructions]
    for call in instructions:
        if not isinstance(call, KernelCall):
            continue
        operator = plan.operators[call.op_index]
        calls[f"{operator.name}.{operator.overload}" if operator.overload else operator.name] += 1
        direction = _DIRECTIONS.get(operator.name)
        if direction is not None:
            copied.setdefault(direction, []).append(_nbytes(plan, call.args[0]))
    return MethodReport(
        instructions=len(instructions),
        operators=dict(sorted(calls.items(), key=lambda item: (-item[1], item[0]))),
        delegates=len(plan.delegates),
        copies={name: Copies(len(sizes), sum(sizes)) for name, sizes in sorted(copied.items())},
        buffers=tuple(buffer for buffer in memory.buffers if buffer.tensors and not buffer.shared),
        notes=notes,
    )


def _nbytes(plan: ExecutionPlan, index: int) -> int:
    tensor = plan.values[index].val
    assert isinstance(tensor, Tensor)
    return math.prod(tensor.sizes) * tensor.scalar_type.bytes
