"""The native codec and the Python one give the same bytes, objects, findings and messages."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewire_schema import CodecError, Finding, UnknownMember, _native, _pure, program
from placewire_schema.reflection import (
    FieldInfo,
    TableReference,
    UnionInfo,
    VectorInfo,
    describe,
    tables,
)

from .damage import damaged, flatbuffer_of
from .strategies import JUNK, objects

TABLES = sorted(tables(), key=lambda type_: (type_.__module__, type_.__name__))
SMALL_FILES = ["scalars_in", "dev_add_noplan", "cond", "dev_add"]
MUTATIONS_PER_FILE = 1500

patient = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def outcome(action: Callable[[], Any]) -> tuple[str, str]:
    """Return what an action gives, or the error that it raises, as text that can be compared.

    NaN differs from itself, so objects are compared by their text.
    """
    try:
        return "result", repr(action())
    except (CodecError, TypeError, ValueError, ArithmeticError, LookupError, RuntimeError) as error:
        return type(error).__name__, str(error)


def test_there_are_tables() -> None:
    assert len(TABLES) > 30


@pytest.mark.parametrize("type_", TABLES, ids=lambda type_: type_.__name__)
@patient
@given(data=st.data())
def test_objects_of_every_table_give_the_same_bytes(type_: type[Any], data: st.DataObject) -> None:
    obj = data.draw(objects(type_))
    packed = _native.pack(obj, {})
    assert packed == _pure.pack(obj, {})
    for codec in (_native, _pure):
        again = codec.unpack(type_, packed, True, None)  # noqa: FBT003
        assert repr(again) == repr(obj)
        assert codec.pack(again, {}) == packed
        assert codec.verify(type_, packed) == []


def descend(obj: Any, data: st.DataObject) -> tuple[Any, FieldInfo] | None:
    """Choose a field anywhere below `obj`; None if there is none on the way taken."""
    fields = describe(type(obj)).fields
    if not fields:
        return None
    field = data.draw(st.sampled_from(fields))
    child = getattr(obj, field.name)
    if (
        isinstance(field.type, VectorInfo)
        and isinstance(field.type.element, TableReference)
        and child
    ):
        child = data.draw(st.sampled_from(child))
    elif not isinstance(field.type, TableReference | UnionInfo) or child is None:
        return obj, field
    return descend(child, data) if data.draw(st.integers(0, 3)) else (obj, field)


@settings(patient, max_examples=600)
@given(data=st.data())
def test_what_one_refuses_the_other_refuses_with_the_same_words(data: st.DataObject) -> None:
    obj = data.draw(objects(data.draw(st.sampled_from(TABLES))))
    spoiled = descend(obj, data)
    if spoiled is not None:
        owner, field = spoiled
        junk = data.draw(st.sampled_from([*JUNK, lambda: UnknownMember(9), program.Null]))
        setattr(owner, field.name, junk())
    assert outcome(lambda: _native.pack(obj, {})) == outcome(lambda: _pure.pack(obj, {}))


@settings(patient, max_examples=200)
@given(data=st.data())
def test_a_spoiled_element_is_refused_with_the_same_words(data: st.DataObject) -> None:
    obj = data.draw(
        objects(data.draw(st.sampled_from([program.Tensor, program.Chain, program.BoolList])))
    )
    items = getattr(
        obj, {"Tensor": "sizes", "Chain": "instructions", "BoolList": "items"}[type(obj).__name__]
    )
    items.insert(data.draw(st.integers(0, len(items))), data.draw(st.sampled_from(JUNK))())
    assert outcome(lambda: _native.pack(obj, {})) == outcome(lambda: _pure.pack(obj, {}))


@pytest.mark.parametrize("name", SMALL_FILES)
def test_damaged_files_give_the_same_findings_and_objects(corpus: Path, name: str) -> None:
    original = flatbuffer_of((corpus / f"{name}.pte").read_bytes())
    source = random.Random(name)
    sound = rules = 0
    for _ in range(MUTATIONS_PER_FILE):
        data = damaged(original, source)
        findings = _native.verify(program.Program, data)
        assert findings == _pure.verify(program.Program, data)
        sound += not findings
        rules += len(findings)
        for strict in (True, False):
            reports: tuple[list[Finding], list[Finding]] = ([], [])
            results = [
                outcome(lambda: codec.unpack(program.Program, data, strict, report))  # noqa: B023
                for codec, report in zip((_native, _pure), reports, strict=True)
            ]
            assert results[0] == results[1]
            assert reports[0] == reports[1]
    assert sound > 10
    assert rules > 100


def test_real_files_are_rewritten_byte_for_byte(corpus: Path) -> None:
    files = sorted(corpus.glob("*.pte"))
    assert len(files) >= 16
    for file in files:
        data = file.read_bytes()
        read = [codec.unpack(program.Program, data, True, None) for codec in (_native, _pure)]  # noqa: FBT003
        assert repr(read[0]) == repr(read[1])
        expected = without_header(data)
        assert _native.pack(read[0], {}) == expected
        assert _pure.pack(read[1], {}) == expected


def without_header(file: bytes) -> bytes:
    """Return the FlatBuffer of a file as it was before the extended header went in."""
    if file[8:12] != b"eh00":
        return file
    size = int.from_bytes(file[16:24], "little")
    header = int.from_bytes(file[12:16], "little")
    root = int.from_bytes(file[:4], "little") - header
    return root.to_bytes(4, "little") + file[4:8] + file[8 + header : size]
