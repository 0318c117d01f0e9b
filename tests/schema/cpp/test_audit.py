"""The audit of a sound buffer: everything that its schema does not know, and what is missing."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable

import flatbuffers
import pytest

from ..packages import generate_package
from .building import SANITIZERS, SOURCES, compile_cpp

Audit = Callable[[bytes], list[str]]


@pytest.fixture(scope="module")
def audit(compiler: str, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Runs `audit_driver.cpp` for audited.fbs."""
    folder = tmp_path_factory.mktemp("audited")
    generate_package([SOURCES / "audited.fbs"], folder, name="audited", targets=("cpp",))
    include = (folder / "include",)
    source = SOURCES / "audit_driver.cpp"
    program = compile_cpp(
        source, folder / "driver", *SANITIZERS, "-O1", include=include, compiler=compiler
    )

    def run(data: bytes) -> list[str]:
        result = subprocess.run([program], input=data, capture_output=True, check=True)
        return result.stdout.decode().splitlines()

    return run


def without_offsets(lines: list[str]) -> list[str]:
    """Findings without the byte at which each is."""
    fields = [line.split("\t") for line in lines]
    return [f"{rule} {path} {message}" for rule, path, _, message in fields]


OUTER = struct.Struct("<iBxhhhhxx")
"""plain, color, two levels, the levels of two inner structs."""


def outer(builder: flatbuffers.Builder, values: tuple[int, ...]) -> int:
    """Write an Outer struct at the builder's head."""
    data = OUTER.pack(*values)
    assert len(data) == 16
    builder.Prep(4, len(data))
    for byte in reversed(data):
        builder.PrependByte(byte)
    return int(builder.Offset())


def leaf(builder: flatbuffers.Builder, color: int) -> int:
    builder.StartObject(1)
    builder.PrependUint8Slot(0, color, 1)
    return int(builder.EndObject())


def tree(
    builder: flatbuffers.Builder,
    *,
    colors: bytes = b"\1",
    tag: int = 1,
    old: int = 1,
    values: tuple[int, ...] = (0, 1, -5, 5, -5, 5),
    trees: int = 0,
    more: int = 0,
    leaf_color: int = 2,
) -> int:
    """Write a Tree with everything that is mandatory; `more` is written to a slot beyond it."""
    name = builder.CreateString("oak")
    vector = builder.CreateByteVector(colors)
    choice, child = leaf(builder, leaf_color), leaf(builder, 1)
    builder.StartVector(16, 1, 4)
    outer(builder, values)
    outers = builder.EndVector()
    builder.StartObject(12)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependStructSlot(1, outer(builder, values), 0)
    builder.PrependUOffsetTRelativeSlot(2, outers, 0)
    builder.PrependUOffsetTRelativeSlot(4, vector, 0)
    builder.PrependUint8Slot(5, old, 1)
    builder.PrependUint8Slot(6, tag, 0)
    builder.PrependUOffsetTRelativeSlot(7, choice, 0)
    builder.PrependUOffsetTRelativeSlot(8, child, 0)
    if trees:
        builder.PrependUOffsetTRelativeSlot(9, trees, 0)
    builder.PrependInt32Slot(11, more, 0)
    return int(builder.EndObject())


def finished(builder: flatbuffers.Builder, root: int) -> bytes:
    builder.Finish(root)
    return bytes(builder.Output())


def test_a_buffer_that_the_schema_knows_has_no_finding(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    assert audit(finished(builder, tree(builder))) == []


def test_unknown_values_are_found_in_structs_arrays_and_vectors(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    data = finished(builder, tree(builder, values=(7, 9, -5, 6, 1, 5), colors=b"\1\3\2\xff"))
    assert without_offsets(audit(data)) == [
        f"UNKNOWN_ENUM_VALUE tree.{place}.{field} {value} is not a value of {type_}"
        for place in ("outer", "outers[0]")
        for field, value, type_ in (
            ("color", 9, "Color"),
            ("levels[1]", 6, "Level"),
            ("inner[0].level", 1, "Level"),
        )
    ] + [
        f"UNKNOWN_ENUM_VALUE tree.colors[{index}] {value} is not a value of Color"
        for index, value in ((1, 3), (3, 255))
    ]


def test_the_offset_of_a_finding_is_that_of_the_value(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    data = finished(builder, tree(builder, leaf_color=77))
    (line,) = audit(data)
    rule, path, offset, message = line.split("\t")
    assert (rule, path) == ("UNKNOWN_ENUM_VALUE", "tree.choice.color")
    assert message == "77 is not a value of Color"
    assert data[int(offset)] == 77


def test_an_unknown_union_member_is_found_and_not_entered(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    data = finished(builder, tree(builder, tag=3, leaf_color=77))
    assert without_offsets(audit(data)) == [
        "UNKNOWN_UNION_MEMBER tree.choice the tag 3 is not a member of Choice"
    ]


def test_a_deprecated_field_is_looked_at_as_the_codec_does(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    data = finished(builder, tree(builder, old=99))
    assert without_offsets(audit(data)) == [
        "UNKNOWN_ENUM_VALUE tree.old 99 is not a value of Color"
    ]


def test_a_slot_behind_the_last_one_is_found(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    data = finished(builder, tree(builder, more=1))
    assert without_offsets(audit(data)) == [
        "UNKNOWN_FIELD tree.<slot 11> slot 11 is set, but this schema has only 10"
    ]


def test_each_field_that_is_missed_is_found_in_the_order_of_the_fields(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    builder.StartObject(0)
    data = finished(builder, builder.EndObject())
    assert without_offsets(audit(data)) == [
        f"FIELD_ABSENT tree.{field} the field is absent, but every writer writes it"
        for field in ("name", "colors", "choice", "leaf")
    ]


def test_tables_below_tables_are_found_with_their_path(audit: Audit) -> None:
    builder = flatbuffers.Builder()
    inner = [tree(builder), tree(builder, leaf_color=9)]
    builder.StartVector(4, 2, 4)
    for offset in reversed(inner):
        builder.PrependUOffsetTRelative(offset)
    data = finished(builder, tree(builder, trees=builder.EndVector()))
    assert without_offsets(audit(data)) == [
        "UNKNOWN_ENUM_VALUE tree.trees[1].choice.color 9 is not a value of Color"
    ]
