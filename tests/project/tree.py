"""The files of the repository, as the tests of this folder look at them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]

HAND_WRITTEN = (
    ".ci",
    "benchmarks",
    "cmake",
    "codegen",
    "docs",
    "examples",
    "schema",
    "src",
    "templates",
    "tests",
)
GENERATED = ("generated", "examples/own_schema/generated")
NOT_OURS = {"__pycache__", "corpus", "golden"}


def files(*folders: str, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files below `folders` that end in one of `suffixes`, sorted.

    Recorded data (`corpus`, `golden`) is left out, and so is what is generated inside a folder.
    """
    return sorted(
        path
        for folder in folders
        for path in _walk(ROOT / folder, suffixes)
        if not any(relative(path).startswith(f"{inner}/") for inner in _generated_inside(folder))
    )


def _generated_inside(folder: str) -> list[str]:
    return [generated for generated in GENERATED if generated.startswith(f"{folder}/")]


def _walk(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for path in folder.rglob("*"):
        inside = path.relative_to(ROOT)
        if path.is_file() and path.name.endswith(suffixes) and not NOT_OURS & set(inside.parts):
            yield path


def relative(path: Path) -> str:
    """Name a file as messages do: from the root, with `/`."""
    return path.relative_to(ROOT).as_posix()
