"""FlatBuffers inside `[ubyte]` fields: typed access, and one check of everything."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import flatbuffers
import pytest

from ..agreement import Judge
from ..forging import Forged


@pytest.fixture(scope="module", params=["_native", "_pure"])
def codec(language: ModuleType, request: pytest.FixtureRequest) -> Any:
    """Each of the two codecs."""
    return import_module(f"{language.__name__}.{request.param}")


@pytest.fixture(scope="module")
def field_id(types: Any) -> Callable[[str], int]:
    """Returns the slot of a field of `Tree`."""
    describe = import_module("language.reflection").describe
    return lambda name: int(describe(types.Tree).field(name).id)


def wrapped(ids: Callable[[str], int], inner: bytes, *, identifier: bytes | None = None) -> bytes:
    """Return a Tree around the bytes of another one; nothing limits how deep they nest."""
    builder = flatbuffers.Builder()
    nest = builder.CreateByteVector(inner)
    name = builder.CreateString("")
    builder.StartObject(ids("knot_bytes") + 1)
    builder.PrependUOffsetTRelativeSlot(ids("nest"), nest, 0)
    builder.PrependUOffsetTRelativeSlot(ids("name"), name, 0)
    builder.Finish(builder.EndObject(), file_identifier=identifier)
    return bytes(builder.Output())


def tower(ids: Callable[[str], int], innermost: bytes, height: int) -> bytes:
    """Return `height` trees inside each other, the innermost given."""
    for _ in range(height - 2):
        innermost = wrapped(ids, innermost)
    return wrapped(ids, innermost, identifier=b"TREE")


def unknown_color(language: ModuleType, types: Any) -> bytes:
    """Return a Tree whose color no schema knows."""
    data = Forged(language.pack(types.Tree(name="", color=types.Color.GREEN)))
    describe = import_module("language.reflection").describe
    data.put(data.field(data.root(), describe(types.Tree).field("color").id), 1, 77)
    return bytes(data)


def test_a_field_keeps_the_bytes_that_it_was_given(
    language: ModuleType, types: Any, codec: Any
) -> None:
    leaf = language.pack(types.Leaf(5))
    tree = types.Tree(name="", leaf_bytes=leaf)
    assert codec.unpack(types.Tree, codec.pack(tree, {}), True, None) == tree  # noqa: FBT003


def test_a_method_packs_an_object_into_the_field(language: ModuleType, types: Any) -> None:
    tree = types.Tree(name="")
    tree.pack_leaf_bytes(types.Leaf(5))
    assert tree.leaf_bytes == language.pack(types.Leaf(5))
    tree.pack_leaf_bytes(None)
    assert tree.leaf_bytes is None


def test_a_method_unpacks_what_is_in_the_field(types: Any) -> None:
    tree = types.Tree(name="")
    assert tree.unpack_nest() is None
    tree.pack_nest(types.Tree(name="inner", index=3))
    assert tree.unpack_nest() == types.Tree(name="inner", index=3)


def test_a_method_views_what_is_in_the_field(types: Any) -> None:
    tree = types.Tree(name="")
    assert tree.view_nest() is None
    tree.pack_nest(types.Tree(name="inner", index=3))
    assert tree.view_nest().index == 3


def test_what_the_inner_buffer_means_is_said_when_it_is_unpacked(
    language: ModuleType, types: Any, codec: Any, judge: Judge
) -> None:
    """Its bytes are kept as they are, so nothing is lost that the schema does not know."""
    tree = types.Tree(name="", nest=unknown_color(language, types))
    packed = codec.pack(tree, {})
    assert codec.verify(types.Tree, packed) == []
    assert judge.meaning([("Tree", packed)]) == []
    assert codec.unpack(types.Tree, packed, True, None) == tree  # noqa: FBT003
    with pytest.raises(language.UnpackError, match="color: 77 is not a value of Color"):
        tree.unpack_nest()
    report: list[Any] = []
    assert tree.unpack_nest(strict=False, report=report).color == 77
    assert [(finding.rule, finding.path) for finding in report] == [("UNKNOWN_ENUM_VALUE", "color")]


def test_a_view_has_the_methods_that_read(language: ModuleType, types: Any) -> None:
    tree = types.Tree(name="", nest=language.pack(types.Tree(name="inner")))
    view = import_module("language._native").view(types.Tree, language.pack(tree))
    assert view.unpack_nest() == types.Tree(name="inner")
    assert view.view_nest().name == "inner"
    assert type(view.view_nest()) is type(view)
    with pytest.raises(AttributeError):
        view.unpack_nothing()


def test_a_nested_buffer_is_aligned_as_its_strictest_part(types: Any, codec: Any) -> None:
    inner = codec.pack(types.Tree(name="inner", grid=types.Grid(name=b"here")), {})
    for length in range(16):
        outer = codec.pack(types.Tree(name="x" * length, nest=inner), {})
        assert outer.index(inner) % 16 == 0


def test_what_is_not_aligned_in_the_whole_is_refused(
    types: Any, codec: Any, judge: Judge, language: ModuleType
) -> None:
    """Relative to its own start it would be; a reader that relies on alignment sees the whole."""
    inner = language.pack(types.Tree(name="inner", grid=types.Grid()))
    # What stands before the nested bytes moves them: their table has one more offset or not.
    outers = [
        codec.pack(types.Tree(name="x" * length, nest=inner, stem=stem), {"Tree.nest": 1})
        for length in range(16)
        for stem in (None, types.Stem())
    ]
    said = judge.structure([("Tree", outer) for outer in outers])
    broken = {(finding[0], finding[1]) for finding in said if finding}
    assert broken == {("MISALIGNED", "nest.grid")}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the buffer has 0 bytes, at least 8 are needed [BUFFER_TOO_SMALL, byte 0]"),
        (bytes(8), "the offset leads to byte 0 of 8 [OFFSET_OUT_OF_BOUNDS, byte 0]"),
    ],
)
def test_pack_refuses_bytes_that_could_not_be_read(
    language: ModuleType, types: Any, codec: Any, content: bytes, problem: str
) -> None:
    tree = types.Tree(name="", self=types.Tree(name="", nest=content))
    with pytest.raises(language.PackError) as caught:
        codec.pack(tree, {})
    assert str(caught.value) == f"self.nest: holds no sound FlatBuffer of Tree: {problem}"


def test_the_path_leads_through_the_inner_buffer(
    language: ModuleType, types: Any, judge: Judge
) -> None:
    leaf = language.pack(types.Leaf(-3))
    inner = language.pack(types.Tree(name="inner", leaf_bytes=leaf))
    outer = Forged(language.pack(types.Tree(name="outer", nest=inner)))
    start = outer.index(leaf)
    outer.put(start, 4, 0)
    (said,) = judge.structure([("Tree", bytes(outer))])
    assert said is not None
    assert said[:3] == ("OFFSET_OUT_OF_BOUNDS", "nest.leaf_bytes", start)


def test_an_offset_may_not_leave_the_inner_buffer(
    language: ModuleType, types: Any, judge: Judge
) -> None:
    leaf = language.pack(types.Leaf(-3))
    outer = Forged(language.pack(types.Tree(name="a string behind", leaf_bytes=leaf)))
    start = outer.index(leaf)
    assert start + len(leaf) + 8 <= len(outer)
    outer.put(start, 4, len(leaf))
    (said,) = judge.structure([("Tree", bytes(outer))])
    assert said is not None
    assert said[:3] == ("OFFSET_OUT_OF_BOUNDS", "leaf_bytes", start)


def test_a_vtable_may_not_lie_before_the_inner_buffer(
    language: ModuleType, types: Any, judge: Judge
) -> None:
    leaf = language.pack(types.Leaf(-3))
    outer = Forged(language.pack(types.Tree(name="", leaf_bytes=leaf)))
    table = outer.follow(outer.index(leaf))
    outer.put(table, 4, table - outer.vtable(outer.root()))
    (said,) = judge.structure([("Tree", bytes(outer))])
    assert said is not None
    assert said[:3] == ("VTABLE_OUT_OF_BOUNDS", "leaf_bytes", table)


def test_a_vtable_that_the_outer_buffer_shares_is_still_outside(
    types: Any, judge: Judge, codec: Any
) -> None:
    """What is known of a vtable from outside must not be taken for granted inside."""
    inner = codec.pack(types.Tree(name="in"), {})
    outer = Forged(codec.pack(types.Tree(name="", self=types.Tree(name="in"), nest=inner), {}))
    twin = outer.child(outer.root(), self_id(types))
    table = outer.follow(outer.index(inner))
    outer.put(table, 4, table - outer.vtable(twin))
    (said,) = judge.structure([("Tree", bytes(outer))])
    assert said is not None
    assert said[:2] == ("VTABLE_OUT_OF_BOUNDS", "nest")


def self_id(types: Any) -> int:
    return int(import_module("language.reflection").describe(types.Tree).field("self").id)


def test_an_empty_vector_is_no_flatbuffer(
    language: ModuleType, types: Any, judge: Judge, field_id: Callable[[str], int]
) -> None:
    outer = Forged(language.pack(types.Tree(name="", nest=language.pack(types.Tree(name="")))))
    vector = outer.child(outer.root(), field_id("nest"))
    outer.put(vector, 4, 0)
    (said,) = judge.structure([("Tree", bytes(outer))])
    assert said is not None
    assert said[:3] == ("BUFFER_TOO_SMALL", "nest", vector + 4)


def test_the_identifier_of_the_inner_buffer_is_not_looked_at(
    language: ModuleType, types: Any, judge: Judge
) -> None:
    inner = language.pack(types.Tree(name="inner"))
    assert inner[4:8] == b"TREE"
    other = inner[:4] + b"LEAF" + inner[8:]
    tree = types.Tree(name="", nest=other)
    assert judge.structure([("Tree", language.pack(tree))]) == [None]
    assert tree.unpack_nest() == types.Tree(name="inner")
    for codec in (import_module("language._native"), import_module("language._pure")):
        assert codec.verify(types.Tree, other)[0].rule == "WRONG_IDENTIFIER"
        assert codec.verify(types.Tree, other, False) == []  # noqa: FBT003
        assert codec.view(types.Tree, other, False).name == "inner"  # noqa: FBT003


def test_trees_nested_500_deep_are_too_deep(
    language: ModuleType, types: Any, judge: Judge, field_id: Callable[[str], int]
) -> None:
    innermost = language.pack(types.Tree(name="innermost"))
    buffers = [tower(field_id, innermost, height) for height in (63, 64, 65, 500)]
    said = judge.structure([("Tree", buffer) for buffer in buffers])
    assert said[:2] == [None, None]
    for finding, buffer in zip(said[2:], buffers[2:], strict=True):
        assert finding is not None
        assert finding[:2] == ("TOO_DEEP", ".".join(["nest"] * 64))
        with pytest.raises(language.UnpackError, match="tables nest 65 deep"):
            language.unpack(types.Tree, buffer)


def test_tables_around_a_nested_buffer_count_as_those_in_it(
    language: ModuleType, types: Any, codec: Any
) -> None:
    def chain(height: int, innermost: Any) -> Any:
        for _ in range(height - 1):
            innermost = types.Tree(name="", self=innermost)
        return innermost

    inner = language.pack(chain(32, types.Tree(name="")))
    fits = chain(32, types.Tree(name="", nest=inner))
    assert codec.verify(types.Tree, codec.pack(fits, {})) == []
    with pytest.raises(language.PackError, match="tables nest 65 deep, at most 64 are read"):
        codec.pack(chain(33, types.Tree(name="", nest=inner)), {})


def test_nested_buffers_share_one_budget(
    language: ModuleType, types: Any, judge: Judge, field_id: Callable[[str], int]
) -> None:
    """Each stays far below a budget of its own; the bytes of the innermost count each time."""
    innermost = language.pack(types.Tree(name="x" * (1 << 20)))
    said = judge.structure([("Tree", tower(field_id, innermost, height)) for height in (10, 40)])
    assert said[0] is None
    assert said[1] is not None
    assert said[1][0] == "BUDGET_EXCEEDED"
