"""Findings about files as text, JSON, GitHub annotations and JUnit XML, written as they come."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from .files import FileFinding
from .report import escape_github
from .rules import Level

__all__ = ["FILE_FORMATS"]


def _text(findings: Iterable[FileFinding]) -> Iterator[str]:
    return map(str, findings)


def _json(findings: Iterable[FileFinding]) -> Iterator[str]:
    for one in findings:
        yield json.dumps(
            {
                "file": one.file,
                "rule": one.rule,
                "level": one.level.value,
                "at": one.at,
                "path": one.path,
                "message": one.message,
            }
        )


def _github(findings: Iterable[FileFinding]) -> Iterator[str]:
    for one in findings:
        kind = "warning" if one.level is Level.SOURCE else "error"
        file = escape_github(one.file, properties=True)
        yield f"::{kind} file={file},title={one.rule}::{escape_github(_what(one))}"


def _junit(findings: Iterable[FileFinding]) -> Iterator[str]:
    """Yield a test suite; its cases wait on the disk, because their number comes before them."""
    count = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as cases:
        for one in findings:
            count += 1
            name = quoteattr(f"{one.rule} {one.at}")
            cases.write(f"  <testcase classname={quoteattr(one.file)} name={name}>\n")
            what = quoteattr(f"{one.path} {one.message}".strip())
            cases.write(f'    <failure type="{one.level.value}" message={what}>')
            cases.write(f"{escape(_what(one))}</failure>\n  </testcase>\n")
        cases.seek(0)
        yield '<?xml version="1.0" encoding="UTF-8"?>'
        yield (
            f'<testsuite name="placewire compat --files" tests="{max(1, count)}" '
            f'failures="{count}" errors="0" skipped="0">'
        )
        if not count:
            yield '  <testcase classname="placewire compat --files" name="no findings"/>'
        for line in cases:
            yield line.rstrip("\n")
        yield "</testsuite>"


def _what(one: FileFinding) -> str:
    about = f"{one.path} {one.message}" if one.path else one.message
    return f"{one.at}: {about}" if one.at else about


FILE_FORMATS: dict[str, Callable[[Iterable[FileFinding]], Iterator[str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "junit": _junit,
}
"""How findings about files can be written, by name: the names are those of `FORMATS`."""
