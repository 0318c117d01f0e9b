"""flatc reads from our bytes what the objects meant, for random objects of every table."""

from __future__ import annotations

import json
import math
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from placewire_schema import pack
from placewire_schema.reflection import describe, tables

from placewire.inspect import to_json
from tests.schema.strategies import objects

SCHEMA = Path(__file__).parents[2] / "schema"
TABLES = sorted(tables(), key=lambda type_: type_.__name__)

_BARE_NUMBER = re.compile(r"(?<=[\s\[:])-?(?:nan|inf)(?=[,\s\]])")
_PYTHON_NAMES = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def parse(text: str) -> Any:
    """Parse flatc's JSON, which spells NaN and the infinities in its own way."""
    return json.loads(_BARE_NUMBER.sub(lambda match: _PYTHON_NAMES[match[0]], text))


def same(found: Any, expected: Any, tolerance: float = 1e-11) -> bool:
    """Compare two JSON values; flatc prints 12 digits of a floating-point number."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            same(found[key], expected[key], tolerance) for key in found
        )
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(
            same(*pair, tolerance) for pair in zip(found, expected, strict=True)
        )
    if isinstance(found, float) or isinstance(expected, float):
        if math.isnan(found) or math.isnan(expected):
            return math.isnan(found) and math.isnan(expected)
        return math.isclose(found, expected, rel_tol=tolerance, abs_tol=tolerance)
    return bool(found == expected)


def read_with_flatc(flatc: Path, type_: type[Any], buffers: list[bytes]) -> list[Any]:
    """Return what flatc reads from each buffer, whose root is a `type_`."""
    schema = SCHEMA / ("device_info.fbs" if "Device" in type_.__name__ else "program.fbs")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"object{i}.bin" for i in range(len(buffers))]
        for file, buffer in zip(files, buffers, strict=True):
            file.write_bytes(buffer)
        subprocess.run(
            [
                *(flatc, "-o", folder, "--json", "--strict-json", "--raw-binary"),
                *("--root-type", describe(type_).wire_name, "-I", SCHEMA, schema, "--"),
                *files,
            ],
            check=True,
            capture_output=True,
        )
        return [parse(file.with_suffix(".json").read_text()) for file in files]


def test_there_are_tables() -> None:
    assert len(TABLES) > 30


@pytest.mark.parametrize("type_", TABLES)
def test_flatc_reads_what_was_meant(flatc: Path, type_: type[Any]) -> None:
    @settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(objects(type_), min_size=1, max_size=10))
    def check(examples: list[Any]) -> None:
        read = read_with_flatc(flatc, type_, [pack(example) for example in examples])
        for found, example in zip(read, examples, strict=True):
            assert same(found, parse(to_json(example))), example

    check()
