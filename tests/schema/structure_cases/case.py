"""What a structure case is, and the sound buffers that most of them start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from placewire_schema import pack, program

from ..forging import Forged


@dataclass(frozen=True)
class Expected:
    """A broken rule, where it is broken, and the numbers that go with it."""

    rule: str
    path: str
    offset: int
    found: int
    expected: int


@dataclass(frozen=True)
class StructureCase:
    """One buffer; `expected` is None if it is sound."""

    name: str
    type: str
    data: bytes | bytearray
    expected: Expected | None


Made = tuple[str, bytes | bytearray, Expected | None]
MAKERS: list[Callable[[], Made]] = []
"""The functions that make cases, in the order in which they stand in their files."""


def case(make: Callable[[], Made]) -> Callable[[], Made]:
    """Add a case that is called like its function."""
    MAKERS.append(make)
    return make


def sound_tensor() -> Forged:
    """Return a tensor (root without identifier) that has all kinds of fields."""
    return Forged(
        pack(
            program.Tensor(
                scalar_type=program.ScalarType.FLOAT,
                sizes=[2, 3],
                dim_order=b"\x00\x01",
                data_buffer_idx=7,
                allocation_info=program.AllocationDetails(memory_id=1, memory_offset_low=64),
                extra_tensor_info=program.ExtraTensorInfo(fully_qualified_name="weight"),
            )
        )
    )


def sound_program() -> Forged:
    """Return a small program."""
    plan = program.ExecutionPlan(
        name="forward",
        container_meta_type=program.ContainerMetadata(encoded_inp_str="[]", encoded_out_str="[]"),
        values=[
            program.EValue(program.Int(5)),
            program.EValue(program.Tensor(sizes=[4], dim_order=b"\x00")),
        ],
        inputs=[0],
        outputs=[1],
        chains=[program.Chain(instructions=[program.Instruction(program.KernelCall(args=[0, 1]))])],
        operators=[program.Operator(name="aten::add", overload="out")],
        non_const_buffer_sizes=[0, 16],
    )
    return Forged(pack(program.Program(execution_plan=[plan])))


# Ids of fields, as in the schema.
PLANS, VALUES, CHAINS = 1, 2, 5
INPUTS, OUTPUTS, INSTRUCTIONS = 0, 1, 2
TAG, MEMBER = 0, 1
SCALAR_TYPE, SIZES, DIM_ORDER, DATA_BUFFER, ALLOCATION, EXTRA = 0, 2, 3, 5, 6, 9
NAME = 1
