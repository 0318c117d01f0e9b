"""Source text, places in it, and the error messages that quote them."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_WIDEST_QUOTE = 100


class Source:
    """The text of one schema file.

    Attributes:
        path: What messages call it.
        model_path: What the model calls it, if that is something else.
    """

    def __init__(self, path: str, text: str, *, model_path: str | None = None) -> None:
        self.path = path
        self.text = text
        self.model_path = path if model_path is None else model_path

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1, columns in characters."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def declared_at(self, offset: int) -> tuple[str, int, int]:
        """File, line and column of a character offset, as the model holds them."""
        starts = self._line_starts
        line = bisect_right(starts, offset)
        return self.model_path, line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Text of a line, counted from 1, without its line break."""
        start = self._line_starts[number - 1]
        end = self.text.find("\n", start)
        return (self.text[start:] if end < 0 else self.text[start:end]).rstrip("\r")


class Span(NamedTuple):
    """A stretch of a source: characters `start` up to but not including `end`."""

    source: Source
    start: int
    end: int

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.path}:{line}:{column}"

    def quote(self) -> str:
        """The source line with the span underlined; only the first line of a longer span."""
        line, column = self.source.position(self.start)
        text = self.source.line(line)
        length = max(1, min(self.end - self.start, len(text) - column + 1))
        before, marked, after = _clip(text, column - 1, length)
        gutter = f"{line:>4}"
        indent = "".join("\t" if char == "\t" else " " * _width(char) for char in before)
        underline = "^" * max(1, sum(map(_width, marked)))
        return (
            f"{gutter} | {_printable(before + marked + after)}\n"
            f"{' ' * len(gutter)} | {indent}{underline}"
        )


class Note(NamedTuple):
    """A second place that belongs to a diagnostic, with what is to be seen there."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One defect of a schema.

    Attributes:
        message: What was found and what was expected, without a full stop.
        span: Where it is; None if it concerns the whole file.
        path: The file, as messages name it.
        hint: What to do about it, where there is something to say.
        notes: Other places that explain it.
    """

    message: str
    span: Span | None
    path: str
    hint: str | None = None
    notes: tuple[Note, ...] = ()

    def __str__(self) -> str:
        place = self.path if self.span is None else str(self.span)
        lines = [f"{place}: error: {self.message}"]
        if self.span is not None:
            lines.append(self.span.quote())
        if self.hint is not None:
            lines.append(f"     = hint: {self.hint}")
        for note in self.notes:
            lines.append(f"{note.span}: note: {note.message}")
            lines.append(note.span.quote())
        return "\n".join(lines)


class SchemaError(Exception):
    """The schemas cannot be used; `diagnostics` lists every defect, file by file, in order."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(self.diagnostics)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.diagnostics))


class Diagnostics:
    """Collects the defects of all files while the front end goes on."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def error(
        self, span: Span, message: str, *, hint: str | None = None, notes: Iterable[Note] = ()
    ) -> None:
        """Record a defect at a place."""
        self._found.append(Diagnostic(message, span, span.source.path, hint, tuple(notes)))

    def file_error(self, path: str, message: str, *, hint: str | None = None) -> None:
        """Record a defect of a file that has no text to quote."""
        self._found.append(Diagnostic(message, None, path, hint))

    def __len__(self) -> int:
        return len(self._found)

    def raise_if_any(self, files: Iterable[str]) -> None:
        """Raise `SchemaError` if a defect was recorded.

        Args:
            files: Paths in the order in which their defects are to be listed.
        """
        if not self._found:
            return
        order = {path: index for index, path in enumerate(files)}

        def place(diagnostic: Diagnostic) -> tuple[int, int]:
            start = -1 if diagnostic.span is None else diagnostic.span.start
            return order.get(diagnostic.path, len(order)), start

        raise SchemaError(sorted(self._found, key=place))


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `word` is most likely a misspelling of, or None."""
    from difflib import get_close_matches  # only a faulty schema pays for the import

    by_lower = {candidate.lower(): candidate for candidate in candidates}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[matches[0]] if matches else None


def _clip(text: str, start: int, length: int) -> tuple[str, str, str]:
    """Split a line into before, marked and after, cutting what no screen line can hold."""
    end = start + length
    if len(text) <= _WIDEST_QUOTE:
        return text[:start], text[start:end], text[end:]
    first = max(0, min(start - _WIDEST_QUOTE // 3, len(text) - _WIDEST_QUOTE))
    last = min(len(text), first + _WIDEST_QUOTE)
    before = ("..." if first > 0 else "") + text[first:start]
    after = text[end:last] + ("..." if max(last, end) < len(text) else "")
    return before, text[start : min(end, last)], after


def _width(char: str) -> int:
    """Screen columns of a character."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _printable(text: str) -> str:
    """Replace characters that would act on a terminal; tabs stay."""
    return "".join(char if char.isprintable() or char == "\t" else "\ufffd" for char in text)
