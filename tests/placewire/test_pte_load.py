"""PteFile reads every kind of file that there is."""

from __future__ import annotations

import mmap
from typing import TYPE_CHECKING

import pytest
from placewire_schema.program import (
    BackendDelegateInlineData,
    Buffer,
    DataLocation,
    DataSegment,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    NamedData,
    Program,
    SubsegmentOffsets,
)

from placewire.pte import PteFile
from tests.placewire.files import delegate, file_bytes, header_of, tensor

if TYPE_CHECKING:
    from pathlib import Path


def _constants() -> Program:
    return Program(constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0, 16]))


@pytest.mark.parametrize("header_length", [24, 32, 40])
def test_extended_headers_of_every_length_load(header_length: int) -> None:
    data = file_bytes(_constants(), [b"A" * 20], header_length=header_length, extra=b"newer..!")
    pte = PteFile.from_bytes(data)
    assert [bytes(segment) for segment in pte.segments] == [b"A" * 20]


def test_a_file_without_a_header_loads() -> None:
    pte = PteFile.from_bytes(file_bytes(Program(), header_length=0))
    assert pte.program == Program()
    assert list(pte.segments) == []


def test_an_empty_first_segment_needs_no_header() -> None:
    program = Program(constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0]))
    data = file_bytes(program, [b""], header_length=0)
    pte = PteFile.from_bytes(data)
    assert pte.program.segments == [DataSegment()]
    assert [bytes(segment) for segment in pte.segments] == [b""]


def test_a_constant_reaches_to_the_next_one() -> None:
    pte = PteFile.from_bytes(file_bytes(_constants(), [b"A" * 16 + b"B" * 4]))
    assert [bytes(value) for value in pte.constants] == [b"", b"A" * 16, b"B" * 4]


def test_the_reserved_constant_is_empty() -> None:
    pte = PteFile.from_bytes(file_bytes(_constants(), [b"A" * 20]))
    assert bytes(pte.constants[0]) == b""


def test_a_constant_that_is_not_there_is_an_index_error() -> None:
    pte = PteFile.from_bytes(file_bytes(_constants(), [b"A" * 20]))
    with pytest.raises(IndexError, match="there is no value 3; the file has 3"):
        pte.constants[3]


def test_old_inline_constants_load() -> None:
    program = Program(constant_buffer=[Buffer(), Buffer(storage=b"12345678")])
    pte = PteFile.from_bytes(file_bytes(program, header_length=0))
    assert [bytes(value) for value in pte.constants] == [b"", b"12345678"]


def test_a_constant_segment_counts_before_inline_constants() -> None:
    program = _constants()
    program.constant_buffer = [Buffer(), Buffer(storage=b"inline")]
    pte = PteFile.from_bytes(file_bytes(program, [b"A" * 20]))
    assert bytes(pte.constants[1]) == b"A" * 16


def test_a_constant_segment_without_values_leaves_inline_constants_alone() -> None:
    program = Program(
        constant_buffer=[Buffer(), Buffer(storage=b"inline")],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0]),
    )
    pte = PteFile.from_bytes(file_bytes(program, [b""], header_length=0))
    assert bytes(pte.constants[1]) == b"inline"


def test_inline_delegate_data_loads() -> None:
    program = Program(
        execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.INLINE, 0)])],
        backend_delegate_data=[BackendDelegateInlineData(data=b"blob")],
    )
    pte = PteFile.from_bytes(file_bytes(program, header_length=0))
    assert bytes(pte.delegate_blob(pte.program.execution_plan[0].delegates[0])) == b"blob"


def test_a_delegates_blob_is_a_segment() -> None:
    program = Program(execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.SEGMENT, 1)])])
    pte = PteFile.from_bytes(file_bytes(program, [b"constants", b"blob"]))
    assert bytes(pte.delegate_blob(pte.program.execution_plan[0].delegates[0])) == b"blob"


def test_a_second_mutable_segment_is_honoured() -> None:
    value = tensor(data=1)
    value.extra_tensor_info = ExtraTensorInfo(mutable_data_segments_idx=1)
    program = Program(
        execution_plan=[ExecutionPlan(values=[EValue(val=value)])],
        mutable_data_segments=[
            SubsegmentOffsets(segment_index=0, offsets=[0, 0]),
            SubsegmentOffsets(segment_index=1, offsets=[0, 0]),
        ],
    )
    pte = PteFile.from_bytes(file_bytes(program, [b"first", b"second"]))
    assert bytes(pte.mutable_data[1][value.data_buffer_idx]) == b"second"


def test_named_data_is_found_by_its_key() -> None:
    program = Program(named_data=[NamedData(key="weights", segment_index=1)])
    pte = PteFile.from_bytes(file_bytes(program, [b"first", b"second"]))
    assert {key: bytes(data) for key, data in pte.named_data.items()} == {"weights": b"second"}


def test_a_missing_key_is_a_key_error() -> None:
    pte = PteFile.from_bytes(file_bytes(Program(), header_length=0))
    with pytest.raises(KeyError, match="weights"):
        pte.named_data["weights"]


def test_the_first_of_two_equal_keys_counts() -> None:
    entries = [NamedData(key="k", segment_index=0), NamedData(key="k", segment_index=1)]
    pte = PteFile.from_bytes(file_bytes(Program(named_data=entries), [b"first", b"second"]))
    assert bytes(pte.named_data["k"]) == b"first"
    assert len(pte.named_data) == 1


def test_data_is_not_copied() -> None:
    data = bytearray(file_bytes(_constants(), [b"A" * 20]))
    constant = PteFile.from_bytes(data).constants[1]
    data[-20] = ord("Z")
    assert constant[0] == ord("Z")


def test_writing_to_a_view_does_not_change_the_file(tmp_path: Path) -> None:
    path = tmp_path / "constants.pte"
    data = file_bytes(_constants(), [b"A" * 20])
    path.write_bytes(data)
    pte = PteFile.load(path)
    pte.constants[1][0] = ord("Z")
    assert path.read_bytes() == data
    assert pte.to_bytes() == data.replace(b"A" * 20, b"Z" + b"A" * 19)


@pytest.mark.parametrize("header_length", [0, 24, 32])
def test_what_others_write_to_the_file_does_not_reach_the_program(
    header_length: int, tmp_path: Path
) -> None:
    path = tmp_path / "changing.pte"
    program = _constants() if header_length else Program()
    data = file_bytes(program, [b"A" * 20] if header_length else [], header_length=header_length)
    path.write_bytes(data)
    pte = PteFile.load(path)
    with path.open("r+b") as file:
        file.write(b"\xff" * (header_of(data)[1] if header_length else len(data)))
    assert not pte.is_modified()
    assert pte.to_bytes() == data


def test_a_mapped_file_is_not_trusted_to_stay_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "changing.pte"
    data = file_bytes(_constants(), [b"A" * 20])
    path.write_bytes(data)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        pte = PteFile.from_bytes(mapped)
        mapped[:8] = b"\xff" * 8
        assert pte.to_bytes() == data
        del pte  # its views keep the mapping open


def test_anything_with_a_buffer_is_read() -> None:
    data = file_bytes(_constants(), [b"A" * 20])
    assert PteFile.from_bytes(memoryview(bytearray(data))).to_bytes() == data


def test_what_has_no_buffer_is_refused() -> None:
    with pytest.raises(TypeError, match="found str"):
        PteFile.from_bytes("ET12")  # type: ignore[arg-type]


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.pte"):
        PteFile.load(tmp_path / "none.pte")
