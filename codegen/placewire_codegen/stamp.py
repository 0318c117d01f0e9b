"""Decides from file hashes that there is nothing to generate, before anything heavy is imported."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

STAMP_PATH = Path(".placewire") / "generate.json"
NOTHING_TO_DO = "Nothing to do: every generated file is fresh."


def is_current(root: Path) -> bool:
    """Return whether the last run's inputs and outputs are all as that run left them.

    A missing or damaged stamp means no: the worst that a wrong stamp can do is a needless run.
    """
    try:
        recorded = json.loads((root / STAMP_PATH).read_bytes())
        return bool(recorded) and all(
            _hash(root / path) == digest for path, digest in recorded.items()
        )
    except (OSError, ValueError, AttributeError):
        return False


def record(root: Path, paths: Iterable[Path]) -> None:
    """Remember the contents of `paths`: inputs, outputs, the configuration and the generator.

    A folder stands for the names of the files in it, so that a file that comes or goes is noticed.
    Not being able to remember is no failure: the next run does the work again.
    """
    hashes = {_relative(path, root): _hash(root / path) for path in paths}
    stamp = root / STAMP_PATH
    try:
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(json.dumps(hashes, indent=0, sort_keys=True), encoding="utf-8")
    except OSError:
        return


def generator_files(templates: Path) -> list[Path]:
    """The generator's own sources and the templates, whose change must cause a new run."""
    return [*sorted(Path(__file__).parent.rglob("*.py")), *sorted(templates.rglob("*.jinja"))]


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _hash(path: Path) -> str:
    if path.is_dir():
        content = "\n".join(
            sorted(entry.name for entry in path.iterdir() if entry.is_file())
        ).encode()
    else:
        content = path.read_bytes()
    return hashlib.blake2b(content, digest_size=16).hexdigest()
