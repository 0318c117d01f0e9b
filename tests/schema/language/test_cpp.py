"""The generated C++ and the Python codec say the same about every buffer of `language.fbs`."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import pytest

from ..agreement import JsonWriter, Judge
from ..cpp.building import Driver
from ..damage import damaged
from ..forging import Forged, with_another_slot
from ..packages import examples


@pytest.fixture(scope="module")
def full(language: ModuleType, full_tree: Any) -> bytes:
    """The bytes of `full_tree`."""
    packed: bytes = language.pack(full_tree)
    return packed


def random_trees(types: Any, count: int) -> list[Any]:
    """Return random trees, always the same ones."""
    return examples(types.Tree, count)


def test_views_see_what_was_packed(
    language: ModuleType, types: Any, driver: Driver, full_tree: Any
) -> None:
    trees = [full_tree, *random_trees(types, 60)]
    as_json = JsonWriter("language").value
    seen = driver.read_all([("Tree", language.pack(tree)) for tree in trees])
    assert len(seen) == len(trees) > 50
    assert [repr(tree) for tree in seen] == [repr(as_json(tree)) for tree in trees]


def test_both_accept_what_was_packed(language: ModuleType, types: Any, judge: Judge) -> None:
    cases = [("Tree", language.pack(tree)) for tree in random_trees(types, 60)]
    assert judge.structure(cases) == [None] * len(cases)
    assert judge.meaning(cases) == []


def test_both_refuse_every_truncation(judge: Judge, full: bytes) -> None:
    assert all(judge.structure([("Tree", full[:end]) for end in range(len(full))]))


def test_both_say_the_same_about_damaged_trees(
    language: ModuleType, types: Any, judge: Judge, full: bytes
) -> None:
    source = random.Random("language")
    originals = [full] * 3000 + [language.pack(tree) for tree in random_trees(types, 60)] * 30
    cases = [("Tree", damaged(original, source)) for original in originals]
    cases.append(("Tree", with_another_slot(full)))
    said = judge.structure(cases)
    sound = [case for case, finding in zip(cases, said, strict=True) if finding is None]
    assert len(sound) > 500
    found = judge.meaning(sound)
    assert {rule for rule, _ in found} >= {
        *("UNKNOWN_ENUM_VALUE", "UNKNOWN_UNION_MEMBER", "UNKNOWN_FIELD")
    }
    assert {finding[0] for finding in said if finding} >= {
        *("UNION_TAG_MISSING", "UNION_VALUE_MISSING", "UNION_LENGTH_MISMATCH"),
        *("REQUIRED_FIELD_MISSING", "MISALIGNED", "FIELD_OUTSIDE_TABLE"),
    }


STEM_CONTENTS, STEM_WORD, STEM_WORDS = 1, 5, 7
"""Slots of the values; the tags are in the slot before."""


@pytest.fixture
def stem(language: ModuleType, full_tree: Any) -> Forged:
    """A Stem to be broken in one place."""
    return Forged(language.pack(full_tree.stem))


def broken(judge: Judge, data: Forged) -> tuple[str, str]:
    """Return the rule that a Stem breaks, and where in the tree."""
    (said,) = judge.structure([("Stem", bytes(data))])
    assert said is not None
    return said[:2]


def test_a_vector_of_unions_needs_as_many_tags_as_values(judge: Judge, stem: Forged) -> None:
    stem.put(stem.child(stem.root(), STEM_CONTENTS - 1), 4, 5)
    assert broken(judge, stem) == ("UNION_LENGTH_MISMATCH", "contents")


def test_a_vector_of_values_needs_one_of_tags(judge: Judge, stem: Forged) -> None:
    stem.put(stem.slot(stem.root(), STEM_CONTENTS - 1), 2, 0)
    assert broken(judge, stem) == ("UNION_TAG_MISSING", "contents")


def test_a_vector_of_tags_needs_one_of_values(judge: Judge, stem: Forged) -> None:
    stem.put(stem.slot(stem.root(), STEM_CONTENTS), 2, 0)
    assert broken(judge, stem) == ("UNION_VALUE_MISSING", "contents")


def test_a_required_vector_of_unions_is_missed(judge: Judge, stem: Forged) -> None:
    stem.put(stem.slot(stem.root(), STEM_CONTENTS - 1), 2, 0)
    stem.put(stem.slot(stem.root(), STEM_CONTENTS), 2, 0)
    assert broken(judge, stem) == ("REQUIRED_FIELD_MISSING", "contents")


def test_a_value_without_a_tag_is_refused_in_a_vector(judge: Judge, stem: Forged) -> None:
    stem.put(stem.child(stem.root(), STEM_CONTENTS) + 4 + 4, 4, 8)
    assert broken(judge, stem) == ("UNION_TAG_MISSING", "contents[1]")


def test_a_tag_without_a_value_is_refused_in_a_vector(judge: Judge, stem: Forged) -> None:
    stem.put(stem.child(stem.root(), STEM_CONTENTS) + 4, 4, 0)
    assert broken(judge, stem) == ("OFFSET_OUT_OF_BOUNDS", "contents[0]")


def test_a_struct_in_a_union_must_be_aligned(judge: Judge, stem: Forged) -> None:
    place = stem.child(stem.root(), STEM_CONTENTS) + 4 + 4 * 4
    stem.put(place, 4, stem.u32(place) + 4)
    assert broken(judge, stem) == ("MISALIGNED", "contents[4]")


def test_a_struct_in_a_union_must_lie_in_the_buffer(judge: Judge, stem: Forged) -> None:
    place = stem.child(stem.root(), STEM_CONTENTS) + 4 + 4 * 5
    stem.put(place, 4, (len(stem) & ~15) - 16 - place)
    assert broken(judge, stem) == ("STRUCT_OUT_OF_BOUNDS", "contents[5]")


def test_a_struct_may_be_the_last_byte_of_the_buffer(language: ModuleType, judge: Judge) -> None:
    parts = language.parts
    data = Forged(language.pack(parts.Knot(parts.Dot(parts.Shade.DARK))))
    assert data.child(data.root(), 1) == len(data) - 1
    assert judge.structure([("Knot", bytes(data))]) == [None]
    data.put(data.field(data.root(), 0), 1, 99)
    assert judge.meaning([("Knot", bytes(data))]) == [("UNKNOWN_UNION_MEMBER", "part")]


def test_an_unknown_member_is_not_followed(judge: Judge, stem: Forged) -> None:
    stem[stem.child(stem.root(), STEM_CONTENTS - 1) + 4] = 99
    stem.put(stem.child(stem.root(), STEM_CONTENTS) + 4, 4, 1)
    assert judge.structure([("Stem", bytes(stem))]) == [None]
    assert judge.meaning([("Stem", bytes(stem))]) == [("UNKNOWN_UNION_MEMBER", "contents[0]")]


def test_unknown_values_in_structs_in_unions_are_found(judge: Judge, stem: Forged) -> None:
    words = stem.child(stem.root(), STEM_WORDS)
    stem.put(stem.element(words, 3), 2, 77)
    assert judge.meaning([("Stem", bytes(stem))]) == [("UNKNOWN_ENUM_VALUE", "words[3].level")]


def test_fields_that_are_always_written_are_missed(judge: Judge, stem: Forged) -> None:
    for id_ in (STEM_WORD - 1, STEM_WORD, STEM_WORDS - 1, STEM_WORDS, STEM_WORDS + 1):
        stem.put(stem.slot(stem.root(), id_), 2, 0)
    assert judge.meaning([("Stem", bytes(stem))]) == [
        ("FIELD_ABSENT", name) for name in ("word", "words", "point")
    ]
