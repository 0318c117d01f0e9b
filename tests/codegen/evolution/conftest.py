"""Comparing two small schemas that a test writes as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from placewire_codegen.evolution import Finding, compare_schemas
from placewire_codegen.features import Feature
from placewire_codegen.model import Schema
from placewire_codegen.resolve import load_schema

Compare = Callable[[str, str], list[Finding]]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Compare two schemas, with all parts of the language."""

    def load(text: str) -> Schema:
        path = tmp_path / "schema.fbs"
        path.write_text(text, encoding="utf-8")
        return load_schema([path], root=tmp_path, features=frozenset(Feature))

    return lambda before, after: compare_schemas(load(before), load(after))
