"""The file around the FlatBuffer: identifier, extended header, length."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from placewire_schema import pack_program
from placewire_schema import program as p

from placewire.validate import validate
from tests.runtime.programs import Sample, broken, complete, laid_out


@pytest.fixture
def mlp(corpus: Path) -> bytes:
    return (corpus / "mlp.pte").read_bytes()


def with_u32(data: bytes, place: int, value: int) -> bytes:
    return data[:place] + struct.pack("<I", value) + data[place + 4 :]


def with_u64(data: bytes, place: int, value: int) -> bytes:
    return data[:place] + struct.pack("<Q", value) + data[place + 8 :]


@pytest.mark.parametrize("size", range(8))
def test_fewer_than_eight_bytes_are_too_small(mlp: bytes, size: int) -> None:
    (finding,) = validate(mlp[:size])
    assert (finding.rule, finding.path, finding.offset) == ("FILE_TOO_SMALL", "", None)
    assert f"the file has {size} bytes, at least 8 are needed" in finding.message


def test_another_identifier_is_shown_beside_the_expected_one(mlp: bytes) -> None:
    (finding,) = validate(mlp[:4] + b"\x01\xffX\n" + mlp[8:])
    assert (finding.rule, finding.offset) == ("NOT_A_PROGRAM", 4)
    assert finding.message == (
        'bytes 4 to 7 are "\\x01\\xffX\\x0a", expected "ET12": this is no .pte file'
    )


def test_a_shifted_base_is_told_from_another_identifier(mlp: bytes) -> None:
    (finding,) = validate(b"\0\0\0" + mlp)
    assert (finding.rule, finding.offset) == ("BASE_SHIFTED", 7)
    assert "stands at byte 7 instead of byte 4: the data has 3 extra bytes" in finding.message


def test_bytes_lost_at_the_start_are_told_from_another_identifier(mlp: bytes) -> None:
    (finding,) = validate(mlp[4:])
    assert (finding.rule, finding.offset) == ("BASE_SHIFTED", 0)
    assert "the data lacks 4 bytes at its start" in finding.message


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"\0\0\0\0FT01\0\0\0\0", ".ptd data file"),
        (b"\0\0\0\0BP08\0\0\0\0", "bundled program"),
        (b"\0\0\0\0ED00\0\0\0\0", "ETDump"),
        (b"\0\0\0\0PWDT\0\0\0\0", "device table"),
        (b"PK\x03\x04\0\0\0\0\0\0\0\0", "zip archive"),
        (b"\x7fELF\0\0\0\0\0\0\0\0", "executable"),
    ],
)
def test_a_file_of_a_known_kind_is_named(head: bytes, what: str) -> None:
    (finding,) = validate(head)
    assert finding.rule == "NOT_A_PROGRAM"
    assert what in finding.message


def test_a_later_format_is_not_called_damage(mlp: bytes) -> None:
    (finding,) = validate(mlp[:4] + b"ET13" + mlp[8:])
    assert finding.rule == "NOT_A_PROGRAM"
    assert 'the format is "ET13", expected "ET12"' in finding.message


@pytest.mark.parametrize("size", range(12, 40))
def test_a_truncated_extended_header_is_named(mlp: bytes, size: int) -> None:
    (finding,) = validate(mlp[:size])
    assert finding.rule == "EXTENDED_HEADER_INVALID"
    assert f"the file ends after byte {size}, inside its extended header" in finding.message


def test_a_header_shorter_than_any_real_one_is_refused(mlp: bytes) -> None:
    (finding,) = validate(with_u32(mlp, 12, 23))
    assert (finding.rule, finding.offset) == ("EXTENDED_HEADER_INVALID", 12)
    assert "says it has 23 bytes, expected at least 24" in finding.message


def test_a_program_that_ends_inside_its_header_is_refused(mlp: bytes) -> None:
    (finding,) = validate(with_u64(mlp, 16, 39))
    assert (finding.rule, finding.offset) == ("EXTENDED_HEADER_INVALID", 16)
    assert "the program ends at byte 39" in finding.message


def test_a_header_longer_than_its_program_is_refused(mlp: bytes) -> None:
    (finding,) = validate(with_u32(mlp, 12, 2**32 - 1))
    assert (finding.rule, finding.offset) == ("EXTENDED_HEADER_INVALID", 16)


@pytest.mark.parametrize("size", [2**64 - 1, 2**63, 1 << 40])
def test_a_program_larger_than_the_file_is_refused(mlp: bytes, size: int) -> None:
    (finding,) = validate(with_u64(mlp, 16, size))
    assert (finding.rule, finding.offset) == ("FILE_TRUNCATED", 16)
    assert f"the program ends at byte {size}, but the file has only {len(mlp)}" in finding.message


def test_segment_data_that_cannot_be_addressed_is_refused(mlp: bytes) -> None:
    findings = validate(with_u64(mlp, 32, 2**64 - 1))
    assert broken(findings)[0] == ("EXTENDED_HEADER_INVALID", "")
    assert "cannot be addressed" in findings[0].message


def test_segment_data_inside_the_program_is_refused(mlp: bytes) -> None:
    findings = validate(with_u64(mlp, 24, 64))
    assert broken(findings)[0] == ("EXTENDED_HEADER_INVALID", "")
    assert "segment data begins at byte 64, inside the program" in findings[0].message


def test_a_file_that_lost_its_end_is_truncated(mlp: bytes) -> None:
    (finding,) = validate(mlp[:-5])
    assert finding.rule == "FILE_TRUNCATED"
    assert finding.message == (
        f"the segment data ends at byte {len(mlp)}, but the file has only {len(mlp) - 5} bytes: "
        "5 are missing; copy the file again"
    )


def test_a_file_with_bytes_behind_its_end_has_grown(mlp: bytes) -> None:
    (finding,) = validate(mlp + b"abc")
    assert (finding.rule, finding.level, finding.offset) == ("FILE_GROWN", "error", len(mlp))
    assert "remove the 3 behind it" in finding.message


@pytest.mark.parametrize("name", ["mlp", "dev_add", "cond"])
def test_every_truncation_is_an_error_of_the_length(corpus: Path, name: str) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    expected = {"FILE_TOO_SMALL", "EXTENDED_HEADER_INVALID", "FILE_TRUNCATED"}
    for size in range(len(data)):
        rules = {finding.rule for finding in validate(data[:size])}
        # Between the identifier and the header's magic only the root offset can tell.
        allowed = {"BUFFER_TOO_SMALL", "OFFSET_OUT_OF_BOUNDS"} if 8 <= size < 12 else expected
        assert len(rules) == 1, size
        assert rules <= allowed, size


@pytest.mark.parametrize("length", [24, 28])
def test_an_old_header_says_no_size_and_needs_none(length: int) -> None:
    sample = complete()
    sample.header_length = length
    assert sample.validate() == []


def test_a_longer_header_is_read_as_far_as_it_is_known() -> None:
    sample = complete()
    flatbuffer = pack_program(sample.program)
    data = bytearray(laid_out(flatbuffer, sample.area))
    # The region of the header is padded here anyway, so it may claim more of it.
    extra = 16
    (root,) = struct.unpack_from("<I", data)
    end, base = struct.unpack_from("<QQ", data, 16)
    head = struct.pack("<I", root + extra) + data[4:12]
    head += struct.pack("<IQQQ", 40, end + extra, base + 128, len(sample.area))
    program = bytes(data[40:end])
    longer = (head + b"\7" * 8 + bytes(8) + program).ljust(base + 128, b"\0") + sample.area
    assert validate(longer) == []


def test_an_old_header_whose_segments_begin_behind_the_file_hides_nothing() -> None:
    sample = complete()
    sample.header_length = 24
    data = with_u64(sample.file(), 24, 2**63)
    assert ("SEGMENT_OUT_OF_FILE", "segments[0]") in broken(validate(data))


@pytest.mark.parametrize("begin", [0, 64])
def test_an_old_header_whose_segments_begin_inside_the_program_is_refused(begin: int) -> None:
    sample = complete()
    sample.header_length = 24
    findings = validate(with_u64(sample.file(), 24, begin))
    assert broken(findings)[0] == ("EXTENDED_HEADER_INVALID", "")
    assert f"segment data begins at byte {begin}, inside the program" in findings[0].message


def test_a_program_without_segments_needs_no_header() -> None:
    plan = p.ExecutionPlan(name="forward", non_const_buffer_sizes=[0])
    program = p.Program(execution_plan=[plan], segments=[p.DataSegment()])
    assert Sample(program, header_length=0).validate() == []


def test_a_segment_without_a_header_cannot_be_found() -> None:
    sample = complete()
    sample.header_length = 0
    assert broken(sample.validate())[:3] == [
        ("SEGMENT_WITHOUT_HEADER", f"segments[{index}]") for index in range(3)
    ]
