"""The documentation says of every part of the language which target handles it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from placewire_codegen.config import DEFAULT_TARGETS
from placewire_codegen.features import Feature

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"


def documented() -> dict[str, list[str]]:
    """Return the targets of each row of the table."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| | " + " | ".join(DEFAULT_TARGETS) + " |")
    rows: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        handled = zip(DEFAULT_TARGETS, cells, strict=True)
        rows[name] = [str(target) for target, cell in handled if cell == "yes"]
    return rows


def test_the_table_of_features_is_true() -> None:
    assert len(Feature) > 10
    assert documented() == {
        feature.value: [
            target
            for target in DEFAULT_TARGETS
            if feature in import_module(f"placewire_codegen.targets.{target}").FEATURES
        ]
        for feature in Feature
    }
