"""Findings as text, JSON, GitHub annotations and JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from ..model import Location
from .findings import Finding
from .references import Side
from .rules import Level

__all__ = ["FORMATS", "Report", "escape_github"]


@dataclass(frozen=True)
class Report:
    """The findings of one comparison, and where their places are.

    Attributes:
        findings: What is shown.
        base: The old side.
        head: The new side.
    """

    findings: Sequence[Finding]
    base: Side
    head: Side

    def place(self, finding: Finding) -> tuple[Side, Location]:
        """Where to look first: in the new schema, or in the old one for what is gone."""
        if finding.head is not None:
            return self.head, finding.head
        assert finding.base is not None
        return self.base, finding.base

    def text(self) -> Iterator[str]:
        """Yield lines for people."""
        for finding in self.findings:
            side, location = self.place(finding)
            yield f"{side.place(location)}: {finding}"
            if finding.base is not None and finding.head is not None:
                yield f"    was: {self.base.place(finding.base)}"
            yield f"    {finding.consequence}"

    def json(self) -> Iterator[str]:
        """Yield one object a line."""
        for finding in self.findings:
            yield json.dumps(
                {
                    "rule": finding.rule.name,
                    "level": finding.level.value,
                    "path": finding.path,
                    "message": finding.message,
                    "breaks": [who.value for who in finding.affected],
                    "consequence": finding.consequence,
                    "base": _json_place(self.base, finding.base),
                    "head": _json_place(self.head, finding.head),
                }
            )

    def github(self) -> Iterator[str]:
        """Yield workflow commands, which GitHub shows beside the lines of a change."""
        for finding in self.findings:
            side, location = self.place(finding)
            kind = "warning" if finding.level is Level.SOURCE else "error"
            properties = {"file": side.path(location), "title": finding.rule.name}
            if location.line:
                properties |= {"line": str(location.line), "col": str(location.column)}
            written = ",".join(
                f"{key}={escape_github(value, properties=True)}"
                for key, value in properties.items()
            )
            message = f"{finding.path}: {finding.message}. {finding.consequence}"
            yield f"::{kind} {written}::{escape_github(message)}"

    def junit(self) -> Iterator[str]:
        """Yield a test suite, in which each finding is a case that failed."""
        count = len(self.findings)
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield (
            f'<testsuite name="placewire compat" tests="{max(1, count)}" failures="{count}" '
            'errors="0" skipped="0">'
        )
        if not self.findings:
            yield '  <testcase classname="placewire compat" name="no findings"/>'
        for finding in self.findings:
            side, location = self.place(finding)
            name = quoteattr(f"{finding.rule.name} {finding.path}")
            yield f"  <testcase classname={quoteattr(side.path(location))} name={name}>"
            what = quoteattr(f"{finding.path}: {finding.message}")
            yield f'    <failure type="{finding.level.value}" message={what}>'
            yield escape(f"{side.place(location)}: {finding.consequence}") + "</failure>"
            yield "  </testcase>"
        yield "</testsuite>"


FORMATS: dict[str, Callable[[Report], Iterable[str]]] = {
    "text": Report.text,
    "json": Report.json,
    "github": Report.github,
    "junit": Report.junit,
}
"""How findings can be written, by name."""


def _json_place(side: Side, location: Location | None) -> dict[str, object] | None:
    if location is None:
        return None
    return {"path": side.path(location), "line": location.line, "column": location.column}


def escape_github(text: str, *, properties: bool = False) -> str:
    """Escape text for a workflow command of GitHub, or for one of its properties."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C") if properties else escaped
