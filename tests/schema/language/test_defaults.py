"""An absent string or vector reads as the default that the schema gives it, in every reader."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from ..cpp.building import Driver
from ..forging import Forged

TEXTS = {"greeting": 'grüße "\\\n', "empty": "", "must": "needed", "known": "present"}
VECTORS = ("numbers", "words", "leaves", "points", "colors", "contents")
SLOTS = 13
"""Slots of the table Texts."""


@pytest.fixture(params=["python", "native"])
def codec(language: ModuleType, request: pytest.FixtureRequest) -> Any:
    """One of the codecs of the package."""
    assert language.codec_name()
    return import_module(f"language.{'_pure' if request.param == 'python' else '_native'}")


@pytest.fixture
def nothing(language: ModuleType) -> bytes:
    """A table Texts in which only the required string is written."""
    data = Forged(language.pack(language.language.Texts(must="here")))
    for slot in range(SLOTS):
        if slot != 2:
            data.put(data.slot(data.root(), slot), 2, 0)
    return bytes(data)


def test_a_new_object_holds_the_defaults(types: Any) -> None:
    made = types.Texts()
    assert {name: getattr(made, name) for name in TEXTS} == TEXTS
    assert (made.zero, made.bytes_) == ("a\0b", b"")
    assert [getattr(made, name) for name in VECTORS] == [[]] * len(VECTORS)


def test_each_object_has_lists_of_its_own(types: Any) -> None:
    types.Texts().numbers.append(1)
    assert types.Texts().numbers == []


def test_the_types_have_no_none(types: Any) -> None:
    annotations = {field.name: str(field.type) for field in fields(types.Texts)}
    assert len(annotations) == 12
    assert not [name for name, text in annotations.items() if text.endswith("| None")]


def test_an_absent_field_reads_as_its_default(types: Any, codec: Any, nothing: bytes) -> None:
    report: list[Any] = []
    read = codec.unpack(types.Texts, nothing, False, report)  # noqa: FBT003
    assert read == types.Texts(must="here")
    assert [(finding.rule, finding.path) for finding in report] == [("FIELD_ABSENT", "known")]


def test_lists_that_are_read_are_not_shared(types: Any, codec: Any, nothing: bytes) -> None:
    first = codec.unpack(types.Texts, nothing, False, None)  # noqa: FBT003
    for name in VECTORS:
        getattr(first, name).append(None)
    again = codec.unpack(types.Texts, nothing, False, None)  # noqa: FBT003
    assert [getattr(again, name) for name in VECTORS] == [[]] * len(VECTORS)


def test_an_absent_required_string_is_damage_all_the_same(
    types: Any, codec: Any, nothing: bytes
) -> None:
    data = Forged(nothing)
    data.put(data.slot(data.root(), 2), 2, 0)
    assert [(f.rule, f.path) for f in codec.verify(types.Texts, data)] == [
        ("REQUIRED_FIELD_MISSING", "must")
    ]


def test_what_is_written_comes_back_even_if_it_is_the_default(types: Any, codec: Any) -> None:
    for texts in (types.Texts(), types.Texts(greeting="", empty="x", zero="", numbers=[1])):
        data = codec.pack(texts, {})
        assert codec.unpack(types.Texts, data, True, None) == texts  # noqa: FBT003
        assert codec.verify(types.Texts, data) == []


def test_none_is_refused_since_it_could_not_come_back(
    language: ModuleType, types: Any, codec: Any
) -> None:
    for name, expected in (("greeting", "str"), ("numbers", "a list"), ("bytes_", "bytes")):
        with pytest.raises(language.PackError) as caught:
            codec.pack(types.Texts(**{name: None}), {})
        assert str(caught.value) == f"{name}: expected {expected}, found None"


def test_a_view_sees_the_defaults(types: Any, language: ModuleType, nothing: bytes) -> None:
    assert language.codec_name()
    seen = import_module("language._native").view(types.Texts, nothing)
    assert seen == types.Texts(must="here")


def test_a_view_in_cpp_sees_the_defaults(driver: Driver, nothing: bytes) -> None:
    (seen,) = driver.read_all([("Texts", nothing)])
    # An empty text of no data and an absent vector are not printed.
    assert seen == {
        "greeting": TEXTS["greeting"],
        "must": "here",
        "known": "present",
        "zero": "a\0b",
    }


def test_a_deprecated_field_is_left_out_and_stays_none(types: Any, codec: Any) -> None:
    old = types.OldTexts()
    assert (old.text, old.numbers) == (None, None)
    data = codec.pack(old, {})
    assert codec.unpack(types.OldTexts, data, True, None) == old  # noqa: FBT003
    assert len(data) == len(codec.pack(types.OldTexts(), {})) < 20
