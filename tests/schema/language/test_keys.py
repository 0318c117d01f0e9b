"""Vectors are sorted by the keys of their elements, and searched by them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import pytest


def stem(types: Any, point: Any) -> Any:
    return types.Stem(contents=[], wide=types.Leaf(), marks=[], point=point)


@pytest.mark.parametrize("size", range(6))
def test_every_element_of_a_sorted_list_is_found(
    language: ModuleType, types: Any, size: int
) -> None:
    leaves = [types.Leaf(3 * value) for value in range(size)]
    for leaf in leaves:
        assert language.lookup(leaves, leaf.value) is leaf
        assert language.lookup(leaves, leaf.value + 1) is None
    assert language.lookup(leaves, -1) is None


def test_a_view_is_searched_without_being_unpacked(language: ModuleType, types: Any) -> None:
    tree = types.Tree(name="", leaves=[types.Leaf(value) for value in range(0, 100, 2)])
    view = import_module("language._native").view(types.Tree, language.pack(tree))
    assert language.lookup(view.leaves, 42) == types.Leaf(42)
    assert language.lookup(view.leaves, 43) is None


def test_elements_of_equal_keys_keep_their_order(language: ModuleType, types: Any) -> None:
    trees = [types.Tree(name=name, index=i) for i, name in enumerate("baab")]
    language.sort_by_key(trees)
    assert [tree.index for tree in trees] == [1, 2, 0, 3]


def test_strings_are_ordered_by_their_bytes(language: ModuleType, types: Any) -> None:
    trees = [types.Tree(name=name) for name in ["\U0001f34e", "\uffff", "é", "z", "Z", "", "zz"]]
    language.sort_by_key(trees)
    names = [tree.name for tree in trees]
    assert names == sorted(names, key=str.encode)


def test_a_struct_is_a_key_field_by_field(language: ModuleType, types: Any) -> None:
    red, green = types.Color.RED, types.Color.GREEN
    points = [types.Point(1.0, -2.0, green), types.Point(1.0, -2.0, red), types.Point(-1.0, 5.0)]
    stems = [stem(types, point) for point in points]
    language.sort_by_key(stems)
    assert [each.point for each in stems] == points[::-1]
    assert language.lookup(stems, types.Point(1.0, -2.0, red)) is stems[1]


def test_an_absent_struct_counts_as_zeros(language: ModuleType, types: Any) -> None:
    stems = [stem(types, types.Point(x)) for x in (1.0, -1.0)]
    stems.append(stem(types, None))
    language.sort_by_key(stems)
    assert [each.point and each.point.x for each in stems] == [-1.0, None, 1.0]
    assert language.lookup(stems, types.Point()) is stems[1]


def test_a_member_under_an_alias_has_the_key_of_its_type(language: ModuleType, types: Any) -> None:
    twigs = [types.Twig(2), types.Twig(1)]
    language.sort_by_key(twigs)
    assert language.lookup(twigs, 2) is twigs[1]


def test_a_table_without_a_key_is_refused(language: ModuleType) -> None:
    knots = [language.parts.Knot()]
    with pytest.raises(TypeError, match="Knot is no table or struct that has a key"):
        language.lookup(knots, 1)
