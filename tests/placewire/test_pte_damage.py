"""A damaged file gets an error that says what was found, what was expected, and where."""

from __future__ import annotations

import contextlib
import random
import re
from typing import TYPE_CHECKING

import pytest
from placewire_schema import CodecError, pack_program
from placewire_schema.errors import InvalidProgramError, PlacewireError
from placewire_schema.program import (
    DataLocation,
    DataSegment,
    ExecutionPlan,
    NamedData,
    Program,
    SubsegmentOffsets,
)

from placewire.pte import PteFile, check_bytes
from tests.placewire.files import delegate, file_bytes, header_of, with_area, with_u32, with_u64

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM_SIZE, SEGMENT_BASE, DATA_SIZE = 16, 24, 32
"""Positions of the header's numbers."""


def _good(header_length: int = 32) -> bytes:
    program = Program(constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0]))
    return file_bytes(program, [b"A" * 20], header_length=header_length)


def _message(data: bytes) -> str:
    """The error of loading a file; the check must report the same."""
    with pytest.raises(InvalidProgramError) as caught:
        PteFile.from_bytes(data)
    findings = check_bytes(data)
    assert findings
    assert findings[0].message in str(caught.value)
    return str(caught.value)


def test_the_error_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="empty"):
        PteFile.from_bytes(b"")


def test_the_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cut.pte"
    path.write_bytes(_good()[:-1])
    with pytest.raises(InvalidProgramError, match=f"^{re.escape(str(path))}: the segment data"):
        PteFile.load(path)


def test_an_empty_file_is_named_so() -> None:
    assert _message(b"") == (
        "the file has 0 bytes, at least 8 are needed for the head of a program: it is empty or was "
        "cut short [FILE_TOO_SMALL]"
    )


def test_a_file_shorter_than_its_identifier_is_named_so() -> None:
    assert _message(_good()[:7]).startswith("the file has 7 bytes, ")


def test_a_file_too_small_for_any_program_is_named_so() -> None:
    assert _message(pack_program(Program())[:11]) == (
        "the buffer has 11 bytes, at least 12 are needed [BUFFER_TOO_SMALL, byte 0]"
    )


def test_another_kind_of_file_is_named_so() -> None:
    assert _message(b"PK\3\4" + b"zip file" * 20) == (
        'bytes 4 to 7 are "zip ", expected "ET12": this is a zip archive, such as a .pt or .pt2 '
        "file; export it first [NOT_A_PROGRAM, byte 4]"
    )


def test_bytes_before_the_program_are_counted() -> None:
    assert _message(b"\0" * 16 + _good()) == (
        'the identifier "ET12" stands at byte 20 instead of byte 4: the data has 16 extra bytes at '
        "its start; pass it from there on [BASE_SHIFTED, byte 20]"
    )


def test_bytes_missing_before_the_identifier_are_counted() -> None:
    assert _message(_good()[3:]) == (
        'the identifier "ET12" stands at byte 1 instead of byte 4: the data lacks 3 bytes at its '
        "start; pass all of the file [BASE_SHIFTED, byte 1]"
    )


def test_a_header_that_is_too_short_is_refused() -> None:
    assert _message(with_u32(_good(), 12, 23)) == (
        "the extended header says it has 23 bytes, expected at least 24: the file is damaged "
        "[EXTENDED_HEADER_INVALID, byte 12]"
    )


def test_a_truncated_header_names_where_it_ends() -> None:
    assert _message(_good()[:39]) == (
        "the file ends after byte 39, inside its extended header of 32 bytes: it was cut short; "
        "copy it again [EXTENDED_HEADER_INVALID, byte 8]"
    )


def test_a_header_longer_than_the_file_is_refused() -> None:
    data = _good()
    _, program_size, _, _ = header_of(data)
    assert _message(with_u32(data, 12, 0xFFFFFFFF)) == (
        f"the program ends at byte {program_size}, but its extended header reaches to byte "
        f"{8 + 0xFFFFFFFF}: the file is damaged [EXTENDED_HEADER_INVALID, byte 16]"
    )


def test_a_program_that_ends_inside_the_header_is_refused() -> None:
    assert _message(with_u64(_good(), PROGRAM_SIZE, 39)) == (
        "the program ends at byte 39, but its extended header reaches to byte 40: the file is "
        "damaged [EXTENDED_HEADER_INVALID, byte 16]"
    )


def test_a_program_that_is_cut_short_says_how_much_is_missing() -> None:
    data = _good()
    _, program_size, _, _ = header_of(data)
    assert _message(data[:100]) == (
        f"the program ends at byte {program_size}, but the file has only 100 bytes: "
        f"{program_size - 100} are missing; copy the file again [FILE_TRUNCATED, byte 16]"
    )


def test_segment_data_that_is_cut_short_says_how_much_is_missing() -> None:
    data = _good()
    assert _message(data[:-5]) == (
        f"the segment data ends at byte {len(data)}, but the file has only {len(data) - 5} bytes: "
        f"5 are missing; copy the file again [FILE_TRUNCATED, byte {len(data) - 5}]"
    )


@pytest.mark.parametrize("header_length", [24, 32])
def test_a_file_that_has_grown_says_by_how_much(header_length: int) -> None:
    data = _good(header_length)
    message = _message(data + b"12345")
    assert f" ends at byte {len(data)}, but the file has {len(data) + 5} bytes: " in message
    assert message.endswith(f"remove the 5 behind it [FILE_GROWN, byte {len(data)}]")


def test_with_a_short_header_the_segment_that_is_cut_is_named() -> None:
    assert _message(_good(header_length=24)[:-5]).startswith(
        "segments[0]: the segment has 20 bytes from 0 on, but there are only 15 bytes of segment "
        "data: the file is damaged or was cut short [SEGMENT_OUT_OF_FILE, "
    )


def test_a_short_header_allows_padding_before_an_empty_last_segment() -> None:
    data = file_bytes(Program(), [b"A" * 20, b""], header_length=24)
    assert check_bytes(data) == []
    assert PteFile.from_bytes(data).to_bytes() == data


def test_segments_that_overlap_are_refused() -> None:
    segments = [DataSegment(size=100), DataSegment(offset=50, size=50)]
    assert _message(with_area(Program(segments=segments), b"A" * 100)).startswith(
        "segments[1]: the segment begins 50 bytes into segments[0], which has 100 "
    )


def test_segments_in_any_order_are_read() -> None:
    segments = [DataSegment(offset=50, size=50), DataSegment(size=50)]
    data = with_area(Program(segments=segments), b"A" * 50 + b"B" * 50)
    (finding,) = check_bytes(data)
    assert (finding.rule, finding.level) == ("SEGMENTS_UNORDERED", "warning")
    assert [bytes(segment) for segment in PteFile.from_bytes(data).segments] == [
        b"B" * 50,
        b"A" * 50,
    ]


def test_an_empty_segment_may_lie_anywhere() -> None:
    segments = [DataSegment(size=20), DataSegment(offset=2**60)]
    data = with_area(Program(segments=segments), b"A" * 20)
    assert check_bytes(data) == []
    pte = PteFile.from_bytes(data)
    assert [bytes(segment) for segment in pte.segments] == [b"A" * 20, b""]
    pte.program.version = 1
    pte.named_data["new"] = b"new"
    again = PteFile.from_bytes(pte.to_bytes())
    assert [bytes(segment) for segment in again.segments] == [b"A" * 20, b"", b"new"]


def test_a_segment_base_inside_the_program_is_refused() -> None:
    data = _good()
    _, program_size, _, _ = header_of(data)
    assert _message(with_u64(data, SEGMENT_BASE, 64)) == (
        f"segment data begins at byte 64, inside the program that ends at byte {program_size}: the "
        "file is damaged [EXTENDED_HEADER_INVALID, byte 24]"
    )


def test_a_segment_base_of_zero_is_refused_if_there_are_segments() -> None:
    data = with_u64(_good(header_length=24), SEGMENT_BASE, 0)
    assert _message(data).startswith("segment data begins at byte 0, inside the program")


def test_a_segment_base_near_the_end_of_64_bits_does_not_overflow() -> None:
    assert _message(with_u64(_good(), SEGMENT_BASE, 2**64 - 1)).startswith(
        "segment data from byte 18446744073709551615 with 20 bytes cannot be addressed"
    )


def test_segment_data_near_the_end_of_64_bits_does_not_overflow() -> None:
    assert "with 18446744073709551615 bytes cannot be addressed" in _message(
        with_u64(_good(), DATA_SIZE, 2**64 - 1)
    )


def test_a_damaged_magic_is_shown_beside_the_expected_one() -> None:
    data = bytearray(_good())
    data[8] = ord("x")
    assert _message(bytes(data)).startswith(
        "segments[0]: the segment has 20 bytes, but no extended header says where segments begin: "
        'bytes 8 to 11 are "xh00", expected "eh00"; '
    )


@pytest.mark.parametrize("offset", [1, 2**32 + 16, 2**64 - 1])
def test_a_segment_outside_the_data_is_named(offset: int) -> None:
    segments = [DataSegment(size=5), DataSegment(offset=offset, size=200)]
    assert _message(with_area(Program(segments=segments), b"A" * 134)).startswith(
        f"segments[1]: the segment has 200 bytes from {offset} on, but there are only 134 bytes of "
        "segment data"
    )


def test_every_segment_outside_the_data_is_found() -> None:
    segments = [DataSegment(size=500), DataSegment(size=1), DataSegment(offset=200, size=1)]
    findings = check_bytes(with_area(Program(segments=segments), b"A" * 134))
    assert [(finding.rule, finding.path) for finding in findings] == [
        ("SEGMENT_OUT_OF_FILE", "segments[0]"),
        ("SEGMENT_OUT_OF_FILE", "segments[2]"),
    ]


def test_a_delegate_of_a_missing_segment_is_named() -> None:
    program = Program(execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.SEGMENT, 7)])])
    pte = PteFile.from_bytes(file_bytes(program, [b"one"]))
    with pytest.raises(InvalidProgramError, match=r"^delegate 'demo': .* segment 7, but .* 1 seg"):
        pte.delegate_blob(pte.program.execution_plan[0].delegates[0])


def test_a_delegate_of_missing_inline_data_is_named() -> None:
    program = Program(execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.INLINE, 7)])])
    pte = PteFile.from_bytes(file_bytes(program, header_length=0))
    with pytest.raises(InvalidProgramError, match=r"^delegate 'demo': .* inline data 7, but .* 0"):
        pte.delegate_blob(pte.program.execution_plan[0].delegates[0])


def test_named_data_of_a_missing_segment_is_named() -> None:
    program = Program(named_data=[NamedData(key="k", segment_index=9)])
    pte = PteFile.from_bytes(file_bytes(program, [b"one"]))
    with pytest.raises(InvalidProgramError, match=r"^named data 'k': refers to segment 9, but"):
        pte.named_data["k"]


def test_a_constant_behind_its_segment_is_named() -> None:
    program = Program(constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0, 999]))
    pte = PteFile.from_bytes(file_bytes(program, [b"A" * 20]))
    assert bytes(pte.constants[1]) == b"A" * 20
    with pytest.raises(InvalidProgramError, match=r"constant_segment\.offsets\[2\]: .* byte 999"):
        pte.constants[2]


def test_constants_in_a_missing_segment_are_named() -> None:
    program = Program(constant_segment=SubsegmentOffsets(segment_index=4, offsets=[0, 0]))
    pte = PteFile.from_bytes(file_bytes(program, [b"A" * 20]))
    with pytest.raises(InvalidProgramError, match=r"^constant_segment: refers to segment 4, but"):
        len(pte.constants)


@pytest.mark.parametrize("name", ["dev_add", "cond", "scalars_in"])
def test_every_truncation_of_a_real_file_is_explained(corpus: Path, name: str) -> None:
    data = (corpus / f"{name}.pte").read_bytes()
    assert check_bytes(data) == []
    for size in range(len(data)):
        # Between the identifier and the header's magic only the FlatBuffer's root can tell.
        subject = "buffer" if 8 <= size < 12 else "file"
        found = (
            rf"the {subject} (has|has only|ends after byte) {size}\b|leads to byte \d+ of {size} "
        )
        assert re.search(found, _message(data[:size])), size


@pytest.mark.parametrize("name", ["dev_add", "xnnpack_mlp", "kv_names"])
def test_no_mutation_of_a_real_file_raises_anything_else(corpus: Path, name: str) -> None:
    original = (corpus / f"{name}.pte").read_bytes()
    _, program_size, _, _ = header_of(original)
    generator = random.Random(name)
    outcomes = {"refused": 0, "read": 0}
    for _ in range(1000):
        data = bytearray(original)
        for _ in range(generator.randint(1, 4)):
            # Nothing depends on the segments' bytes.
            data[generator.randrange(program_size)] = generator.choice((0, 1, 0x7F, 0x80, 0xFF))
        outcomes[_outcome(bytes(data))] += 1
    assert min(outcomes.values()) > 50, outcomes


def _outcome(data: bytes) -> str:
    """Read a file in every way; a fault of ours raises something unexpected."""
    findings = check_bytes(data)
    try:
        pte = PteFile.from_bytes(data)
    except (PlacewireError, CodecError):
        assert findings
        return "refused"
    for read in (_read_constants, _read_named_data, _read_blobs):
        with contextlib.suppress(PlacewireError, CodecError):
            read(pte)
    assert pte.to_bytes() == data
    return "read"


def _read_constants(pte: PteFile) -> None:
    for values in (pte.constants, *pte.mutable_data):
        assert len(list(values)) == len(values)


def _read_named_data(pte: PteFile) -> None:
    assert len(list(pte.named_data.values())) == len(pte.named_data)


def _read_blobs(pte: PteFile) -> None:
    for plan in pte.program.execution_plan:
        for delegate_ in plan.delegates:
            assert len(pte.delegate_blob(delegate_)) <= pte.size
