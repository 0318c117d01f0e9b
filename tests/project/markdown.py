"""Takes fenced blocks, console sessions, headings and links out of Markdown pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, text, and the number of its first line."""

    language: str
    text: str
    line: int


@dataclass
class Command:
    """One command of a console session, what it printed, and its line in the page."""

    text: str
    line: int
    output: list[str] = field(default_factory=list)

    def matches(self, printed: str) -> bool:
        """Compare with what was printed; a line `...` stands for any number of lines."""
        pattern = "".join(
            r"(?:.*\n)*" if line == "..." else re.escape(line) + r" *\n" for line in self.output
        )
        text = printed.rstrip("\n") + "\n" if printed.strip() else ""
        return re.fullmatch(pattern, text) is not None


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    found: list[Block] = []
    language: str | None = None
    lines: list[str] = []
    start = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif language is None:
            language, lines, start = line.removeprefix("```").strip(), [], number + 1
        else:
            found.append(Block(language, "".join(f"{text}\n" for text in lines), start))
            language = None
    assert language is None, f"{page}: the block that begins in line {start - 1} has no end"
    return found


def commands(block: Block) -> list[Command]:
    """Split a console session: `$ ` begins a command, `> ` goes on with it, the rest is output."""
    found: list[Command] = []
    for number, line in enumerate(block.text.splitlines(), block.line):
        if line.startswith("$ "):
            found.append(Command(line.removeprefix("$ "), number))
        elif line == ">" or (line.startswith("> ") and not found[-1].output):
            found[-1].text += "\n" + line.removeprefix(">").removeprefix(" ")
        else:
            found[-1].output.append(line)
    return found


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield (file, anchor) of every relative link of a page; either may be empty."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors that a renderer gives to the headings of a page."""
    found: dict[str, int] = {}
    result = set()
    for line in page.read_text(encoding="utf-8").splitlines():
        heading = re.match(r"#{1,6} (.*)", line)
        if heading:
            slug = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
            count = found.get(slug, 0)
            found[slug] = count + 1
            result.add(f"{slug}-{count}" if count else slug)
    return result
