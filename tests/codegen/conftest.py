"""Reading small schemas that a test writes as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from placewire_codegen.diagnostics import SchemaError
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], Schema]:
    """Read a schema from text, with all parts of the language that the front end knows."""

    def read(text: str) -> Schema:
        schema = tmp_path / "schema.fbs"
        schema.write_text(text, encoding="utf-8")
        return load_schema([schema], root=tmp_path, features=frozenset(Feature))

    return read


@pytest.fixture
def messages(read: Callable[[str], Schema]) -> Callable[[str], list[str]]:
    """Return the messages for a faulty schema, without their places and quotes."""

    def messages(text: str) -> list[str]:
        with pytest.raises(SchemaError) as raised:
            read(text)
        return [diagnostic.message for diagnostic in raised.value.diagnostics]

    return messages
