"""The planner's core under sanitizers, through its C++ interface."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.runtime.validate_driver import RUNTIME, SOURCES
from tests.schema.cpp.building import HEADERS, SANITIZERS, compile_cpp, compilers


@pytest.fixture(params=["g++", "clang++"])
def any_compiler(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if name not in compilers():
        pytest.skip(f"{name} is not installed")
    return name


def test_plans_are_sound_and_no_input_breaks_the_planner(any_compiler: str, tmp_path: Path) -> None:
    sources = sorted((RUNTIME / "plan").glob("*.cpp"))
    assert len(sources) > 5
    unit = tmp_path / "all.cpp"
    parts = [*sources, SOURCES / "plan_checks.cpp"]
    unit.write_text("".join(f'#include "{source}"\n' for source in parts))
    include = (HEADERS, RUNTIME / "include", RUNTIME)
    program = compile_cpp(
        unit, tmp_path / "checks", *SANITIZERS, "-O1", include=include, compiler=any_compiler
    )
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr[:4000]
