"""Start-up of `placewire generate` and `import placewire_schema`, against the least it could be.

The peer is a process that only imports jinja2 and pydantic.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .measure import Comparison, NotMeasured, at_most, interleaved_minimums

ROOT = Path(__file__).parents[1]
PEER = "import jinja2, pydantic"
ROUNDS = 15


def run() -> list[Comparison | NotMeasured]:
    """Measure the three start-ups in a copy of the project, which stays as it is."""
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory)
        for name in ("schema", "generated"):
            shutil.copytree(ROOT / name, project / name)
        shutil.copy(ROOT / "pyproject.toml", project)
        command = [str(Path(sys.executable).parent / "placewire"), "generate"]

        def generate_everything() -> None:
            shutil.rmtree(project / ".placewire", ignore_errors=True)
            shutil.rmtree(project / "generated")
            _process(command, project)()

        tasks = {
            "peer": _process([sys.executable, "-c", PEER], project),
            "everything": generate_everything,
            "nothing": _process(command, project),
            "import": _process([sys.executable, "-c", "import placewire_schema"], project),
        }
        best = interleaved_minimums(tasks, rounds=ROUNDS)
    peer = best["peer"]
    return [
        Comparison("placewire generate, everything", PEER, best["everything"], peer, at_most(5)),
        Comparison("placewire generate, nothing to do", PEER, best["nothing"], peer, at_most(1.5)),
        Comparison("import placewire_schema", PEER, best["import"], peer, at_most(0.8)),
    ]


def _process(command: list[str], directory: Path) -> Callable[[], None]:
    """Return a run of `command` that may keep compiled code, as Python does by default."""
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run_process() -> None:
        subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True)

    return run_process
