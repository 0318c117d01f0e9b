"""Writing a file so that it is there completely or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from placewire_schema.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["write_atomically"]

_BLOCK = 1 << 20
_ZEROS = bytes(_BLOCK)


def write_atomically(path: Path, chunks: Iterable[memoryview | bytes]) -> None:
    """Write `chunks` to `path` by way of a temporary file in the same folder.

    The old file, if any, stays untouched until the new one is complete and on disk; if anything
    fails, it stays for good and the temporary file is removed. The mode of an existing file is
    kept. A symbolic link stays a link; what it points to is replaced. Whole megabytes of zeros
    become holes in the file.

    Raises:
        AccessError: `path` is there and not a regular file.
        OSError: The file cannot be written; `filename` is `path`.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _mode_of(target)
        temporary = target.with_name(f".placewire-{secrets.token_hex(8)}")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            try:
                _write(descriptor, chunks, mode)
            finally:
                os.close(descriptor)
            temporary.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        if isinstance(error, AccessError):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error
    _sync_folder(target.parent)


def _mode_of(target: Path) -> int | None:
    """Permission bits of an existing regular file, `None` if there is no file."""
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise AccessError(f"{target} is {kind}; nothing is written over it")
    return stat.S_IMODE(status.st_mode)


def _write(descriptor: int, chunks: Iterable[memoryview | bytes], mode: int | None) -> None:
    for chunk in chunks:
        for start in range(0, len(chunk), _BLOCK):
            _write_block(descriptor, memoryview(chunk)[start : start + _BLOCK])
    os.truncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR))
    if mode is not None:
        os.fchmod(descriptor, mode)
    os.fsync(descriptor)


def _write_block(descriptor: int, block: memoryview) -> None:
    if len(block) == _BLOCK and bytes(block) == _ZEROS:
        os.lseek(descriptor, _BLOCK, os.SEEK_CUR)
        return
    while block:
        block = block[os.write(descriptor, block) :]


def _sync_folder(folder: Path) -> None:
    # The file is there and complete: a file system that cannot sync folders is no reason to fail.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
