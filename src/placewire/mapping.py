"""Mapping a file into memory, and reading what others may change meanwhile."""

from __future__ import annotations

import errno
import mmap
import os
import stat
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["map_privately", "settled"]

# Linux reserves memory for every writable page of a private mapping and refuses files larger than
# the memory; but hardly any page is ever written. The constant is missing from Python's mmap.
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0

_TOO_LARGE = 1 << 31
"""Bytes that no FlatBuffer can have, for its offsets are signed."""


def map_privately(path: Path) -> memoryview:
    """Map a file copy-on-write: it can be written to in memory, and the file never changes.

    Pages are read when they are touched, so what another process writes to the file may be seen
    until then; see `settled`. A pipe is read at once. Nobody may shorten the file as long as the
    view lives: the operating system kills the process that touches a page that is gone.

    Raises:
        OSError: The file cannot be opened, or is neither a regular file nor a pipe.
    """
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        if stat.S_ISFIFO(status.st_mode):
            return memoryview(bytearray(file.read()))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is neither a regular file nor a pipe", str(path))
        if status.st_size == 0:
            return memoryview(b"")
        return memoryview(
            mmap.mmap(
                file.fileno(),
                status.st_size,
                flags=mmap.MAP_PRIVATE | _NO_RESERVE,
                prot=mmap.PROT_READ | mmap.PROT_WRITE,
            )
        )


def settled(flatbuffer: memoryview) -> memoryview:
    """Return the bytes of a FlatBuffer so that no other process can change them.

    A codec checks a FlatBuffer and then reads it without further checks, so what it reads must be
    what it has checked.

    Args:
        flatbuffer: A view of any buffer. If that is an `mmap.mmap`, it is copied; of one that is
            too large for a FlatBuffer only as much as shows that.
    """
    if isinstance(flatbuffer.obj, mmap.mmap):
        return memoryview(bytes(flatbuffer[:_TOO_LARGE]))
    return flatbuffer
