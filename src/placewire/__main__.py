"""`python -m placewire`: the command line, and `--cmake-dir` for builds that link the core."""

from __future__ import annotations

import sys
from pathlib import Path

import placewire


def _cmake_directory() -> Path | None:
    """Return the folder of placewireConfig.cmake; an editable install keeps it apart from us."""
    folders = (Path(folder) / "cmake" for folder in placewire.__path__)
    return next((folder for folder in folders if folder.is_dir()), None)


def main() -> None:
    if sys.argv[1:] != ["--cmake-dir"]:
        from placewire.cli import main as command_line

        command_line()
        return
    directory = _cmake_directory()
    if directory is None:
        sys.exit("error: this installation has no C++ part; run `pip install .` in the repository")
    print(directory)  # noqa: T201  the answer is for a build script


if __name__ == "__main__":
    main()
