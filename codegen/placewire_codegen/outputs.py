"""Compares generated files with the disk, and replaces what differs if it is ours to replace.

A file is ours if its banner names the same package and target. One without a banner is ours if it
is empty, or a binary schema where we write one.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .render import BANNER_START, COMMENT_STYLES, GeneratedFile

_BANNER = re.compile(
    rb"(?:<!--\r?\n)?\W*" + BANNER_START.encode() + rb" [^\n]*\n\W*Package: ([^\r\n]*)\r?\n"
)
_LONGEST_BANNER = 1000
_BINARY_SCHEMA = b"BFBS"


class WriteError(OSError):
    """An output could not be written or removed; `filename` is that of the output itself."""


@dataclass(frozen=True)
class Clash:
    """An output that cannot go where it should.

    Attributes:
        path: Relative to the root.
        reason: What is the matter with it, as the end of a sentence that begins with the path.
        can_be_forced: Whether it is a file that one may decide to lose.
    """

    path: str
    reason: str
    can_be_forced: bool


class ClashError(Exception):
    """Outputs would take the place of something else; nothing has been written."""

    def __init__(self, clashes: tuple[Clash, ...]) -> None:
        super().__init__("; ".join(f"{clash.path} {clash.reason}" for clash in clashes))
        self.clashes = clashes


@dataclass(frozen=True)
class Changes:
    """What separates the files on disk from the generated ones; paths relative to the root.

    Attributes:
        missing: Not there.
        different: There with another content.
        left_over: There since an earlier run, and not generated any more.
        clashes: What must not be written, or not without being asked to.
    """

    missing: tuple[str, ...]
    different: tuple[str, ...]
    left_over: tuple[str, ...]
    clashes: tuple[Clash, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.different or self.left_over or self.clashes)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted((*self.missing, *self.different, *self.left_over)))


def compare(root: Path, files: Iterable[GeneratedFile], directories: Iterable[Path]) -> Changes:
    """Compare `files` with what is on disk.

    A file in one of `directories` that is ours, but is not generated any more, is left over from an
    earlier run.

    Raises:
        OSError: A file that is there cannot be read.
    """
    files = tuple(files)
    expected = {file.path: file.content for file in files}
    missing, different = [], []
    clashes = [
        Clash(path, "would be generated twice", can_be_forced=False)
        for path in sorted(expected)
        if sum(file.path == path for file in files) > 1
    ]
    for path, content in expected.items():
        try:
            found = (root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            missing.append(path)
            continue
        if found != content:
            different.append(path)
            reason = _why_not_ours(found, content)
            if reason is not None:
                clashes.append(Clash(path, reason, can_be_forced=True))
    owners = {owner for owner in map(_owner, expected.values()) if owner is not None}
    left_over = [path for path in _files_of(owners, root, directories) if path not in expected]
    clashes += _hidden_modules(root, expected, left_over)
    return Changes(tuple(missing), tuple(different), tuple(left_over), tuple(clashes))


def _owner(content: bytes) -> str | None:
    """Return the package and target that a banner names; None if there is no banner."""
    banner = _BANNER.match(content[:_LONGEST_BANNER])
    return None if banner is None else banner[1].decode(errors="replace")


def _why_not_ours(found: bytes, wanted: bytes) -> str | None:
    """Say why a file on the disk is not ours to replace by what is wanted; None if it is."""
    owner = _owner(found)
    if owner is not None and owner != _owner(wanted):
        return f"belongs to the package {owner}"
    if owner is None and found and not (found[4:8] == wanted[4:8] == _BINARY_SCHEMA):
        return "was not generated"
    return None


def _hidden_modules(
    root: Path, expected: Iterable[str], left_over: Iterable[str]
) -> Iterator[Clash]:
    """Yield each Python file whose import name means another file, which is there already."""
    known = {*expected, *left_over}
    for path in expected:
        if path.endswith("/__init__.py"):
            other = f"{path.removesuffix('/__init__.py')}.py"
        elif path.endswith(".py"):
            other = f"{path.removesuffix('.py')}/__init__.py"
        else:
            continue
        if other not in known and (root / other).is_file():
            yield Clash(path, f"would have the import name of {other}", can_be_forced=False)


def _files_of(owners: set[str], root: Path, directories: Iterable[Path]) -> list[str]:
    """Return the generated files of `owners` in `directories`."""
    found = set()
    for directory in directories:
        for path in (root / directory).rglob("*"):
            if path.suffix in COMMENT_STYLES and path.is_file() and _start_owner(path) in owners:
                found.add((directory / path.relative_to(root / directory)).as_posix())
    return sorted(found)


def _start_owner(path: Path) -> str | None:
    with path.open("rb") as file:
        return _owner(file.read(_LONGEST_BANNER))


def write(root: Path, files: Iterable[GeneratedFile], changes: Changes) -> None:
    """Bring the disk to the state that `changes` misses.

    All contents are written beside their targets before the first target is replaced, so a full
    disk or a read-only folder leaves everything as it was.

    Raises:
        WriteError: A file could not be written, replaced or removed.
    """
    wanted = set(changes.missing) | set(changes.different)
    prepared: list[tuple[Path, Path]] = []
    try:
        for file in files:
            if file.path in wanted:
                target = root / file.path
                prepared.append((_write_beside(target, file.content), target))
        for temporary, target in prepared:
            with _naming(target):
                temporary.replace(target)
        for path in changes.left_over:
            with _naming(root / path):
                (root / path).unlink(missing_ok=True)
    finally:
        for temporary, _ in prepared:
            temporary.unlink(missing_ok=True)


@contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Turn what goes wrong into a `WriteError` about `target`."""
    try:
        yield
    except OSError as error:
        raise WriteError(error.errno, error.strerror or str(error), str(target)) from error


def _write_beside(target: Path, content: bytes) -> Path:
    """Write a temporary file in the folder of `target`; leave nothing behind if that fails."""
    with _naming(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        path = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            path.chmod(0o644)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path
