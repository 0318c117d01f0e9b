"""Files that commands write: what keeps one from being written is found before the work."""

from __future__ import annotations

import os
from pathlib import Path

import typer

__all__ = ["check_writable"]


def check_writable(out: Path, option: str, kind: str) -> None:
    """Find before the work what would keep its result from being written after it.

    Args:
        out: The file.
        option: The option that names it, such as `--out`.
        kind: What it is to hold, such as `a program`.

    Raises:
        typer.BadParameter: It cannot be written; the message says why and what to do.
    """
    target = Path(os.path.realpath(out))  # a link stays; what it leads to is written
    folder = target.parent
    named = f"the folder {out.parent}"
    if out.is_symlink():
        named = f"{out} is a link to {target}, and the folder {folder}"
    if str(out) == "-":
        problem = f"{kind} is not text, so it goes to a file; name one"
    elif out.is_dir():
        problem = f"{out} is a folder; name a file in it"
    elif target.is_symlink():
        problem = f"{out} is a link that leads back to itself; name another file"
    elif out.exists() and not out.is_file():
        problem = f"{out} is no regular file; name another one"
    elif not folder.is_dir():
        problem = f"{named} is not there; create it first"
    elif not os.access(folder, os.W_OK):
        problem = f"{named} cannot be written to; name a file in another one"
    else:
        return
    raise typer.BadParameter(problem, param_hint=option)
