"""Adding, replacing and removing named data."""

from __future__ import annotations

import pytest
from placewire_schema.program import (
    DataLocation,
    DataSegment,
    ExecutionPlan,
    NamedData,
    Program,
    SubsegmentOffsets,
)

from placewire.pte import PteFile, check_bytes
from tests.placewire.files import delegate, file_bytes, header_of


def _file(*, gap: bytes = b"\0", trailing: bytes = b"", segment_alignment: int = 128) -> PteFile:
    """Constants in segment 0, `first` in 1, `last` in 2."""
    program = Program(
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0]),
        named_data=[
            NamedData(key="first", segment_index=1),
            NamedData(key="last", segment_index=2),
        ],
    )
    contents = [b"A" * 20, b"B" * 200, b"C" * 7]
    return PteFile.from_bytes(
        file_bytes(
            program, contents, gap=gap, trailing=trailing, segment_alignment=segment_alignment
        )
    )


def _written(pte: PteFile) -> PteFile:
    data = pte.to_bytes()
    assert check_bytes(data) == []
    return PteFile.from_bytes(data)


def _contents(pte: PteFile) -> dict[str, bytes]:
    return {key: bytes(data) for key, data in pte.named_data.items()}


def test_a_new_key_is_added_behind_everything() -> None:
    pte = _file()
    pte.named_data["new"] = b"D" * 5
    again = _written(pte)
    assert _contents(again) == {"first": b"B" * 200, "last": b"C" * 7, "new": b"D" * 5}
    assert again.program.segments[:3] == _file().program.segments
    assert again.program.segments[3] == DataSegment(offset=512, size=5)


def test_the_first_key_of_a_file_creates_the_list() -> None:
    pte = PteFile.from_bytes(file_bytes(Program(), header_length=0))
    assert pte.program.named_data is None
    pte.named_data["new"] = b"data"
    data = pte.to_bytes()
    assert header_of(data)[0] == 32
    assert _contents(PteFile.from_bytes(data)) == {"new": b"data"}


def test_adding_and_removing_gives_the_old_file() -> None:
    pte = _file(gap=b"x", trailing=b"tail")
    before = pte.to_bytes()
    pte.named_data["new"] = b"data"
    assert pte.is_modified()
    del pte.named_data["new"]
    assert not pte.is_modified()
    assert pte.to_bytes() == before


def test_replacing_with_as_many_bytes_is_an_edit() -> None:
    pte = _file()
    pte.named_data["first"] = b"Z" * 200
    assert pte.is_modified()
    assert _contents(_written(pte)) == {"first": b"Z" * 200, "last": b"C" * 7}


def test_what_lies_before_a_replaced_segment_stays_as_it_was() -> None:
    pte = _file(gap=b"x")
    pte.named_data["last"] = b"longer than it was before"
    data = pte.to_bytes()
    base = header_of(data)[2]
    assert data[base:].startswith(b"A" * 20 + b"x" * 108 + b"B" * 200)


def test_what_lies_behind_a_shorter_segment_moves_up() -> None:
    pte = _file()
    pte.named_data["first"] = b"short"
    again = _written(pte)
    assert _contents(again) == {"first": b"short", "last": b"C" * 7}
    assert [segment.offset for segment in again.program.segments] == [0, 128, 256]


def test_what_lies_behind_a_longer_segment_moves_down() -> None:
    pte = _file()
    pte.named_data["first"] = b"Z" * 300
    again = _written(pte)
    assert _contents(again) == {"first": b"Z" * 300, "last": b"C" * 7}
    assert [segment.offset for segment in again.program.segments] == [0, 128, 512]


def test_a_segment_that_moves_keeps_its_alignment() -> None:
    pte = _file(segment_alignment=4096)
    pte.named_data["first"] = b"Z" * 5000
    data = pte.to_bytes()
    first, second, third = PteFile.from_bytes(data).program.segments
    assert (first.offset, second.offset) == (0, 4096)
    assert third.offset > 4096 + 5000
    assert third.offset % 4096 == 0
    assert header_of(data)[2] % 4096 == 0


def test_removing_the_last_segment_shortens_the_file() -> None:
    pte = _file()
    del pte.named_data["last"]
    again = _written(pte)
    assert _contents(again) == {"first": b"B" * 200}
    assert len(again.segments) == 2
    assert header_of(pte.to_bytes())[3] == 128 + 200


def test_removing_an_earlier_segment_changes_no_index() -> None:
    pte = _file()
    del pte.named_data["first"]
    again = _written(pte)
    assert _contents(again) == {"last": b"C" * 7}
    assert [bytes(segment) for segment in again.segments] == [b"A" * 20, b"", b"C" * 7]


def test_removing_the_last_key_removes_the_list() -> None:
    pte = _file()
    pte.named_data.clear()
    again = _written(pte)
    assert again.program.named_data is None
    assert bytes(again.segments[0]) == b"A" * 20


def test_a_segment_that_a_delegate_shares_stays_for_it() -> None:
    program = Program(
        execution_plan=[ExecutionPlan(delegates=[delegate(DataLocation.SEGMENT, 0)])],
        named_data=[NamedData(key="shared", segment_index=0)],
    )
    pte = PteFile.from_bytes(file_bytes(program, [b"blob"]))
    pte.named_data["shared"] = b"other"
    again = _written(pte)
    assert bytes(again.delegate_blob(again.program.execution_plan[0].delegates[0])) == b"blob"
    assert _contents(again) == {"shared": b"other"}


def test_a_segment_that_two_keys_share_is_removed_with_the_second() -> None:
    entries = [NamedData(key="one", segment_index=0), NamedData(key="two", segment_index=0)]
    pte = PteFile.from_bytes(file_bytes(Program(named_data=entries), [b"shared"]))
    del pte.named_data["one"]
    assert _contents(_written(pte)) == {"two": b"shared"}
    del pte.named_data["two"]
    assert list(_written(pte).segments) == []


def test_segments_lie_in_the_order_of_their_indices_after_any_edit() -> None:
    entries = [NamedData(key="one", segment_index=1), NamedData(key="two", segment_index=2)]
    data = file_bytes(Program(named_data=entries), [b"0", b"1", b""], segment_alignment=1)
    pte = PteFile.from_bytes(data)
    del pte.named_data["one"]
    pte.named_data["one"] = b"new"
    pte.named_data["two"] = b"2"
    assert check_bytes(pte.to_bytes()) == []


def test_a_buffer_of_any_type_is_stored_as_bytes() -> None:
    from array import array

    pte = _file()
    pte.named_data["numbers"] = array("I", [1, 2])
    assert _contents(_written(pte))["numbers"] == array("I", [1, 2]).tobytes()


def test_what_is_not_a_buffer_changes_nothing() -> None:
    pte = _file()
    with pytest.raises(TypeError, match="expected bytes or another contiguous buffer, found str"):
        pte.named_data["first"] = "text"  # type: ignore[assignment]
    assert not pte.is_modified()


def test_a_key_that_is_not_a_string_is_refused() -> None:
    with pytest.raises(TypeError, match="the key of named data is a string, found int"):
        _file().named_data[1] = b"data"  # type: ignore[index]


def test_removing_a_key_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="other"):
        del _file().named_data["other"]
