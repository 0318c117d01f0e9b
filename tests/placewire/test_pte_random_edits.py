"""Any sequence of edits gives a sound file that holds what a dictionary would hold."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
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

KEYS = st.sampled_from(["a", "b", "c", "d"])
CONTENTS = st.binary(max_size=300)

EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, CONTENTS),
        st.tuples(st.just("delete"), KEYS, st.just(b"")),
        st.tuples(st.just("rename"), KEYS, st.just(b"")),
        st.tuples(st.just("write"), KEYS, st.just(b"")),
    ),
    max_size=8,
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, dict[str, bytes]]:
    """A file in any layout, and its named data."""
    named = draw(st.dictionaries(KEYS, CONTENTS, max_size=3))
    contents = [b"constants", b"blob", *named.values()]
    program = Program(
        execution_plan=[
            ExecutionPlan(name="forward", delegates=[delegate(DataLocation.SEGMENT, 1)])
        ],
        constant_segment=SubsegmentOffsets(segment_index=0, offsets=[0, 0]),
        named_data=[
            NamedData(key=key, segment_index=index) for index, key in enumerate(named, start=2)
        ]
        or None,
    )
    data = file_bytes(
        program,
        contents,
        header_length=draw(st.sampled_from([24, 32, 40])),
        segment_alignment=draw(st.sampled_from([1, 16, 128, 4096])),
        gap=draw(st.sampled_from([b"\0", b"x"])),
        extra=b"unknown!",
    )
    return data, named


def _apply(pte: PteFile, expected: dict[str, bytes], edit: tuple[str, str, bytes]) -> PteFile:
    action, key, content = edit
    if action == "set":
        pte.named_data[key] = content
        expected[key] = content
    elif action == "delete":
        pte.named_data.pop(key, None)
        expected.pop(key, None)
    elif action == "rename":
        pte.program.execution_plan[0].name += key
    else:
        pte = PteFile.from_bytes(pte.to_bytes())
    return pte


@settings(deadline=None)
@given(files(), EDITS)
def test_edits_are_what_they_seem(
    file: tuple[bytes, dict[str, bytes]], edits: list[tuple[str, str, bytes]]
) -> None:
    original, expected = file
    pte = PteFile.from_bytes(original)
    for edit in edits:
        pte = _apply(pte, expected, edit)
    data = pte.to_bytes()
    assert check_bytes(data) == []
    again = PteFile.from_bytes(data)
    assert {key: bytes(value) for key, value in again.named_data.items()} == expected
    assert bytes(again.segments[0]) == b"constants"
    assert bytes(again.delegate_blob(again.program.execution_plan[0].delegates[0])) == b"blob"
    assert again.program == pte.program


@settings(deadline=None)
@given(files())
def test_the_first_segments_never_move(file: tuple[bytes, dict[str, bytes]]) -> None:
    original, _ = file
    pte = PteFile.from_bytes(original)
    before = pte.program.segments[:2]
    pte.named_data["new"] = b"new"
    data = pte.to_bytes()
    after = PteFile.from_bytes(data).program.segments[:2]
    assert after == before == [DataSegment(0, 9), before[1]]
    assert header_of(data)[2] % 128 == 0
