"""The generated C++ of random schemas and the Python codec say the same about every buffer."""

from __future__ import annotations

import random

import pytest

from ..agreement import JsonWriter, Judge
from ..cpp.building import Driver
from ..damage import damaged
from ..forging import with_another_slot
from .batch import Batch

DAMAGED = 12
"""Damaged copies of each object."""

MUTATED = 50_000
"""Damaged copies of all objects together that only C++ looks at."""


@pytest.fixture(scope="module")
def judge(batch: Batch, driver: Driver) -> Judge:
    return Judge(batch.package.name, batch.types, driver)


def test_views_see_what_was_packed(batch: Batch, driver: Driver) -> None:
    package = batch.package
    as_json = JsonWriter(package.name, package.member_names(), package.deprecated_fields()).value
    seen = driver.read_all(batch.packed)
    assert len(seen) == len(batch.objects) > 200
    for found, (_, obj) in zip(seen, batch.objects, strict=True):
        assert repr(found) == repr(as_json(obj))


def test_both_accept_what_was_packed(batch: Batch, judge: Judge) -> None:
    assert judge.structure(batch.packed) == [None] * len(batch.packed)
    assert judge.meaning(batch.packed) == []


def test_both_refuse_every_truncation(batch: Batch, judge: Judge) -> None:
    """Cut off, a buffer lacks something, unless what is missing were zeros behind the last use."""
    largest = {
        root: max((d for r, d in batch.packed if r == root), key=len) for root in batch.types
    }
    cases = [(root, data[:end]) for root, data in largest.items() for end in range(len(data))]
    assert len(cases) > 1000
    said = judge.structure(cases)
    assert sum(finding is None for finding in said) < len(said) // 50


def test_both_say_the_same_about_damaged_buffers(batch: Batch, judge: Judge) -> None:
    source = random.Random("random schemas in C++")
    cases = [(root, damaged(data, source)) for root, data in batch.packed for _ in range(DAMAGED)]
    cases += [(root, with_another_slot(data)) for root, data in batch.packed]
    said = judge.structure(cases)
    sound = [case for case, finding in zip(cases, said, strict=True) if finding is None]
    assert len(sound) > len(cases) // 20
    assert {rule for rule, _ in judge.meaning(sound)} >= {"UNKNOWN_ENUM_VALUE", "UNKNOWN_FIELD"}
    assert len({finding[0] for finding in said if finding}) > 10


def test_mutated_buffers_are_judged_without_a_crash(batch: Batch, driver: Driver) -> None:
    words = driver.mutate(MUTATED, 1, batch.packed).split()
    assert words[:2] == [str(MUTATED), "checked,"]
    assert MUTATED // 20 < int(words[2]) < MUTATED // 2
