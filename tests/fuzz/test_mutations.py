"""Damaged copies of real files are refused or read, and never crash.

The long runs are done by hand: `make fuzz` and `make fuzz-schemas`. What random schemas are tried
with is in tests/schema/random_schemas.
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

from . import fuzz_schemas

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


@pytest.mark.parametrize("name", ["device_info", "language"])
def test_the_fuzz_target_of_a_schema_runs(name: str, tmp_path: Path) -> None:
    if shutil.which(fuzz_schemas.COMPILER) is None:
        pytest.skip("libFuzzer needs clang++, which is not there")
    (target,) = [each for each in fuzz_schemas.targets() if each.name == name]
    program = fuzz_schemas.build(target, tmp_path, seeds=20)
    assert fuzz_schemas.run(program, count=20_000, seed=1).executed >= 20_000


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
