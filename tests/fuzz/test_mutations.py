"""Damaged copies of real files are refused or read, and never crash; see also fuzz_program.cpp.

The long run is done by hand: compile mutate_program.cpp as here, and pass 1000000 as its first
argument.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.schema.cpp.building import (
    HEADERS,
    NO_RUNTIME,
    ROOT,
    SANITIZERS,
    WARNINGS,
    compile_cpp,
)
from tests.schema.cpp.building import SOURCES as CPP_TESTS

SOURCES = Path(__file__).parent
COUNT = 20_000


@pytest.fixture(scope="module")
def files(corpus: Path) -> list[Path]:
    """The corpus."""
    found = sorted(corpus.glob("*.pte"))
    assert len(found) > 10
    return found


def test_damaged_files_are_judged_without_a_crash(
    compiler: str, files: list[Path], tmp_path: Path
) -> None:
    program = compile_cpp(
        SOURCES / "mutate_program.cpp",
        tmp_path / "mutate",
        *(*SANITIZERS, *NO_RUNTIME, "-O1"),
        compiler=compiler,
    )
    result = subprocess.run(
        [program, str(COUNT), "1", *files], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[:4000]
    words = result.stdout.split()
    assert words[:2] == [str(COUNT), "checked,"]
    # Both outcomes happen often, or the damage would not test much.
    assert COUNT // 20 < int(words[2]) < COUNT // 2


def test_the_fuzz_target_runs(files: list[Path], tmp_path: Path) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("libFuzzer needs clang++, which is not there")
    target = compile_cpp(
        SOURCES / "fuzz_program.cpp",
        tmp_path / "fuzz",
        *("-fsanitize=fuzzer", *SANITIZERS, "-O1"),
        compiler="clang++",
    )
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    for file in files:
        shutil.copy(file, seeds)
    result = subprocess.run(
        [target, "-runs=2000", "-seed=1", "-max_len=20000", seeds],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr[-4000:]
    assert "Done 2000 runs" in result.stderr


def test_the_validator_target_compiles(compiler: str) -> None:
    """Linking it takes minutes under sanitizers, so it is run by hand."""
    include = (HEADERS, ROOT / "src" / "runtime" / "include", CPP_TESTS)
    command = [
        compiler,
        "-std=c++17",
        "-fsyntax-only",
        *WARNINGS,
        *(f"-I{path}" for path in include),
    ]
    result = subprocess.run(
        [*command, SOURCES / "fuzz_validate.cpp"], capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    assert result.returncode == 0
