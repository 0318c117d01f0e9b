"""Pieces of C++ text: comments, literals and short functions, laid out as clang-format would."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from ..model import ScalarKind

LINE_LENGTH = 100


def comment(doc: Sequence[str], *, indent: int = 0) -> tuple[str, ...]:
    """Return the lines of a `///` comment, indented.

    A line that is too long is wrapped, and with it what follows in the same paragraph.
    """
    margin = " " * indent
    width = LINE_LENGTH - indent - len("/// ")
    return tuple(f"{margin}/// {line}".rstrip() for line in _wrapped(doc, width))


def _wrapped(doc: Sequence[str], width: int) -> Iterator[str]:
    lines = list(doc)
    while lines:
        line = lines.pop(0)
        if len(line) <= width:
            yield line
            continue
        paragraph = [line]
        while lines and lines[0].strip():
            paragraph.append(lines.pop(0))
        yield from textwrap.wrap(
            " ".join(paragraph), width, break_long_words=False, break_on_hyphens=False
        )


def function(declaration: str, body: str, *, indent: int) -> str:
    """Return a function on one line if it fits, on three otherwise."""
    margin = " " * indent
    line = f"{margin}{declaration} {{ {body} }}"
    if len(line) <= LINE_LENGTH:
        return line
    return f"{margin}{declaration} {{\n{margin}  {body}\n{margin}}}"


def string_literal(text: str) -> str:
    """Return `text` as a C++ string literal in plain ASCII."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(char) or _escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if " " <= char <= "~":
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode("utf-8"))


def integer_literal(value: int, kind: ScalarKind) -> str:
    """Return `value` as a literal of a type that holds it without a warning."""
    if value == -(1 << 63):
        return "INT64_MIN"
    if kind is ScalarKind.UINT64 or value > (1 << 63) - 1:
        return f"{value}u"
    return str(value)


def float_literal(value: float, kind: ScalarKind) -> str:
    """Return a float or double literal, empty for (positive) zero."""
    type_ = "float" if kind is ScalarKind.FLOAT32 else "double"
    if math.isnan(value):
        return f"std::numeric_limits<{type_}>::quiet_NaN()"
    if math.isinf(value):
        sign = "-" if value < 0 else ""
        return f"{sign}std::numeric_limits<{type_}>::infinity()"
    if value == 0 and math.copysign(1, value) > 0:
        return ""
    return f"{value!r}f" if kind is ScalarKind.FLOAT32 else repr(value)
