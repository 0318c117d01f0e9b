"""Reading many small files by a schema, as `placewire compat --files` does, against ExecuTorch.

ExecuTorch gets the bytes in memory; we open and read the files. Both run in one process. Our native
codec reads by a schema that it was built from; a schema that has just been changed is walked by as
data, and here one of its findings touches every file besides.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from placewire_codegen.evolution import compare_schemas
from placewire_codegen.evolution.files import FileReader, file_reader, read_files
from placewire_codegen.evolution.references import References

from placewire._runtime import SchemaWalk

from .measure import Comparison, NotMeasured, faster, interleaved_minimums

PEER = "ExecuTorch"
ROUNDS = 5
LARGEST = 64 * 1024
COPIES = 20
ROOT = Path(__file__).parents[1]


def run() -> list[Comparison | NotMeasured]:
    """Measure files a second, as seconds for a file."""
    if find_spec("executorch") is None:
        return [NotMeasured("compat --files", "executorch is not installed")]
    with tempfile.TemporaryDirectory() as folder:
        programs = _small_programs()
        files = _copies(programs, Path(folder))
        tasks = {
            "native": _reads(_unchanged(), files),
            "changed": _reads(_changed(Path(folder)), files),
            PEER: _peer(programs),
        }
        best = interleaved_minimums(tasks, rounds=ROUNDS)
    peer = best[PEER] / len(programs)
    return [
        Comparison(f"compat --files, {what}", PEER, best[name] / len(files), peer, faster(50))
        for name, what in (
            ("native", "a file by the native codec"),
            ("changed", "a touched file by a changed schema"),
        )
    ]


def _small_programs() -> list[Path]:
    corpus = ROOT / "tests" / "corpus"
    programs = [path for path in sorted(corpus.glob("*.pte")) if path.stat().st_size <= LARGEST]
    assert len(programs) > 10, "the corpus is not there"
    return programs


def _copies(programs: list[Path], folder: Path) -> list[str]:
    files = []
    for number in range(COPIES):
        for program in programs:
            copy = folder / f"{program.stem}.{number}.pte"
            shutil.copyfile(program, copy)
            files.append(str(copy))
    return files


def _unchanged() -> FileReader:
    return file_reader(References(ROOT).project_side().schema, installed="placewire_schema")


def _changed(folder: Path) -> FileReader:
    """Return the reader of a schema in which the sizes of a tensor have no sign."""
    base = References(ROOT).project_side().schema
    shutil.copytree(ROOT / "schema", folder / "schema")
    program = folder / "schema" / "program.fbs"
    text = program.read_text(encoding="utf-8")
    changed = re.sub(r"(\n  sizes: )\[int\]", r"\1[uint]", text)
    assert changed != text
    program.write_text(changed, encoding="utf-8")
    head = References(ROOT).side(str(folder / "schema")).schema
    return file_reader(head, base=base, findings=compare_schemas(base, head), walks=SchemaWalk)


def _reads(reader: FileReader, files: list[str]) -> Callable[[], None]:
    def read() -> None:
        assert sum(batch.count for batch in read_files(files, reader)) == len(files)

    return read


def _peer(programs: list[Path]) -> Callable[[], None]:
    from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program

    contents = [program.read_bytes() for program in programs]

    def read() -> None:
        for data in contents:
            _flatbuffer_to_program(data)

    return read
