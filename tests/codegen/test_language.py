"""Which small schemas are accepted and which are not; tests/peers compares flatc's verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.features import Feature
from placewire_codegen.resolve import load_schema

from tests.codegen.accepted_schemas import ACCEPTED, write_included
from tests.codegen.rejected_schemas import REJECTED


@pytest.mark.parametrize("topic", ACCEPTED)
def test_schemas_that_flatc_accepts_are_accepted(tmp_path: Path, topic: str) -> None:
    assert ACCEPTED[topic]
    write_included(tmp_path)
    schema = tmp_path / "case.fbs"
    for text in ACCEPTED[topic]:
        schema.write_text(f"{text}\n", encoding="utf-8")
        load_schema([schema], root=tmp_path, features=frozenset(Feature))


@pytest.mark.parametrize("topic", REJECTED)
def test_schemas_that_flatc_rejects_are_rejected(tmp_path: Path, topic: str) -> None:
    assert REJECTED[topic]
    write_included(tmp_path)
    schema = tmp_path / "case.fbs"
    for text in REJECTED[topic]:
        schema.write_text(f"{text}\n", encoding="utf-8")
        with pytest.raises(SchemaError) as raised:
            load_schema([schema], root=tmp_path, features=frozenset(Feature))
        assert "not supported yet" not in str(raised.value), text
