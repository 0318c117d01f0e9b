"""Schema evolution: what a change of a schema breaks, found without looking at its text."""

from __future__ import annotations

from .compare import compare_schemas, is_identical_on_the_wire
from .findings import Finding
from .rules import RULES, Affected, Level, Rule

__all__ = [
    "RULES",
    "Affected",
    "Finding",
    "Level",
    "Rule",
    "compare_schemas",
    "is_identical_on_the_wire",
]
