"""Checking a file: container, structure, then meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .pte import check_file

if TYPE_CHECKING:
    import os

    from placewire_schema import Finding

__all__ = ["verify_file"]


def verify_file(path: str | os.PathLike[str]) -> list[Finding]:
    """Find everything that is wrong with a .pte file.

    Returns:
        The findings. A fault of the container or of the FlatBuffer's structure is the only one:
        what lies behind it cannot be read.

    Raises:
        OSError: The file cannot be read.
    """
    return check_file(path)
