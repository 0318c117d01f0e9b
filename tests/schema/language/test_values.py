"""Objects of every kind go to bytes and come back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.schema.strategies import objects


@pytest.fixture(params=["python", "native"], autouse=True)
def _each_codec(
    language: ModuleType, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Let the package use one of its codecs."""
    select = import_module("language._select")
    monkeypatch.setenv("PLACEWIRE_PURE_PYTHON", "1" if request.param == "python" else "0")
    select.codec.cache_clear()
    assert language.codec_name() == request.param
    yield
    select.codec.cache_clear()


def test_random_trees_survive(language: ModuleType, types: Any) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(objects(types.Tree, largest_list=2))
    def check(tree: Any) -> None:
        packed = language.pack_tree(tree)
        assert language.verify_tree(packed) == []
        assert repr(language.unpack_tree(packed)) == repr(tree)
        assert language.pack_tree(language.unpack_tree(packed)) == packed

    check()


def test_damaged_trees_are_refused_or_read(language: ModuleType, types: Any) -> None:
    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(objects(types.Tree, largest_list=2), st.data())
    def check(tree: Any, data: st.DataObject) -> None:
        packed = bytearray(language.pack_tree(tree))
        for _ in range(8):
            place = data.draw(st.integers(0, len(packed) - 1))
            packed[place] = data.draw(st.sampled_from([0, 1, 4, 127, 128, 255]))
            findings = language.verify_tree(packed)
            if findings:
                with pytest.raises(language.UnpackError) as caught:
                    language.unpack_tree(packed)
                assert caught.value.finding == findings[0]
            else:
                language.unpack_tree(packed)

    check()


def test_an_alias_is_a_class_of_its_own(language: ModuleType, types: Any) -> None:
    twig = language.unpack(types.Tree, language.pack(types.Tree(name="", content=types.Twig(5))))
    assert twig.content == types.Twig(5)
    assert isinstance(twig.content, types.Leaf)


def test_a_string_in_a_union_has_a_value(language: ModuleType, types: Any) -> None:
    packed = language.pack(types.Tree(name="", content=types.text("leafy")))
    assert language.unpack(types.Tree, packed).content.value == "leafy"


def test_none_in_a_vector_of_unions_stays_none(language: ModuleType, types: Any) -> None:
    contents = [None, types.Leaf(1), None]
    packed = language.pack(types.Tree(name="", contents=contents))
    assert language.unpack(types.Tree, packed).contents == contents


def test_flags_combine(language: ModuleType, types: Any) -> None:
    both = types.Access.READ | types.Access.WRITE
    packed = language.pack(types.Tree(name="", access=both))
    assert language.unpack(types.Tree, packed).access is both


def test_an_array_starts_with_as_many_zeros_as_it_has_elements(types: Any) -> None:
    grid = types.Grid()
    assert (grid.sizes, grid.name, len(grid.corners)) == ([0, 0, 0], b"\0\0\0\0", 2)


def test_a_struct_is_aligned_as_it_asks(language: ModuleType, types: Any) -> None:
    packed = language.pack(types.Tree(name="", grid=types.Grid(name=b"here")))
    assert (packed.index(b"here") - 36) % 16 == 0


def test_a_string_is_aligned_as_it_asks(language: ModuleType, types: Any) -> None:
    aligned = types.Aligned(wide="w" * 7, narrow="nar", known="k" * 33)
    packed = language.pack(aligned)
    assert language.unpack(types.Aligned, packed) == aligned
    assert packed.index(b"wwwwwww") % 32 == 0
    assert packed.index(b"kkkkk") % 16 == 0
    assert packed.index(b"nar") % 4 == 0


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: t.Tree(name=None), "name: must not be None: the schema requires this field"),
        (lambda t: t.Tree(grid=t.Grid(sizes=[1])), "grid.sizes: expected 3 elements, found 1"),
        (lambda t: t.Tree(points=[t.Point(color=3)]), "points[0].color: 3 is not a value of Color"),
        (
            lambda t: t.Tree(grid=t.Grid(corners=[t.Point(), 5])),
            "grid.corners[1]: expected Point, found int",
        ),
        (lambda t: t.Tree(content=t.text(3)), "content.value: expected str, found int"),
        (lambda t: t.Tree(access=8), "access: 8 is not a value of Access"),
        (
            lambda t: t.Tree(contents=[None, 1]),
            "contents[1]: expected a member of Content (Leaf, Twig, text, Point, Frame), found int",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    language: ModuleType, types: Any, spoil: Any, message: str
) -> None:
    with pytest.raises(language.PackError) as caught:
        language.pack(spoil(types))
    assert str(caught.value) == message


def test_a_deep_tree_is_refused_where_it_becomes_too_deep(language: ModuleType, types: Any) -> None:
    tree = types.Tree(name="")
    for _ in range(64):
        tree = types.Tree(name="", self=tree)
    with pytest.raises(language.PackError, match="tables nest 65 deep, at most 64 could be read"):
        language.pack(tree)


def test_the_deepest_readable_tree_is_packed(language: ModuleType, types: Any) -> None:
    tree = types.Tree(name="")
    for _ in range(63):
        tree = types.Tree(name="", self=tree)
    assert language.unpack_tree(language.pack_tree(tree)) == tree


def test_an_unknown_enum_value_inside_a_struct_is_reported(
    language: ModuleType, types: Any
) -> None:
    packed = bytearray(language.pack(types.Tree(name="", point=types.Point(color=types.Color(9)))))
    (place,) = [i for i, byte in enumerate(packed) if byte == 9]
    packed[place] = 77
    findings = language.verify_tree(packed)
    assert [(f.rule, f.path, f.offset) for f in findings] == [
        ("UNKNOWN_ENUM_VALUE", "point.color", place)
    ]
