"""What is checked in below generated/ is what schema/ and templates/ give."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from placewire_codegen.config import load_project
from placewire_codegen.generate import generate
from placewire_codegen.outputs import compare, write

from tests.project.tree import ROOT


def test_generated_files_are_fresh(tmp_path: Path) -> None:
    result = generate(load_project(ROOT), check=True)
    write(tmp_path, result.files, compare(tmp_path, result.files, ()))
    stale = [
        file.path
        for file in result.files
        if not (ROOT / file.path).is_file()
        or (ROOT / file.path).read_bytes() != (tmp_path / file.path).read_bytes()
    ]
    assert len(result.files) > 10
    assert not stale, f"run `placewire generate` and commit the result: {stale}"


def test_no_generated_file_is_left_over() -> None:
    result = generate(load_project(ROOT), check=True)
    assert not result.changes.left_over, "run `placewire generate` and commit the result"


def test_the_same_input_gives_the_same_bytes_under_every_hash_seed() -> None:
    digests = {seed: _digest_of_all_output(seed) for seed in ("0", "1", "4711")}
    assert len(set(digests.values())) == 1, digests


def _digest_of_all_output(seed: str) -> str:
    program = """
import hashlib, pathlib, sys
from placewire_codegen.config import load_project
from placewire_codegen.generate import generate
files = generate(load_project(pathlib.Path(sys.argv[1])), check=True).files
print(len(files), hashlib.sha256(repr(files).encode()).hexdigest())
"""
    result = subprocess.run(
        [sys.executable, "-c", program, str(ROOT)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout
