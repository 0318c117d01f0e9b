"""The last stage: methods and their data become a program with its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from placewire_schema.program import Program, SubsegmentOffsets

from placewire.pte import PteFile

if TYPE_CHECKING:
    from placewire_schema.program import ExecutionPlan

    from .emit import BlobPool, ConstantPool
    from .named_data import NamedDataPool

__all__ = ["assemble"]


def assemble(
    plans: list[ExecutionPlan],
    constants: ConstantPool,
    initial_values: ConstantPool,
    blobs: BlobPool,
    named_data: NamedDataPool,
    constant_plans: list[ExecutionPlan],
) -> PteFile:
    """A file of methods, in the order of their names, and the data that they share.

    Constant methods come after the others, in the order in which they are given.

    If any of it is on a device, the file carries the device table.
    """
    program = Program(
        execution_plan=[*sorted(plans, key=lambda plan: plan.name), *constant_plans],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=constants.offsets()),
    )
    segments: list[Any] = [constants.segment()]
    if len(initial_values):
        program.mutable_data_segments = [SubsegmentOffsets(1, initial_values.offsets())]
        segments.append(initial_values.segment())
    segments += blobs.place(program, len(segments))
    named = named_data.place(program, len(segments))
    alignments = {len(segments) + place: alignment for place, (_, alignment) in enumerate(named)}
    segments += [data for data, _ in named]
    file = PteFile(program, segments, alignments=alignments)
    file.rebuild_device_table()
    return file
