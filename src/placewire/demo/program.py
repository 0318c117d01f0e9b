"""Writes a small program that lives on one device; `placewire demo` runs this in a fresh process.

The process finds the package that the demo has just generated, not the installed one, so the device
may be of a kind that the installed schema does not have.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from placewire_schema import verify_program
from placewire_schema.program import (
    AllocationDetails,
    Chain,
    ContainerMetadata,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    Instruction,
    Int,
    KernelCall,
    NonConstBufferDevice,
    Operator,
    Program,
    ScalarType,
    Tensor,
)

from placewire.device import Device
from placewire.pte import PteFile

__all__ = ["add_on", "main"]

_SIZES = (2, 2)
_STRIDE = 16
"""Bytes of one tensor of that size, in 32-bit floats; also its alignment in the plan."""


def add_on(device: Device) -> Program:
    """Build a program that adds two tensors, all of it on one device."""
    values = [EValue(_planned(index, device)) for index in range(3)]
    first, second, result = range(3)
    values.append(EValue(Int(1)))
    factor = len(values) - 1
    arguments = [first, second, factor, result, result]
    leaf = '{"type": null, "context": null, "children_spec": []}'
    plan = ExecutionPlan(
        name="forward",
        container_meta_type=ContainerMetadata(
            encoded_inp_str='[1, {"type": "builtins.tuple", "context": "null", "children_spec": '
            f"[{leaf}, {leaf}]}}]",
            encoded_out_str=f"[1, {leaf}]",
        ),
        values=values,
        inputs=[first, second],
        outputs=[result],
        chains=[Chain(instructions=[Instruction(KernelCall(op_index=0, args=arguments))])],
        operators=[Operator(name="aten::add", overload="out")],
        non_const_buffer_sizes=[0, 3 * _STRIDE],
        non_const_buffer_device=[
            NonConstBufferDevice(buffer_idx=1, device_type=device.type, device_index=device.index)
        ],
    )
    return Program(execution_plan=[plan])


def _planned(index: int, device: Device) -> Tensor:
    return Tensor(
        scalar_type=ScalarType.FLOAT,
        sizes=list(_SIZES),
        dim_order=bytes(range(len(_SIZES))),
        allocation_info=AllocationDetails(memory_id=1, memory_offset_low=index * _STRIDE),
        extra_tensor_info=ExtraTensorInfo(device_type=device.type, device_index=device.index),
    )


def main(device_text: str, path: str) -> None:
    """Write the program to `path` and tell on stdout, as JSON, what there is to tell."""
    device = Device.parse(device_text)
    pte = PteFile(add_on(device))
    pte.rebuild_device_table()
    pte.save(path)
    data = Path(path).read_bytes()
    json.dump(
        {
            "member": repr(device.type),
            "alignment": device.type.alignment,
            "size": len(data),
            # By the codec: the compiled validator still has the old schema.
            "findings": [str(finding) for finding in verify_program(data)],
        },
        sys.stdout,
    )
