"""ExecuTorch's own runtime runs what we have rewritten, with the same outputs as before."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from placewire_schema.program import (
    DeviceType,
    Double,
    EValue,
    ExtraTensorInfo,
    KernelCall,
    Tensor,
)

from placewire.pte import DEVICE_TABLE_KEY, PteFile, check_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch")
runtime = pytest.importorskip(
    "executorch.runtime", reason="executorch is not installed; pip install '.[peer]'"
)

WITH_OUTPUTS = ["cond", "conv", "dyn", "mlp", "mlp_stacktrace", "scalars_in", "transformer2"]
"""Files of the corpus that come with the outputs that eager PyTorch gave."""

OTHERS = ["kv_names", "multimethod", "constmethods", "xnnpack_mlp"]
"""Files whose outputs before and after are compared."""


def unchanged(pte: PteFile) -> None:
    """Leave the file as it is."""


def longer_name(pte: PteFile) -> None:
    """Edit the program so that it outgrows its place and all segments move."""
    for plan in pte.program.execution_plan:
        plan.container_meta_type.encoded_inp_str += " " * 500


def unused_operators(pte: PteFile) -> None:
    """Put an operator in front that nothing calls, so that every call changes."""
    for plan in pte.program.execution_plan:
        plan.operators[:0] = plan.operators[:1]
        for chain in plan.chains:
            for instruction in chain.instructions:
                if isinstance(instruction.instr_args, KernelCall):
                    instruction.instr_args.op_index += 1


def device_table(pte: PteFile) -> None:
    """Add a device table, and a tensor on a device that nothing uses, or it would be empty."""
    extra = ExtraTensorInfo(device_type=DeviceType.CUDA)
    unused = Tensor(sizes=[1], dim_order=b"\0", extra_tensor_info=extra)
    pte.program.execution_plan[0].values.append(EValue(val=unused))
    assert pte.rebuild_device_table() is not None
    assert DEVICE_TABLE_KEY in pte.named_data


def other_named_data(pte: PteFile) -> None:
    """Add data that nothing asks for, and change the program too."""
    pte.named_data["placewire.test"] = b"nobody asks for this" * 100
    longer_name(pte)


EDITS = [unchanged, longer_name, unused_operators, device_table, other_named_data]


@cache
def outputs(data: bytes, method: str, inputs: tuple[Any, ...]) -> list[Any]:
    """Run a method in ExecuTorch's runtime; the outputs as they are, bit for bit."""
    program = runtime.Runtime.get().load_program(data)
    return list(program.load_method(method).execute(list(inputs)))


def bits(values: list[Any]) -> list[Any]:
    """Outputs in a form that compares bit for bit."""
    return [
        (value.dtype, tuple(value.shape), value.numpy().tobytes())
        if isinstance(value, torch.Tensor)
        else value
        for value in values
    ]


def inputs_for(program: PteFile, method: str) -> tuple[Any, ...]:
    """Inputs of the shapes that a method wants, always the same."""
    (plan,) = (plan for plan in program.program.execution_plan if plan.name == method)
    generator = torch.Generator().manual_seed(7)
    tensors = []
    for index in plan.inputs:
        value = plan.values[index].val
        assert isinstance(value, Tensor)
        dtype = getattr(torch, str(value.scalar_type.torch))
        tensors.append(
            torch.rand(value.sizes, generator=generator)
            if dtype.is_floating_point
            else torch.zeros(value.sizes, dtype=dtype)
        )
    return tuple(tensors)


def saved_inputs(program: PteFile, arrays: Any) -> tuple[Any, ...]:
    """The inputs that eager PyTorch had; a number where the program wants a number."""
    plan = program.program.execution_plan[0]
    inputs = []
    for position, index in enumerate(plan.inputs):
        array = arrays[f"input{position}"]
        is_number = isinstance(plan.values[index].val, Double)
        inputs.append(float(array) if is_number else torch.from_numpy(array))
    return tuple(inputs)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_outputs_are_those_of_eager_pytorch(
    corpus: Path, name: str, edit: Callable[[PteFile], None]
) -> None:
    original = (corpus / f"{name}.pte").read_bytes()
    arrays = np.load(corpus / f"{name}.npz")
    pte = PteFile.from_bytes(original)
    inputs = saved_inputs(pte, arrays)
    edit(pte)
    rewritten = pte.to_bytes()
    assert check_bytes(rewritten) == []
    assert (rewritten == original) == (edit is unchanged)
    found = outputs(rewritten, "forward", inputs)
    assert bits(found) == bits(outputs(original, "forward", inputs))
    assert found
    for index, value in enumerate(found):
        expected = torch.from_numpy(arrays[f"output{index}"])
        torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", OTHERS)
def test_every_method_gives_the_same_outputs(
    corpus: Path, name: str, edit: Callable[[PteFile], None]
) -> None:
    original = (corpus / f"{name}.pte").read_bytes()
    pte = PteFile.from_bytes(original)
    edit(pte)
    rewritten = pte.to_bytes()
    assert check_bytes(rewritten) == []
    methods = [plan.name for plan in pte.program.execution_plan]
    assert methods
    for method in methods:
        inputs = inputs_for(pte, method)
        found = outputs(rewritten, method, inputs)
        assert found
        assert bits(found) == bits(outputs(original, method, inputs))
