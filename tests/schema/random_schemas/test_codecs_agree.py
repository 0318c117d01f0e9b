"""Both codecs of random schemas give the same bytes, objects, findings and messages."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ..agreement import Codecs, assert_agreement
from ..damage import damaged
from ..strategies import JUNK
from ..test_codecs_agree import outcome, patient
from .batch import OBJECTS, Batch

DAMAGED = 12
"""Damaged copies of each object."""


def test_objects_give_the_same_bytes(batch: Batch, codecs: Codecs) -> None:
    assert len(batch.objects) == OBJECTS * len(batch.entries) > 200
    for root, obj in batch.objects:
        packed = codecs.native.pack(obj, {})
        assert packed == codecs.python.pack(obj, {})
        for codec in codecs:
            again = codec.unpack(batch.types[root], packed, True, None)  # noqa: FBT003
            assert repr(again) == repr(obj)
            assert codec.verify(batch.types[root], packed) == []
            assert codec.pack(again, {}) == packed


def test_a_view_shows_what_was_packed(batch: Batch, codecs: Codecs) -> None:
    for (root, obj), (_, packed) in zip(batch.objects, batch.packed, strict=True):
        view = codecs.native.view(batch.types[root], packed)
        assert view == obj or "nan" in repr(obj)
        for codec in codecs:
            assert codec.pack(view, {}) == packed


def test_damaged_buffers_give_the_same_findings_and_objects(batch: Batch, codecs: Codecs) -> None:
    source = random.Random("random schemas")
    sound = [
        assert_agreement(codecs, batch.types[root], damaged(packed, source))
        for root, packed in batch.packed
        for _ in range(DAMAGED)
    ]
    # Both outcomes happen often, or the damage would not test much.
    assert len(sound) // 20 < sum(sound) < len(sound) * 3 // 4


def spoil(obj: Any, data: st.DataObject) -> None:
    """Put something that hardly fits into a field of an object or of one below it."""
    names = list(obj.__dataclass_fields__)
    if not names:
        return
    name = data.draw(st.sampled_from(names))
    value = getattr(obj, name)
    if hasattr(value, "__dataclass_fields__") and data.draw(st.booleans()):
        spoil(value, data)
    elif isinstance(value, list) and value and data.draw(st.booleans()):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.sampled_from(JUNK))()
    else:
        setattr(obj, name, data.draw(st.sampled_from(JUNK))())


def test_what_one_refuses_the_other_refuses_with_the_same_words(
    batch: Batch, codecs: Codecs
) -> None:
    roots = [(batch.types[root], packed) for root, packed in batch.packed]
    outcomes: list[str] = []

    @settings(patient, max_examples=600, database=None)
    @given(st.sampled_from(roots), st.data())
    def check(chosen: tuple[type[Any], bytes], data: st.DataObject) -> None:
        obj = codecs.python.unpack(*chosen, True, None)  # noqa: FBT003
        spoil(obj, data)
        native, python = (outcome(partial(codec.pack, obj, {})) for codec in codecs)
        assert native == python
        outcomes.append(native[0])

    check()
    assert set(outcomes) == {"result", "PackError"}


@pytest.mark.parametrize("alignment", [1, 16, 256])
def test_vectors_are_aligned_alike(batch: Batch, codecs: Codecs, alignment: int) -> None:
    """Every vector of a root table is asked to be aligned."""
    describe = batch.package.module("reflection").describe
    for (root, obj), _ in zip(batch.objects, batch.packed, strict=True):
        type_ = batch.types[root]
        keys = {
            f"{type_.__name__}.{field.name}": alignment
            for field in describe(type_).fields
            if type(field.type).__name__ == "VectorInfo"
        }
        native, python = (outcome(lambda: codec.pack(obj, keys)) for codec in codecs)  # noqa: B023
        assert native == python
