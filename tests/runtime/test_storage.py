"""Segments, and the lists that refer to them."""

from __future__ import annotations

import pytest
from placewire_schema import program as p

from tests.runtime.programs import broken, complete


def test_the_only_known_version_is_zero() -> None:
    sample = complete()
    sample.program.version = 3
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("VERSION_UNSUPPORTED", "version")
    assert "the schema version is 3, this reader knows up to 0" in finding.message


@pytest.mark.parametrize(
    ("offset", "size"),
    [(1 << 40, 1), (0, 1 << 40), (2**64 - 1, 2), (1, 2**64 - 1), (2**64 - 16, 16)],
)
def test_a_segment_outside_the_file_is_refused_without_overflow(offset: int, size: int) -> None:
    sample = complete()
    sample.program.segments.append(p.DataSegment(offset, size))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("SEGMENT_OUT_OF_FILE", "segments[3]")
    assert f"the segment has {size} bytes from {offset} on" in finding.message


def test_an_empty_segment_may_be_anywhere() -> None:
    sample = complete()
    sample.program.segments.append(p.DataSegment(2**64 - 1, 0))
    assert sample.validate() == []


def test_segments_that_share_bytes_are_refused() -> None:
    sample = complete()
    sample.program.segments.append(p.DataSegment(264, 8))
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("SEGMENTS_OVERLAP", "segments[3]")
    assert "begins 8 bytes into segments[2]" in finding.message


def test_a_segment_that_spans_several_overlaps_each_of_them() -> None:
    sample = complete()
    sample.program.segments[0].size = 260
    assert broken(sample.validate()) == [
        ("SEGMENTS_OVERLAP", "segments[1]"),
        ("SEGMENTS_OVERLAP", "segments[2]"),
    ]


def test_segments_out_of_order_are_warned_of() -> None:
    sample = complete()
    sample.area += bytes(128)
    sample.program.segments += [p.DataSegment(len(sample.area), 8), p.DataSegment(144, 8)]
    sample.area += bytes(8)
    findings = sample.validate()
    assert broken(findings) == [("SEGMENTS_UNORDERED", "segments[4]")]
    assert findings[0].level == "warning"


def test_constants_in_a_segment_that_is_not_there_are_refused() -> None:
    sample = complete()
    assert sample.program.constant_segment is not None
    sample.program.constant_segment.segment_index = 9
    (finding,) = sample.validate()
    assert finding.rule == "SEGMENT_INDEX_OUT_OF_RANGE"
    assert finding.path == "constant_segment.segment_index"
    assert "there is no segment 9, the program lists 3" in finding.message


def test_mutable_data_in_a_segment_that_is_not_there_is_refused() -> None:
    sample = complete()
    assert sample.program.mutable_data_segments is not None
    sample.program.mutable_data_segments[1].segment_index = 3
    assert broken(sample.validate()) == [
        ("SEGMENT_INDEX_OUT_OF_RANGE", "mutable_data_segments[1].segment_index")
    ]


def test_named_data_in_a_segment_that_is_not_there_is_refused() -> None:
    sample = complete()
    assert sample.program.named_data is not None
    sample.program.named_data.append(p.NamedData("weights", 2**32 - 1))
    assert broken(sample.validate()) == [
        ("SEGMENT_INDEX_OUT_OF_RANGE", "named_data[1].segment_index")
    ]


def test_a_delegate_whose_segment_is_not_there_is_refused() -> None:
    sample = complete()
    blob = p.BackendDelegateDataReference(p.DataLocation.SEGMENT, 3)
    sample.plan.delegates[0].processed = blob
    assert broken(sample.validate()) == [
        ("SEGMENT_INDEX_OUT_OF_RANGE", "execution_plan[0].delegates[0].processed.index")
    ]


def test_a_constant_that_begins_behind_its_segment_is_refused() -> None:
    sample = complete()
    assert sample.program.constant_segment is not None
    sample.program.constant_segment.offsets = [0, 2**64 - 1]
    assert broken(sample.validate()) == [
        ("SUBSEGMENT_OUT_OF_SEGMENT", "constant_segment.offsets[1]")
    ]


def test_two_entries_of_named_data_with_one_key_are_refused() -> None:
    sample = complete()
    assert sample.program.named_data is not None
    sample.program.named_data += [p.NamedData("a", 1), p.NamedData("b", 1), p.NamedData("a", 1)]
    (finding,) = sample.validate()
    assert (finding.rule, finding.path) == ("DUPLICATE_NAMED_DATA", "named_data[3].key")
    assert 'the key "a" is that of named_data[1] already' in finding.message


def test_every_repetition_of_a_key_is_reported() -> None:
    sample = complete()
    assert sample.program.named_data is not None
    sample.program.named_data += [p.NamedData("a", 1) for _ in range(4)]
    assert broken(sample.validate()) == [
        ("DUPLICATE_NAMED_DATA", f"named_data[{index}].key") for index in (2, 3, 4)
    ]


def test_constants_in_two_places_are_warned_of() -> None:
    sample = complete()
    sample.program.constant_buffer.append(p.Buffer(bytes(16)))
    findings = sample.validate()
    assert broken(findings) == [("CONSTANTS_STORED_TWICE", "constant_buffer")]
    assert findings[0].level == "warning"
