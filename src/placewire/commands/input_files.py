"""Paths of files that commands read."""

from __future__ import annotations

from pathlib import Path

import typer

__all__ = ["file_path"]


def file_path(text: str) -> Path:
    """The path of a file, as an option or argument gives it.

    Raises:
        typer.BadParameter: It is empty, which would stand for the folder that one is in. That is
            what a shell makes of a variable that is not set.
    """
    if not text:
        raise typer.BadParameter("the path is empty; name a file")
    return Path(text)
