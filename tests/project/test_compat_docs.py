"""The pages about `placewire compat` list the rules and the changes that there are."""

from __future__ import annotations

import re
from pathlib import Path

from placewire_codegen.evolution import RULES

from tests.codegen.evolution.row import Row
from tests.codegen.evolution.rows import ROWS

DOCS = Path(__file__).parents[2] / "docs"


def line(row: Row) -> str:
    rules = ", ".join(sorted({rule for rule, _ in row.findings})) or "-"
    level = row.level.value if row.level else "-"
    flatc = "yes" if row.flatc else "no"
    return f"| {row.number} | {row.change} | {level} | {rules} | {flatc} |"


def test_the_guide_lists_every_rule() -> None:
    page = (DOCS / "compat.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `[A-Z_]+` \| .*$", page, re.MULTILINE)
    assert listed == [
        f"| `{rule.name}` | {rule.level.value} | {rule.meaning} |" for rule in RULES.values()
    ]


def test_every_change_is_listed_with_what_is_found() -> None:
    page = (DOCS / "compat_changes.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \d+ \| .*$", page, re.MULTILINE)
    assert listed == [line(row) for row in ROWS]
