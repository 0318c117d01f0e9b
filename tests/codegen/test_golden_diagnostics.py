"""The messages for faulty schemas, word for word: `golden/<name>.fbs` and `golden/<name>.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.resolve import load_schema

GOLDEN = Path(__file__).parent / "golden"
SCHEMAS = sorted(GOLDEN.glob("*.fbs"))
UPDATE = "pytest tests/codegen/test_golden_diagnostics.py --update-goldens"


def diagnostics_of(schema: Path) -> str:
    """Return all messages for a schema that has defects."""
    with pytest.raises(SchemaError) as raised:
        load_schema([schema], root=GOLDEN)
    return f"{raised.value}\n"


def test_there_are_goldens() -> None:
    assert len(SCHEMAS) >= 30


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_messages_are_as_recorded(schema: Path, update_goldens: bool) -> None:
    text = diagnostics_of(schema)
    golden = schema.with_suffix(".txt")
    if update_goldens:
        golden.write_text(text, encoding="utf-8")
        pytest.skip("recorded")
    assert golden.exists(), f"no golden for {schema.name}; record it with `{UPDATE}`"
    assert text == golden.read_text(encoding="utf-8")


def test_every_golden_has_its_schema() -> None:
    recorded = {path.stem for path in GOLDEN.glob("*.txt")}
    assert recorded == {path.stem for path in SCHEMAS}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_no_place_is_reported_twice(schema: Path) -> None:
    with pytest.raises(SchemaError) as raised:
        load_schema([schema], root=GOLDEN)
    places = [str(diagnostic.span) for diagnostic in raised.value.diagnostics]
    assert len(places) == len(set(places))
