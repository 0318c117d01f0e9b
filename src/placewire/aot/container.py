"""The last stage: methods and their data become a program with its segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from placewire_schema.program import Program, SubsegmentOffsets

from placewire.pte import PteFile

if TYPE_CHECKING:
    from placewire_schema.program import ExecutionPlan

    from .emit import ConstantPool

__all__ = ["assemble"]


def assemble(
    plans: list[ExecutionPlan], constants: ConstantPool, initial_values: ConstantPool
) -> PteFile:
    """A file of methods, in the order of their names, and the data that they share."""
    program = Program(
        execution_plan=sorted(plans, key=lambda plan: plan.name),
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=constants.offsets()),
    )
    segments = [constants.segment()]
    if len(initial_values):
        program.mutable_data_segments = [SubsegmentOffsets(1, initial_values.offsets())]
        segments.append(initial_values.segment())
    return PteFile(program, segments)
