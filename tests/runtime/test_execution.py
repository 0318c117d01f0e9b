"""Programs, methods and modules in C++, under sanitizers."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.runtime.case_program import RUNTIME, CaseCompiler, CaseProgram, case_names
from tests.runtime.method_programs import PROGRAMS, write_programs
from tests.schema.cpp.building import compile_cpp

if TYPE_CHECKING:
    from pathlib import Path

THREAD_SANITIZER = ("-fsanitize=thread", "-g", "-O1")
CHECKS = (
    "program_checks",
    "method_checks",
    "prepare_checks",
    "device_checks",
    "fault_checks",
    "module_checks",
)
SOURCES = sorted(file for file in RUNTIME.rglob("*.cpp") if file.parent.name != "plan")
REAL_FILES = ("cond", "dev_add", "dev_add_noplan", "dev_addmul", "dyn", "mlp", "xnnpack_mlp")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> dict[str, str]:
    """The environment in which the checks find their programs."""
    folder = tmp_path_factory.mktemp("programs")
    write_programs(folder)
    for name in REAL_FILES:
        shutil.copy(corpus / f"{name}.pte", folder)
    return {"PLACEWIRE_PROGRAMS": str(folder)}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> dict[str, CaseProgram]:
    build = CaseCompiler(tmp_path_factory.mktemp("execution"), compiler)
    core = build.core(SOURCES)
    return {name: build.program(name, core) for name in CHECKS}


@pytest.mark.parametrize(
    ("program", "name"), [(program, name) for program in CHECKS for name in case_names(program)]
)
def test_in_cpp(
    programs: dict[str, CaseProgram], files: dict[str, str], program: str, name: str
) -> None:
    programs[program].run(name, files)


def test_threads_do_not_race(tmp_path: Path, compiler: str, files: dict[str, str]) -> None:
    source = tmp_path / "empty.cpp"
    source.write_text("int main() { return 0; }\n")
    empty = compile_cpp(source, tmp_path / "empty", *THREAD_SANITIZER, compiler=compiler)
    result = subprocess.run([empty], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in result.stderr:
        pytest.skip("NOT RUN: ThreadSanitizer needs `sysctl vm.mmap_rnd_bits=28` on this kernel")
    build = CaseCompiler(tmp_path, compiler, THREAD_SANITIZER)
    program = build.program("module_checks", build.core(SOURCES))
    names = program.names()
    assert names == case_names("module_checks")
    for name in names:
        program.run(name, files)


def test_every_program_is_used() -> None:
    texts = [
        (RUNTIME.parents[1] / "tests" / "runtime" / "cpp" / f"{name}.cpp").read_text()
        for name in CHECKS
    ]
    used = {name for text in texts for name in re.findall(r'"(\w+)"', text)}
    assert PROGRAMS
    assert set(PROGRAMS) - used == set()
