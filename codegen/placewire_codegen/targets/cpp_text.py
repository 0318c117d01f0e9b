"""Pieces of C++ text: comments, literals and short functions, laid out as clang-format would."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence

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


def signature(head: str, parameters: Sequence[str], tail: str) -> str:
    """Return `head(parameters) tail`, parameters that do not fit on later lines.

    One column is left free for the `{` or `;` that follows.
    """
    lines = [head + "("]
    column = len(lines[0])
    for index, parameter in enumerate(parameters):
        is_last = index == len(parameters) - 1
        piece = parameter + (f"){tail} " if is_last else ",")
        gap = "" if index == 0 else " "
        if index and len(lines[-1]) + len(gap) + len(piece) > LINE_LENGTH - is_last:
            lines.append(" " * column + piece)
        else:
            lines[-1] += gap + piece
    return "\n".join(lines).rstrip()


def guard(condition: str, action: str, *, indent: int) -> str:
    """Return an `if` that does `action`, on one line if it fits."""
    margin = " " * indent
    line = f"{margin}if ({condition}) {action}"
    if len(line) <= LINE_LENGTH:
        return line
    return f"{margin}if ({condition}) {{\n{margin}  {action}\n{margin}}}"


def filled(start: str, items: Iterable[str], end: str, *, indent: int = 0) -> str:
    """Return `items`, separated by commas, aligned behind `start` or, if that is shorter, below."""
    texts = list(items)
    aligned = _fill(" " * indent + start, texts, end, margin=indent + len(start))
    if len(aligned) <= 2:
        return "\n".join(aligned)
    below = _fill(" " * (indent + 4), texts, end, margin=indent + 4)
    return "\n".join(aligned if len(aligned) <= len(below) + 1 else [" " * indent + start, *below])


def _fill(first: str, texts: list[str], end: str, *, margin: int) -> list[str]:
    lines = [first]
    for index, text in enumerate(texts):
        item = text + (", " if index + 1 < len(texts) else end)
        if len((lines[-1] + item).rstrip()) > LINE_LENGTH and index > 0:
            lines.append(" " * margin)
        lines[-1] += item
    return [line.rstrip() for line in lines]


def string_literal(text: str) -> str:
    """Return `text` as a C++ string literal in plain ASCII."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(char) or _escaped(char) for char in text) + '"'


def string_view_literal(text: str) -> str:
    """Return `text` as an initializer of a `std::string` or `std::string_view`, "" if empty.

    The length stands beside a text that a zero byte would cut off.
    """
    if not text:
        return ""
    literal = string_literal(text)
    return f"{{{literal}, {len(text.encode())}}}" if "\0" in text else literal


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
