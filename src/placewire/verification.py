"""Checking a file with everything that placewire knows about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .mapping import map_privately
from .validate import validate

if TYPE_CHECKING:
    import os

    from placewire_schema import Finding

__all__ = ["verify_file"]


def verify_file(path: str | os.PathLike[str]) -> list[Finding]:
    """Find everything that is wrong with a .pte file.

    Returns:
        The findings: container, structure, meaning; see `placewire.validate.validate`.

    Raises:
        OSError: The file cannot be read.
        StaleBuildError: The compiled core is missing or belongs to another schema.
    """
    return validate(map_privately(Path(path)))
