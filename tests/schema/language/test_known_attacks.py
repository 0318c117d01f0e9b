"""Buffers that broke other FlatBuffers readers: no reader here crashes, hangs or is fooled."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import flatbuffers
import pytest

from ..agreement import Judge
from ..forging import Forged

Broken = tuple[str, str] | None
Ask = Callable[[str, bytes], Broken]

SLOT_OF_BRANCHES, SLOT_OF_BYTES = 0, 1
STEM_CONTENTS = 1


@pytest.fixture(scope="module")
def ask(language: ModuleType, judge: Judge) -> Ask:
    """Returns rule and path of what C++ and both Python codecs refuse, and None if they accept."""
    native, pure = (import_module(f"language.{name}") for name in ("_native", "_pure"))

    def ask(name: str, data: bytes) -> Broken:
        (said,) = judge.structure([(name, data)])
        type_ = getattr(language.language, name)
        for codec in (native, pure):
            first = next(iter(codec.verify(type_, data)), None)
            if first is None or first.rule in language.UNKNOWN_RULES:
                assert said is None
            else:
                assert (first.rule, first.path, first.offset, first.message) == said
        return said and said[:2]

    return ask


def branch(builder: Any, *, branches: int = 0, nested: int = 0) -> int:
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(SLOT_OF_BRANCHES, branches, 0)
    builder.PrependUOffsetTRelativeSlot(SLOT_OF_BYTES, nested, 0)
    position: int = builder.EndObject()
    return position


def shared_branches(levels: int, width: int, innermost: bytes | None = None) -> bytes:
    """Return branches of which each is `width` times in the one around: width ** levels ways."""
    builder = flatbuffers.Builder()
    nested = 0 if innermost is None else builder.CreateByteVector(innermost)
    inner = branch(builder, nested=nested)
    for _ in range(levels - 1):
        builder.StartVector(4, width, 4)
        for _ in range(width):
            builder.PrependUOffsetTRelative(inner)
        inner = branch(builder, branches=builder.EndVector())
    builder.Finish(inner)
    return bytes(builder.Output())


def many_branches(count: int) -> bytes:
    """Return a branch with `count` empty ones, which share a vtable."""
    vtables = struct.pack("<4H2H", 6, 8, 4, 0, 4, 4)
    root = 4 + len(vtables)
    empty_vtable = root - 4
    first = root + 12 + 4 * count
    head = struct.pack("<I", root) + vtables + struct.pack("<iII", root - 4, 4, count)
    offsets = struct.pack("<I", 4 * count) * count
    tables = range(first - empty_vtable, first - empty_vtable + 4 * count, 4)
    return head + offsets + struct.pack(f"<{count}i", *tables)


@pytest.mark.parametrize("size", range(12))
def test_a_buffer_without_room_for_its_head_is_refused_before_it_is_read(
    language: ModuleType, types: Any, ask: Ask, size: int
) -> None:
    """google/flatbuffers issues 5098 and 9023: the identifier was read before the length."""
    assert ask("Tree", language.pack(types.Tree(name=""))[:size]) == ("BUFFER_TOO_SMALL", "")


@pytest.mark.parametrize("codec", ["_native", "_pure"])
def test_a_buffer_of_2_gib_is_an_error_and_no_abort(types: Any, codec: str) -> None:
    """Samsung/ONE issue 13674. In C++, api_checks.cpp has the test."""
    with mmap.mmap(-1, 1 << 31) as memory:
        findings = import_module(f"language.{codec}").verify(types.Tree, memory)
        assert [finding.rule for finding in findings] == ["BUFFER_TOO_LARGE"]


def test_shared_tables_do_not_multiply_the_work(ask: Ask) -> None:
    """apache/arrow pull request 9447: so few bytes took time without end."""
    data = shared_branches(40, 8)  # 8 ** 39 ways to the innermost
    assert len(data) < 4000
    broken = ask("Branch", data)
    assert broken is not None
    assert broken[0] == "BUDGET_EXCEEDED"


def test_shared_tables_in_nested_buffers_do_not_multiply_the_work(ask: Ask) -> None:
    """Each buffer alone is harmless, and would be accepted with a budget of its own."""
    nested = shared_branches(5, 12)
    assert ask("Branch", nested) is None
    for _ in range(2):
        nested = shared_branches(3, 12, nested)
    broken = ask("Branch", nested)
    assert broken is not None
    assert broken[0] == "BUDGET_EXCEEDED"


def test_half_a_million_tables_are_no_attack(ask: Ask) -> None:
    """apache/arrow pull request 9349: a limit on tables refused files of so many columns."""
    assert ask("Branch", many_branches(500_001)) is None


def test_a_buffer_nested_in_itself_500_times_is_too_deep(ask: Ask) -> None:
    """google/flatbuffers issue 9268: each nested buffer started to count anew."""
    nested = shared_branches(1, 1)
    for _ in range(500):
        nested = shared_branches(1, 1, nested)
    assert ask("Branch", nested) == ("TOO_DEEP", ".".join(["bytes"] * 64))


@pytest.mark.parametrize("forged", [1, 5, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_forged_length_does_not_reach_beyond_the_buffer(
    language: ModuleType, types: Any, ask: Ask, forged: int
) -> None:
    """google/flatbuffers issue 9051: what lay behind the buffer was printed."""
    data = Forged(language.pack(types.Tree(name="", flags=[])))
    describe = import_module("language.reflection").describe
    vector = data.child(data.root(), describe(types.Tree).field("flags").id)
    behind = len(data) - vector - 4
    data.put(vector, 4, forged)
    said = ask("Tree", bytes(data))
    assert said == (None if forged <= behind else ("VECTOR_OUT_OF_BOUNDS", "flags"))


def test_two_values_need_two_tags(language: ModuleType, types: Any, ask: Ask) -> None:
    """google/flatbuffers issue 8567: nobody compared the two lengths."""
    stem = types.Stem(contents=[types.Leaf(1), types.Leaf(2)], wide=types.Leaf(), marks=[])
    data = Forged(language.pack(stem))
    data.put(data.child(data.root(), STEM_CONTENTS - 1), 4, 1)
    assert ask("Stem", bytes(data)) == ("UNION_LENGTH_MISMATCH", "contents")


@pytest.mark.parametrize("tag", [6, 77, 255])
def test_the_value_of_an_unknown_member_is_not_followed_but_reported(
    language: ModuleType, types: Any, ask: Ask, tag: int
) -> None:
    """google/flatbuffers pull requests 9048 and 9122: accepted and used, or taken as an index."""
    stem = types.Stem(contents=[types.Leaf(1)], wide=types.Leaf(), marks=[])
    data = Forged(language.pack(stem))
    data[data.child(data.root(), STEM_CONTENTS - 1) + 4] = tag
    data.put(data.element(data.child(data.root(), STEM_CONTENTS), 0), 4, 0x7FFFFFFF)
    assert ask("Stem", bytes(data)) is None
    findings = language.verify(types.Stem, bytes(data))
    assert [(finding.rule, finding.path) for finding in findings] == [
        ("UNKNOWN_UNION_MEMBER", "contents[0]")
    ]
    with pytest.raises(language.UnpackError, match=f"the tag {tag} is not a member of Content"):
        language.unpack(types.Stem, bytes(data))


@pytest.mark.parametrize("offset", [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF])
def test_a_bad_root_offset_is_a_finding(
    language: ModuleType, types: Any, ask: Ask, offset: int
) -> None:
    """In Python, flatc's code raises a TypeError about a number here."""
    data = Forged(language.pack(types.Tree(name="")))
    data.put(0, 4, offset)
    said = ask("Tree", bytes(data))
    assert said == ("MISALIGNED" if offset == 1 else "OFFSET_OUT_OF_BOUNDS", "")
