"""Lays out schema comments as docstrings of generated Python."""

from __future__ import annotations

import textwrap

LINE_LENGTH = 100


def docstring(doc: tuple[str, ...], sections: list[str], *, indent: int) -> str:
    """Return a docstring of the schema's comment and further sections.

    The first line carries the summary; the caller indents what follows by `indent`.
    """
    paragraphs = "\n".join(line.strip() for line in doc).split("\n\n")
    blocks = [paragraph(text, indent=indent) for text in paragraphs if text.strip()] + sections
    text = "\n\n".join(blocks).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if "\n" not in text and len(text) + indent + 6 <= LINE_LENGTH:
        return f'"""{text}"""'
    return f'"""{text}\n"""'


def paragraph(text: str, *, indent: int, hanging: int = 0) -> str:
    """Wrap `text` for a block that will stand `indent` columns in, four of them the caller's."""
    lead = " " * max(indent - 4, 0)
    return textwrap.fill(
        " ".join(text.split()),
        width=LINE_LENGTH - 4 - (3 if indent <= 4 else 0),
        initial_indent=lead,
        subsequent_indent=lead + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
