"""Pieces of Markdown for the schema reference: prose, code, and what a cell of a table shows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..model import AttributeValue

# Attributes that the columns of a field show in words.
_SHOWN_IN_WORDS = frozenset(
    """bit_flags deprecated force_align id key nested_flatbuffer present required""".split()
)


def paragraphs(doc: tuple[str, ...]) -> tuple[str, ...]:
    """Join the lines of a doc comment into paragraphs; an empty line separates them."""
    text = "\n".join(line.strip() for line in doc).strip()
    return tuple(_prose(part.replace("\n", " ")) for part in re.split(r"\n{2,}", text) if part)


def one_line(doc: tuple[str, ...]) -> str:
    return " ".join(paragraphs(doc))


def _prose(text: str) -> str:
    """Keep a doc comment's code spans; elsewhere escape what Markdown or a table would take."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece.replace("|", "\\|") if index % 2 else escape(piece)
        for index, piece in enumerate(pieces)
    )


def escape(text: str) -> str:
    return re.sub(r"([\\*_\[\]<>|])", r"\\\1", text)


def attribute_list(attributes: dict[str, AttributeValue]) -> str:
    return ", ".join(
        f"`{name}`" if value is None or value is True else f"`{name}: {literal(value)}`"
        for name, value in sorted(attributes.items())
        if name not in _SHOWN_IN_WORDS
    )


def code(texts: Iterable[str]) -> str:
    """Return some texts as code, separated by commas."""
    return ", ".join(f"`{_cell(text)}`" for text in texts)


def attribute_value(value: AttributeValue) -> str:
    return "yes" if value is None or value is True else f"`{literal(value)}`"


def literal(value: AttributeValue | tuple[()]) -> str:
    """Return a value as JSON, fit for the cell of a table."""
    return json.dumps(value).replace("|", "\\|")


def count(number: int, plural: str) -> str:
    return f"{number} {plural.removesuffix('s') if number == 1 else plural}"


def _cell(text: str) -> str:
    """Escape what would end the cell of a table."""
    return text.replace("|", "\\|")
