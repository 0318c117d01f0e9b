"""The commands of `placewire`, one module each, and how they talk to the user."""

from __future__ import annotations

import sys
from enum import Enum
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "FAILURE",
    "OUR_FAULT",
    "WRONG_USAGE",
    "PlannerMode",
    "count",
    "fail",
    "is_terminal",
    "output",
    "printable",
    "refuse",
    "say",
]

FAILURE = 1
"""Exit code for findings and failures."""

WRONG_USAGE = 2
"""Exit code for wrong usage, which typer uses, too."""

OUR_FAULT = 3
"""Exit code for a result that placewire has found to contradict itself."""

_WIDE = 10_000


class PlannerMode(str, Enum):
    """The modes of `placewire.planner`, which is not imported to show the help."""

    FAST = "fast"
    SEARCH = "search"
    EXACT = "exact"


def say(message: str) -> None:
    """Tell the user something that is not the result."""
    typer.echo(message, err=True)


def fail(message: str) -> typer.Exit:
    """Tell why the command fails; raise what this returns."""
    say(f"error: {message}")
    return typer.Exit(FAILURE)


def refuse(message: str) -> typer.Exit:
    """Tell why the command cannot do what was asked; raise what this returns."""
    say(f"error: {message}")
    return typer.Exit(WRONG_USAGE)


def output() -> Console:
    """A console for results: with colours on a terminal, plain and never wrapped elsewhere."""
    from rich.console import Console

    return Console(highlight=False, width=None if is_terminal() else _WIDE)


def is_terminal() -> bool:
    """Whether results go to a terminal."""
    # There is no standard output at all if the caller has closed it.
    return sys.stdout is not None and sys.stdout.isatty()


def printable(text: str) -> str:
    """Text from a file with everything that could steer a terminal written as an escape."""
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 buffer`, `2 buffers`, `1 entry`, `2 entries`."""
    if number != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun}"
