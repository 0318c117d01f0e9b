"""One row of the table of changes: two schemas, and what is to be found between them.

The numbers are those of docs/compat_changes.md; a number has several rows where the
change has several forms.
"""

from __future__ import annotations

from dataclasses import dataclass

from placewire_codegen.evolution import RULES, Level


@dataclass(frozen=True)
class Row:
    """A change, and what is to be found.

    Attributes:
        number: Which kind of change it is.
        change: What changes, in words.
        before: The old schema.
        after: The new one.
        findings: Rule and path of each finding.
        flatc: Whether `flatc --conform` reports the change.
    """

    number: int
    change: str
    before: str
    after: str
    findings: frozenset[tuple[str, str]]
    flatc: bool

    @property
    def level(self) -> Level | None:
        """The worst level of the findings."""
        levels = {RULES[rule].level for rule, _ in self.findings}
        return next((level for level in Level if level in levels), None)

    @property
    def id(self) -> str:
        return f"{self.number}, {self.change}"


def row(
    number: int, change: str, before: str, after: str, *findings: str, flatc: bool = False
) -> Row:
    """Return a row; a finding is written `RULE path`."""
    pairs = frozenset((rule, path) for rule, _, path in (text.partition(" ") for text in findings))
    return Row(number, change, before, after, pairs, flatc)
