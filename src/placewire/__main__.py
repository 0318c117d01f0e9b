"""The program `placewire`, also `python -m placewire`: answers what needs no command line at once.

`--cmake-dir` is for builds that link the core. `generate` with nothing to do ends before the
command line is imported, since builds and editors run it again and again.
"""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path

import placewire


def _cmake_directory() -> Path | None:
    """Return the folder of placewireConfig.cmake; an editable install keeps it apart from us."""
    folders = (Path(folder) / "cmake" for folder in placewire.__path__)
    return next((folder for folder in folders if folder.is_dir()), None)


def _print_cmake_directory() -> None:
    directory = _cmake_directory()
    if directory is None:
        sys.exit("error: this installation has no C++ part; run `pip install .` in the repository")
    print(directory)  # noqa: T201  the answer is for a build script


def _has_nothing_to_generate() -> bool:
    from placewire_codegen import stamp

    if not stamp.is_current(Path()):
        return False
    print(stamp.NOTHING_TO_DO, file=sys.stderr)  # noqa: T201  typer is what this path avoids
    return True


def main() -> None:
    """Run the command line and exit."""
    arguments = sys.argv[1:]
    if arguments == ["--cmake-dir"]:
        _print_cmake_directory()
        return
    if arguments in (["generate"], ["generate", "--check"]) and _has_nothing_to_generate():
        return
    gc.disable()
    from placewire.cli import main as command_line

    # Both together make all that is there old, or it would be visited right away.
    gc.freeze()
    gc.unfreeze()
    gc.enable()
    atexit.register(_leave_all)
    command_line()


def _leave_all() -> None:
    """Keep Python from visiting all objects when it ends, only to find that all of them can go.

    Compiled classes have to be visited: nanobind takes what is left of them for leaks.
    """
    if not any(name.endswith(("._native", "._runtime")) for name in sys.modules):
        gc.freeze()


if __name__ == "__main__":
    main()
