"""Lowering an exported transformer to a file, against ExecuTorch's `to_edge` and `to_executorch`.

Each depth is measured in a process of its own, so that every cache is cold: it imports both sides
and runs `torch.export`, none of which counts, then lowers the same exported program with ours and
with the peer's. 96 layers take the peer minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import TypedDict

from .measure import Comparison, NotMeasured, faster, readable
from .transformer import exported_transformer

GOALS = {24: faster(40), 96: faster(60)}
DEPTHS = (24, 48, 96, 192)
PEER = "to_edge, to_executorch"


def run() -> list[Comparison | NotMeasured]:
    """Measure all depths; the growth from one to the next and the stages go to stderr."""
    if find_spec("executorch") is None:
        return [NotMeasured("placewire.export", "executorch is not installed")]
    results: list[Comparison | NotMeasured] = []
    for layers in DEPTHS:
        measured = _measured_alone(layers)
        stages = ", ".join(
            f"{name} {readable(seconds)}" for name, seconds in measured["stages"].items()
        )
        ours = measured["seconds"]
        print(f"{layers} layers: {readable(ours)}: {stages}", file=sys.stderr, flush=True)
        if layers in GOALS and measured["peer"] is not None:
            what = f"placewire.export, {layers} layers"
            results.append(Comparison(what, PEER, ours, measured["peer"], GOALS[layers]))
    return results


class _Measured(TypedDict):
    """Seconds of ours, of its stages, and of the peer where it was measured."""

    seconds: float
    stages: dict[str, float]
    peer: float | None


def _measured_alone(layers: int) -> _Measured:
    command = [sys.executable, "-m", __spec__.name, str(layers)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: _Measured = json.loads(output.splitlines()[-1])
    return result


def _measure(layers: int) -> _Measured:
    from executorch.exir import to_edge

    from placewire.aot import export

    exported = exported_transformer(layers)
    start = time.perf_counter()
    artifact = export(exported)
    seconds = time.perf_counter() - start
    peer = None
    if layers in GOALS:
        start = time.perf_counter()
        to_edge(exported).to_executorch()
        peer = time.perf_counter() - start
    return {"seconds": seconds, "stages": artifact.report.seconds, "peer": peer}


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
