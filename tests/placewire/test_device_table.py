"""The device table: derived from the plan, carried as named data, rebuilt by edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from placewire_schema import pack_device_table
from placewire_schema.device_info import DeviceInfo, DeviceRequirements, DeviceTable
from placewire_schema.errors import InvalidProgramError
from placewire_schema.program import (
    DataLocation,
    DeviceType,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    Program,
    ScalarType,
    TensorDataLocation,
)

from placewire.device import Device
from placewire.device_table import derive, move
from placewire.pte import DEVICE_TABLE_KEY, PteFile, check_bytes
from tests.placewire.files import delegate, file_bytes, tensor, two_gpu_program

if TYPE_CHECKING:
    from pathlib import Path

CUDA = DeviceType.CUDA


def _derived(program: Program) -> list[DeviceInfo]:
    table = derive(program)
    assert table is not None
    return table.devices


def _gpu_file() -> PteFile:
    return PteFile.from_bytes(file_bytes(two_gpu_program(), [b"", b"blob"]))


def test_planned_memory_is_counted_by_device() -> None:
    assert _derived(two_gpu_program()) == [
        DeviceInfo(planned_bytes=16, buffer_count=1),
        DeviceInfo(device_type=CUDA, device_index=0, planned_bytes=32, buffer_count=1),
        DeviceInfo(device_type=CUDA, device_index=1, planned_bytes=48, buffer_count=1),
    ]


def test_all_methods_count() -> None:
    program = two_gpu_program()
    program.execution_plan += two_gpu_program().execution_plan
    assert [(info.planned_bytes, info.buffer_count) for info in _derived(program)] == [
        (32, 2),
        (64, 2),
        (96, 2),
    ]


def test_empty_buffers_do_not_count() -> None:
    program = two_gpu_program()
    program.execution_plan[0].non_const_buffer_sizes[3] = 0
    assert _derived(program)[2].buffer_count == 0


def test_the_first_entry_for_a_buffer_counts() -> None:
    program = two_gpu_program()
    entries = program.execution_plan[0].non_const_buffer_device
    assert entries is not None
    entries.append(entries[1])
    entries[1] = type(entries[1])(buffer_idx=2, device_type=CUDA, device_index=5)
    assert [info.planned_bytes for info in _derived(program)] == [16, 32, 48]


def test_a_program_on_the_cpu_has_no_table(corpus: Path) -> None:
    assert derive(PteFile.load(corpus / "mlp.pte").program) is None


def test_a_delegate_alone_makes_a_device_used() -> None:
    plan = ExecutionPlan(delegates=[delegate(DataLocation.INLINE, 0, b"cuda:2")])
    assert _derived(Program(execution_plan=[plan])) == [
        DeviceInfo(device_type=CUDA, device_index=2),
    ]


def test_constants_count_once_per_device() -> None:
    values = [EValue(val=tensor(CUDA, 0, data=1)) for _ in range(3)]
    for value in values:
        assert hasattr(value.val, "allocation_info")
        value.val.allocation_info = None
    values[2].val.data_buffer_idx = 2  # type: ignore[union-attr]
    program = Program(execution_plan=[ExecutionPlan(values=values)])
    assert [info.constant_bytes for info in _derived(program)] == [32]


def test_initial_values_count_by_segment() -> None:
    first, second = tensor(CUDA, 0, data=1), tensor(CUDA, 0, data=1)
    assert second.extra_tensor_info is not None
    second.extra_tensor_info.mutable_data_segments_idx = 1
    values = [EValue(val=first), EValue(val=second)]
    assert _derived(Program(execution_plan=[ExecutionPlan(values=values)]))[0].constant_bytes == 32


def test_the_size_of_a_constant_depends_on_its_type() -> None:
    value = tensor(CUDA, 0, data=1)
    value.scalar_type = ScalarType.LONG
    value.sizes = [3, 5]
    program = Program(execution_plan=[ExecutionPlan(values=[EValue(val=value)])])
    assert _derived(program)[0].constant_bytes == 120


def test_data_in_another_file_does_not_count() -> None:
    value = tensor(CUDA, 0, data=1)
    value.extra_tensor_info = ExtraTensorInfo(
        device_type=CUDA, location=TensorDataLocation.EXTERNAL, fully_qualified_name="weight"
    )
    program = Program(execution_plan=[ExecutionPlan(values=[EValue(val=value)])])
    assert _derived(program)[0].constant_bytes == 0


def test_what_no_plan_holds_is_taken_over() -> None:
    requirements = DeviceRequirements(name="NVIDIA H200", minimum_memory=1 << 30)
    previous = DeviceTable(
        devices=[
            DeviceInfo(device_type=CUDA, device_index=1, alignment=512, requirements=requirements),
            DeviceInfo(device_type=CUDA, device_index=9, alignment=1024),
        ]
    )
    table = derive(two_gpu_program(), previous)
    assert table is not None
    assert [info.alignment for info in table.devices] == [0, 0, 512]
    assert table.devices[2].requirements == requirements


def test_requirements_move_along() -> None:
    requirements = DeviceRequirements(architecture="sm_90")
    table = DeviceTable(
        devices=[
            DeviceInfo(device_type=CUDA, device_index=0, requirements=requirements),
            DeviceInfo(device_type=CUDA, device_index=1, alignment=512),
        ]
    )
    first, second = Device(CUDA, 0), Device(CUDA, 1)
    swapped = move(table, {first: second, second: first})
    assert [(info.device_index, info.alignment) for info in swapped.devices] == [(0, 512), (1, 0)]
    assert swapped.devices[1].requirements == requirements


def test_where_two_devices_become_one_the_stricter_alignment_holds() -> None:
    table = DeviceTable(
        devices=[
            DeviceInfo(device_type=CUDA, device_index=0, alignment=1024),
            DeviceInfo(device_type=CUDA, device_index=1, alignment=512),
        ]
    )
    (merged,) = move(table, {Device(CUDA, 0): Device(CUDA, 1)}).devices
    assert (merged.device_index, merged.alignment) == (1, 1024)


def test_a_file_carries_no_table_unless_asked() -> None:
    pte = _gpu_file()
    pte.program.execution_plan[0].name = "renamed"
    assert pte.device_table is None
    assert PteFile.from_bytes(pte.to_bytes()).device_table is None


def test_a_table_is_added_when_asked() -> None:
    pte = _gpu_file()
    added = pte.rebuild_device_table()
    data = pte.to_bytes()
    assert check_bytes(data) == []
    again = PteFile.from_bytes(data)
    assert again.device_table == added == derive(two_gpu_program())
    assert [bytes(segment) for segment in again.segments][:2] == [b"", b"blob"]


def test_a_program_on_the_cpu_gets_no_table_even_when_asked(corpus: Path) -> None:
    pte = PteFile.load(corpus / "mlp.pte")
    assert pte.rebuild_device_table() is None
    assert not pte.is_modified()


def test_an_edit_rebuilds_the_table_that_a_file_carries() -> None:
    pte = _gpu_file()
    pte.rebuild_device_table()
    pte = PteFile.from_bytes(pte.to_bytes())
    pte.program.execution_plan[0].non_const_buffer_sizes[2] = 320
    again = PteFile.from_bytes(pte.to_bytes())
    assert again.device_table is not None
    assert [info.planned_bytes for info in again.device_table.devices] == [16, 320, 48]


def test_an_untouched_file_keeps_a_table_that_is_wrong() -> None:
    pte = _gpu_file()
    pte.named_data[DEVICE_TABLE_KEY] = pack_device_table(DeviceTable())
    data = _gpu_file_with(pack_device_table(DeviceTable()))
    assert PteFile.from_bytes(data).to_bytes() == data


def test_a_damaged_table_is_named() -> None:
    pte = PteFile.from_bytes(_gpu_file_with(b"PWDT, but not really"))
    with pytest.raises(InvalidProgramError, match=r"^named data 'placewire\.device_table': "):
        pte.device_table  # noqa: B018


def test_a_file_with_a_damaged_table_can_be_saved_without_it() -> None:
    pte = PteFile.from_bytes(_gpu_file_with(b"PWDT, but not really"))
    pte.program.execution_plan[0].name = "renamed"
    with pytest.raises(InvalidProgramError, match="device_table"):
        pte.to_bytes()
    del pte.named_data[DEVICE_TABLE_KEY]
    assert PteFile.from_bytes(pte.to_bytes()).device_table is None


def _gpu_file_with(table: bytes) -> bytes:
    from placewire_schema.program import NamedData

    program = two_gpu_program()
    program.named_data = [NamedData(key=DEVICE_TABLE_KEY, segment_index=2)]
    return file_bytes(program, [b"", b"blob", table])
