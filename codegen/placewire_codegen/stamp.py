"""Decides from file hashes that there is nothing to generate, before anything heavy is imported."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

STAMP_PATH = Path(".placewire") / "generate.json"
NOTHING_TO_DO = "Nothing to do: every generated file is fresh."


class Inputs:
    """What a run has read: the hash of each file as it was at that moment.

    A file that changes while the run goes on thus differs from its hash, and the next run works
    again. What is not read through this class must be hashed before the run uses it.
    """

    def __init__(self) -> None:
        self.hashes: dict[Path, str] = {}

    def read(self, path: Path) -> bytes:
        """Return the contents of a file.

        Raises:
            OSError: It cannot be read.
        """
        content = path.read_bytes()
        self.hashes[path] = hash_of(content)
        return content

    def read_all(self, paths: Iterable[Path]) -> None:
        """Hash files that somebody else is about to read."""
        for path in paths:
            self.read(path)


def is_current(root: Path) -> bool:
    """Return whether the last run's inputs and outputs are all as that run left them.

    A missing or damaged stamp means no: the worst that a wrong stamp can do is a needless run.
    """
    try:
        recorded = json.loads((root / STAMP_PATH).read_bytes())
        return bool(recorded) and all(
            _hash_on_disk(root / path) == digest for path, digest in recorded.items()
        )
    except (OSError, ValueError, AttributeError):
        return False


def record(root: Path, hashes: Mapping[Path, str], folders: Iterable[Path]) -> None:
    """Remember the hashes of inputs and outputs, and the names of what is in `folders`.

    A file that comes to a folder or goes is noticed so. Not being able to remember, since a folder
    has vanished or nothing can be written, is no failure: the next run does the work again.
    """
    stamp = root / STAMP_PATH
    try:
        recorded = {_relative(path, root): digest for path, digest in hashes.items()}
        recorded |= {_relative(folder, root): _hash_on_disk(folder) for folder in folders}
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(json.dumps(recorded, indent=0, sort_keys=True), encoding="utf-8")
    except OSError:
        return


def generator_files(templates: Path) -> list[Path]:
    """The generator's own sources and the templates, whose change must cause a new run."""
    return [*sorted(Path(__file__).parent.rglob("*.py")), *sorted(templates.rglob("*.jinja"))]


def hash_of(content: bytes) -> str:
    """Return the hash of a file's contents as a stamp holds it."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _relative(path: Path, root: Path) -> str:
    """Name a file within the project such that the project can move; others stay absolute."""
    path, root = Path(os.path.abspath(path)), Path(os.path.abspath(root))  # noqa: PTH100 - keep links
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _hash_on_disk(path: Path) -> str:
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if entry.name != "__pycache__")
        return hash_of("\n".join(names).encode())
    return hash_of(path.read_bytes())
