"""Both codecs of `language.fbs` give the same bytes, objects, findings, messages and views."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..agreement import Codecs, assert_agreement, codecs_of
from ..damage import damaged
from ..strategies import JUNK, objects
from ..test_codecs_agree import outcome, patient


@pytest.fixture(scope="module")
def codecs(language: ModuleType) -> Codecs:
    assert language.codec_name()
    return codecs_of("language")


@pytest.mark.parametrize("name", ["Tree", "Stem", "Leaf", "Texts", "OldTexts", "Aligned"])
@settings(patient, max_examples=60)
@given(data=st.data())
def test_objects_give_the_same_bytes(
    types: Any, codecs: Codecs, name: str, data: st.DataObject
) -> None:
    type_ = getattr(types, name)
    obj = data.draw(objects(type_, largest_list=2))
    packed = codecs.native.pack(obj, {})
    assert packed == codecs.python.pack(obj, {})
    for codec in codecs:
        again = codec.unpack(type_, packed, True, None)  # noqa: FBT003
        assert repr(again) == repr(obj)
        assert codec.verify(type_, packed) == []
        assert codec.pack(again, {}) == packed


def test_a_full_tree_gives_the_same_bytes_however_it_is_aligned(
    codecs: Codecs, full_tree: Any
) -> None:
    for force_align in ({}, {"Tree.points": 64}, {"Tree.contents": 64, "Knot.pins": 32}):
        packed = codecs.native.pack(full_tree, force_align)
        assert packed == codecs.python.pack(full_tree, force_align)


def test_damaged_buffers_give_the_same_findings_and_objects(
    types: Any, codecs: Codecs, full_tree: Any
) -> None:
    source = random.Random("language codecs")
    original = codecs.native.pack(full_tree, {})
    outcomes = [
        assert_agreement(codecs, types.Tree, damaged(original, source)) for _ in range(2000)
    ]
    assert 100 < sum(outcomes) < 1900


def places(obj: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every attribute and every list element below `obj` as its owner and its key."""
    if is_dataclass(obj):
        for field in fields(obj):
            yield obj, field.name
            yield from places(getattr(obj, field.name))
    elif isinstance(obj, list):
        for index, item in enumerate(obj):
            yield obj, index
            yield from places(item)


def test_what_one_refuses_the_other_refuses_with_the_same_words(
    language: ModuleType, types: Any, codecs: Codecs, full_tree: Any
) -> None:
    junk = [
        *JUNK,
        lambda: types.Leaf(1),
        lambda: types.Twig(1),
        types.text,
        types.Point,
        lambda: types.Grid(sizes=[1, 2]),
        lambda: types.Frame(corners=[1, 2]),
        lambda: [types.Point(), None],
        lambda: types.Access(8),
        lambda: language.UnknownMember(9),
        lambda: bytes(4),
    ]
    source = random.Random("junk")
    found = list(places(full_tree))
    assert len(found) > 150
    seen = set()
    for owner, key in found:
        for make in source.sample(junk, 12):
            kept = getattr(owner, key) if isinstance(key, str) else owner[key]
            put(owner, key, make())
            native, python = (outcome(lambda: codec.pack(full_tree, {})) for codec in codecs)  # noqa: B023
            put(owner, key, kept)
            assert native == python
            seen.add(native[0])
    assert seen == {"result", "PackError"}


def put(owner: Any, key: Any, value: Any) -> None:
    if isinstance(key, str):
        setattr(owner, key, value)
    else:
        owner[key] = value


def test_a_view_shows_what_was_packed(types: Any, codecs: Codecs, full_tree: Any) -> None:
    packed = codecs.native.pack(full_tree, {})
    view = codecs.native.view(types.Tree, packed)
    assert view == full_tree
    assert full_tree == view
    for codec in codecs:
        assert codec.pack(view, {}) == packed


def test_a_view_of_a_damaged_tree_shows_what_unpack_gives(
    types: Any, codecs: Codecs, full_tree: Any
) -> None:
    source = random.Random("views")
    original = codecs.native.pack(full_tree, {})
    compared = 0
    for _ in range(1500):
        data = damaged(original, source)
        if outcome(lambda: codecs.native.view(types.Tree, data))[0] == "result":  # noqa: B023
            unpacked = codecs.native.unpack(types.Tree, data, False, None)  # noqa: FBT003
            if "nan" not in repr(unpacked):
                assert codecs.native.view(types.Tree, data) == unpacked
                compared += 1
    assert compared > 100


def test_an_absent_field_that_is_always_written_has_the_same_default(
    types: Any, codecs: Codecs
) -> None:
    stem = types.Stem(contents=[], wide=types.Leaf(), marks=[])
    data = bytearray(codecs.native.pack(stem, {}))
    root = int.from_bytes(data[:4], "little")
    vtable = root - int.from_bytes(data[root : root + 4], "little", signed=True)
    for id_ in range(4, 9):
        data[vtable + 4 + 2 * id_ : vtable + 6 + 2 * id_] = bytes(2)
    assert not assert_agreement(codecs, types.Stem, bytes(data))
    view = codecs.native.view(types.Stem, bytes(data))
    assert (view.word, view.words, view.point) == (types.text_(), [], types.Point())


def test_a_combination_of_flags_that_nobody_used_is_the_one_that_python_makes(
    types: Any, codecs: Codecs
) -> None:
    known = types.Access._value2member_map_
    tree = types.Tree(name="", rights=[0, 3, 6, 7])
    packed = codecs.native.pack(tree, {})
    for value in (0, 3, 6, 7):
        known.pop(value, None)
    unpacked = codecs.native.unpack(types.Tree, packed, True, None)  # noqa: FBT003
    assert [known[value] for value in (0, 3, 6, 7)] == unpacked.rights
    assert all(flags is known[int(flags)] for flags in unpacked.rights)
    assert repr(unpacked) == repr(codecs.python.unpack(types.Tree, packed, True, None))  # noqa: FBT003


def test_unknown_flags_stay_a_number_even_if_python_knows_them(types: Any, codecs: Codecs) -> None:
    tree = types.Tree(name="", rights=[types.Access.READ])
    data = bytearray(codecs.native.pack(tree, {}))
    places_of_one = [i for i in range(len(data) - 1) if data[i : i + 2] == b"\1\0"]
    assert types.Access(9) == 9
    for place in places_of_one:
        changed = bytes(data[:place]) + b"\11\0" + bytes(data[place + 2 :])
        assert_agreement(codecs, types.Tree, changed)


def test_a_list_that_shrinks_while_it_is_packed_is_an_error(types: Any, codecs: Codecs) -> None:
    class Shrinking:
        def __init__(self, items: list[Any]) -> None:
            self.items = items

        def __index__(self) -> int:
            self.items.clear()
            return 1

    for codec in codecs:
        points: list[Any] = []
        points += [types.Point(color=Shrinking(points)), types.Point()]
        with pytest.raises((RuntimeError, ValueError)):
            codec.pack(types.Tree(name="", points=points), {})
