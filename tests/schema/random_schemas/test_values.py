"""Objects of random schemas go to bytes and come back as they were, in the Python codec.

PLACEWIRE_RANDOM_SCHEMAS says how many schemas to try; more than usual are others each time.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ..damage import damaged
from ..packages import Package, generate_package
from ..strategies import objects
from .schemas import RandomSchema, schemas

USUAL_COUNT = 120
COUNT = int(os.environ.get("PLACEWIRE_RANDOM_SCHEMAS", USUAL_COUNT))
OBJECTS = 6
DAMAGED = 4
"""Damaged copies of each object."""


@contextmanager
def imported(schema: RandomSchema) -> Iterator[Package]:
    """Generate the Python package of a schema, and forget it in the end."""
    name = "a_random_schema"
    with TemporaryDirectory() as folder:
        entry = schema.write(Path(folder) / "schemas")
        try:
            yield generate_package([entry], Path(folder), name=name, targets=("python",))
        finally:
            for module in [m for m in sys.modules if m.partition(".")[0] == name]:
                del sys.modules[module]


def check_object(package: Any, type_: type[Any], obj: Any) -> bytes:
    """Send an object to bytes and back; return the bytes."""
    packed: bytes = package.pack(obj)
    assert package.verify(type_, packed) == []
    unpacked = package.unpack(type_, packed)
    # NaN differs from itself, so objects are compared by their text.
    assert repr(unpacked) == repr(obj)
    assert package.pack(unpacked) == packed
    return packed


def check_damaged(package: Any, type_: type[Any], data: bytes) -> None:
    """Read a damaged buffer: it is refused with the first of its findings, or read."""
    findings = package.verify(type_, data)
    if not findings:
        package.unpack(type_, data)
        return
    with pytest.raises(package.UnpackError) as caught:
        package.unpack(type_, data)
    assert caught.value.finding == findings[0]


@settings(
    max_examples=COUNT,
    deadline=None,
    derandomize=COUNT <= USUAL_COUNT,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(schema=schemas(), data=st.data())
def test_objects_survive(schema: RandomSchema, data: st.DataObject) -> None:
    source = random.Random(schema.root)
    with imported(schema) as package:
        type_ = package.class_of(schema.root)
        for _ in range(OBJECTS):
            obj = data.draw(objects(type_, largest_list=2, deepest=4))
            packed = check_object(package.module(), type_, obj)
            for _ in range(DAMAGED):
                check_damaged(package.module(), type_, damaged(packed, source))
