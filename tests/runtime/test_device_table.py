"""The device table: whether it can be read, and agrees with the methods."""

from __future__ import annotations

import struct
from copy import deepcopy

import pytest
from placewire_schema import pack_device_table
from placewire_schema import program as p
from placewire_schema.device_info import DeviceInfo, DeviceTable

from placewire.validate import validate
from tests.runtime.programs import Sample, broken, complete, cuda_info

CPU_INFO = DeviceInfo(planned_bytes=32, buffer_count=1)
CUDA_INFO = cuda_info(16)


def with_table(*devices: DeviceInfo) -> Sample:
    """The complete program with another device table."""
    return with_bytes(pack_device_table(DeviceTable(list(devices))))


def with_bytes(table: bytes) -> Sample:
    sample = complete()
    sample.area = sample.area[:256] + table
    sample.program.segments[2].size = len(table)
    return sample


def test_the_table_that_agrees_has_no_finding() -> None:
    assert with_table(CPU_INFO, CUDA_INFO).validate() == []


def test_a_device_that_is_missing_is_named() -> None:
    (finding,) = with_table(CPU_INFO).validate()
    assert (finding.rule, finding.path) == ("DEVICE_TABLE_INCOMPLETE", "device_table.devices")
    assert finding.message == "the program uses cuda:0, which the table lacks: rebuild the table"


def test_a_device_that_nothing_is_on_is_refused() -> None:
    (finding,) = with_table(CPU_INFO, CUDA_INFO, cuda_info(16, 1)).validate()
    assert (finding.rule, finding.path) == (
        "DEVICE_TABLE_UNUSED_DEVICE",
        "device_table.devices[2]",
    )
    assert "nothing in the program is on cuda:1" in finding.message


@pytest.mark.parametrize(
    ("field", "found", "expected"),
    [("planned_bytes", 17, 16), ("buffer_count", 0, 1), ("constant_bytes", 8, 0)],
)
def test_a_number_that_disagrees_with_the_methods_is_refused(
    field: str, found: int, expected: int
) -> None:
    info = deepcopy(CUDA_INFO)
    setattr(info, field, found)
    (finding,) = with_table(CPU_INFO, info).validate()
    assert (finding.rule, finding.path) == (
        "DEVICE_TABLE_DISAGREES",
        f"device_table.devices[1].{field}",
    )
    assert finding.message == (
        f"the table says {found}, the methods add up to {expected}: rebuild the table"
    )


def test_buffers_are_added_up_over_all_methods() -> None:
    sample = with_table(
        DeviceInfo(planned_bytes=64, buffer_count=2),
        DeviceInfo(p.DeviceType.CUDA, 0, 32, 2),
    )
    second = deepcopy(sample.plan)
    second.name = "second"
    sample.program.execution_plan.append(second)
    assert sample.validate() == []


def test_an_initial_value_on_a_device_counts_once_however_many_tensors_share_it() -> None:
    info = deepcopy(CUDA_INFO)
    info.constant_bytes = 16
    sample = with_table(CPU_INFO, info)
    shared = sample.tensor(2)
    shared.data_buffer_idx = 1
    assert shared.extra_tensor_info is not None
    shared.extra_tensor_info.mutable_data_segments_idx = 1
    sample.plan.values[10].val = deepcopy(shared)
    assert sample.validate() == []


def test_a_device_that_stands_twice_is_refused() -> None:
    (finding,) = with_table(CPU_INFO, CUDA_INFO, CUDA_INFO).validate()
    assert (finding.rule, finding.path) == ("DUPLICATE_DEVICE", "device_table.devices[2]")


def test_devices_out_of_order_are_warned_of() -> None:
    findings = with_table(CUDA_INFO, CPU_INFO).validate()
    assert broken(findings) == [("DEVICES_UNORDERED", "device_table.devices[1]")]
    assert findings[0].level == "warning"


def test_a_negative_index_is_refused() -> None:
    rules = broken(with_table(CPU_INFO, CUDA_INFO, cuda_info(0, -1)).validate())
    assert ("DEVICE_INDEX_NEGATIVE", "device_table.devices[2].device_index") in rules


def test_a_table_with_another_identifier_is_refused() -> None:
    table = pack_device_table(DeviceTable([CPU_INFO, CUDA_INFO]))
    (finding,) = with_bytes(table[:4] + b"ET12" + table[8:]).validate()
    assert (finding.rule, finding.path) == ("WRONG_IDENTIFIER", "device_table")
    assert finding.message == 'the file identifier is "ET12", expected "PWDT"'


def test_offsets_in_the_table_count_from_the_start_of_the_file() -> None:
    table = bytearray(pack_device_table(DeviceTable([CPU_INFO, CUDA_INFO])))
    struct.pack_into("<I", table, 0, 0x7FFFFFFF)
    sample = with_bytes(bytes(table))
    (finding,) = sample.validate()
    assert finding.rule == "OFFSET_OUT_OF_BOUNDS"
    assert finding.offset == sample.file().index(bytes(table))


@pytest.mark.parametrize("size", [0, 1, 7, 11])
def test_a_table_that_is_cut_short_is_refused(size: int) -> None:
    table = pack_device_table(DeviceTable([CPU_INFO]))[:size]
    (finding,) = with_bytes(table).validate()
    assert (finding.rule, finding.path) == ("BUFFER_TOO_SMALL", "device_table")


def test_what_the_schema_does_not_know_in_the_table_is_reported() -> None:
    table = bytearray(pack_device_table(DeviceTable([CPU_INFO, CUDA_INFO])))
    place = next(i for i, byte in enumerate(table) if byte == 1 and is_device_type(table, i))
    table[place] = 9
    findings = with_bytes(bytes(table)).validate()
    assert broken(findings)[0] == (
        "UNKNOWN_ENUM_VALUE",
        "device_table.devices[1].device_type",
    )


def is_device_type(table: bytearray, place: int) -> bool:
    """Whether the byte at a place is the device type of the second device."""
    changed = bytearray(table)
    changed[place] = 9
    rules = [finding.rule for finding in with_bytes(bytes(changed)).validate()]
    return rules[:1] == ["UNKNOWN_ENUM_VALUE"]


def test_a_table_behind_the_end_of_a_truncated_file_is_not_read() -> None:
    assert broken(validate(complete().file()[:-1])) == [("FILE_TRUNCATED", "")]
