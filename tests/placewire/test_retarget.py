"""Retargeting moves device placements, and nothing else."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
from placewire_schema.errors import NotSupportedError
from placewire_schema.program import DeviceType, Program

from placewire.device import Device
from placewire.inspect import to_json
from placewire.placement import buffer_devices, target_device, tensor_device, tensors
from placewire.pte import PteFile
from placewire.retarget import Retargeted, retarget, retarget_file
from tests.placewire.files import file_bytes, two_gpu_program

if TYPE_CHECKING:
    from pathlib import Path

CPU = Device.parse("cpu")
FIRST, SECOND, THIRD = (Device(DeviceType.CUDA, index) for index in range(3))


def _devices(program: Program) -> tuple[list[str], list[str], list[str]]:
    """Devices of tensors, buffers and delegates of the first method."""
    plan = program.execution_plan[0]
    return (
        [str(tensor_device(tensor)) for _, tensor in tensors(plan)],
        list(map(str, buffer_devices(plan)[1:])),
        [str(target_device(delegate.compile_specs[0])) for delegate in plan.delegates],
    )


def test_tensors_buffers_and_delegates_move() -> None:
    program = two_gpu_program()
    assert retarget(program, {FIRST: THIRD}) == Retargeted(tensors=1, buffers=1, delegates=1)
    assert _devices(program) == (
        ["cpu:0", "cuda:2", "cuda:1"],
        ["cpu:0", "cuda:2", "cuda:1"],
        ["cuda:2", "cuda:1"],
    )


def test_two_devices_are_swapped_at_once() -> None:
    program = two_gpu_program()
    retarget(program, {FIRST: SECOND, SECOND: FIRST})
    assert _devices(program) == (
        ["cpu:0", "cuda:1", "cuda:0"],
        ["cpu:0", "cuda:1", "cuda:0"],
        ["cuda:1", "cuda:0"],
    )


def test_moves_do_not_chain() -> None:
    program = two_gpu_program()
    retarget(program, {FIRST: SECOND, SECOND: THIRD})
    assert _devices(program)[0] == ["cpu:0", "cuda:1", "cuda:2"]


def test_swapping_twice_gives_the_old_program() -> None:
    program = two_gpu_program()
    for _ in range(2):
        retarget(program, {FIRST: SECOND, SECOND: FIRST})
    assert program == two_gpu_program()


def test_two_devices_become_one() -> None:
    program = two_gpu_program()
    retarget(program, {FIRST: SECOND})
    assert _devices(program)[0] == ["cpu:0", "cuda:1", "cuda:1"]


def test_moving_a_device_to_itself_changes_nothing() -> None:
    program = two_gpu_program()
    assert retarget(program, {FIRST: FIRST, CPU: CPU}) == Retargeted(unmatched=(CPU,))
    assert program == two_gpu_program()


def test_nothing_else_changes(corpus: Path) -> None:
    program = PteFile.load(corpus / "dev_addmul.pte").program
    before = to_json(program).splitlines()
    result = retarget(program, {FIRST: SECOND})
    changed = [
        (old.strip(), new.strip())
        for old, new in zip(before, _without_indices(to_json(program)), strict=False)
        if old != new
    ]
    assert result.total > 0
    assert all("48" in old and "49" in new for old, new in changed), "the digit in target_device"
    assert len(changed) == result.delegates


def _without_indices(text: str) -> list[str]:
    """Lines of a JSON dump without `device_index`, which cuda:0 leaves out."""
    lines: list[str] = []
    for line in text.splitlines():
        if '"device_index"' not in line:
            lines.append(line)
        elif not line.endswith(","):
            lines[-1] = lines[-1].removesuffix(",")
    return lines


def test_a_real_file_becomes_the_one_that_was_exported_for_the_other_device(corpus: Path) -> None:
    pte = PteFile.load(corpus / "dev_add.pte")
    result = retarget_file(pte, {FIRST: SECOND})
    assert result == Retargeted(tensors=3, buffers=1, delegates=1)
    assert pte.to_bytes() == (corpus / "dev_add_cuda1.pte").read_bytes()


def test_a_move_that_matches_nothing_is_reported() -> None:
    program = two_gpu_program()
    result = retarget(program, {FIRST: SECOND, THIRD: FIRST})
    assert result.unmatched == (THIRD,)


@pytest.mark.parametrize("moves", [{CPU: FIRST}, {FIRST: CPU}, {CPU: Device.parse("cpu:1")}])
def test_the_cpu_is_refused_with_a_reason(moves: dict[Device, Device]) -> None:
    program = two_gpu_program()
    with pytest.raises(
        NotSupportedError, match=r"cannot move \S+ to \S+: .*buffers.*export it anew"
    ):
        retarget(program, {SECOND: THIRD, **moves})
    assert program == two_gpu_program(), "nothing was changed"


def test_a_target_without_an_index_means_the_first_device() -> None:
    program = two_gpu_program()
    spec = program.execution_plan[0].delegates[0].compile_specs[0]
    spec.value = b" Cuda "
    assert retarget(program, {FIRST: THIRD}).delegates == 1
    assert spec.value == b"cuda:2"


@pytest.mark.parametrize("value", [b"tpu:0", b"\xff", b"cuda:", b""])
def test_a_target_that_is_no_device_is_left_and_reported(value: bytes) -> None:
    program = two_gpu_program()
    spec = program.execution_plan[0].delegates[0].compile_specs[0]
    spec.value = value
    result = retarget(program, {FIRST: THIRD})
    assert spec.value == value
    assert result.unreadable == ("execution_plan[0].delegates[0].compile_specs[0]",)


def test_another_compile_spec_is_left() -> None:
    program = two_gpu_program()
    spec = program.execution_plan[0].delegates[0].compile_specs[0]
    spec.key = "other"
    assert retarget(program, {FIRST: THIRD}).delegates == 0
    assert spec.value == b"cuda:0"


def test_objects_that_a_program_shares_move_once() -> None:
    program = two_gpu_program()
    program.execution_plan.append(program.execution_plan[0])
    retarget(program, {FIRST: SECOND, SECOND: FIRST})
    expected = two_gpu_program()
    retarget(expected, {FIRST: SECOND, SECOND: FIRST})
    assert program.execution_plan[0] == expected.execution_plan[0]


def test_every_method_moves() -> None:
    program = two_gpu_program()
    program.execution_plan.append(copy.deepcopy(program.execution_plan[0]))
    assert retarget(program, {FIRST: THIRD}) == Retargeted(tensors=2, buffers=2, delegates=2)


def test_the_device_table_moves_along() -> None:
    pte = PteFile.from_bytes(file_bytes(two_gpu_program(), [b"", b"blob"]))
    table = pte.rebuild_device_table()
    assert table is not None
    table.devices[1].alignment = 512
    from placewire_schema import pack_device_table

    from placewire.pte import DEVICE_TABLE_KEY

    pte.named_data[DEVICE_TABLE_KEY] = pack_device_table(table)
    result = retarget_file(pte, {FIRST: THIRD})
    assert result.table_entries == 1
    moved = PteFile.from_bytes(pte.to_bytes()).device_table
    assert moved is not None
    assert [(info.device_index, info.planned_bytes, info.alignment) for info in moved.devices] == [
        (0, 16, 0),
        (1, 48, 0),
        (2, 32, 512),
    ]


def test_a_file_without_a_table_gets_none(corpus: Path) -> None:
    pte = PteFile.load(corpus / "dev_add.pte")
    retarget_file(pte, {FIRST: SECOND})
    assert pte.device_table is None
