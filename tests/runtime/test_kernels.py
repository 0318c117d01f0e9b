"""Tensors, values, the registries and the native kernels in C++, under sanitizers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.case_program import (
    TENSORS,
    CaseCompiler,
    CaseProgram,
    case_names,
    headers_with_another_device,
)

PROGRAMS = (
    "copy_checks",
    "number_checks",
    "registry_checks",
    "shape_checks",
    "tensor_checks",
    "tensor_ptr_checks",
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> dict[str, CaseProgram]:
    build = CaseCompiler(tmp_path_factory.mktemp("kernels"), compiler)
    core = build.core(TENSORS)
    return {name: build.program(name, core) for name in PROGRAMS}


@pytest.mark.parametrize(
    ("program", "case"), [(program, case) for program in PROGRAMS for case in case_names(program)]
)
def test_of_tensors_and_kernels(programs: dict[str, CaseProgram], program: str, case: str) -> None:
    programs[program].run(case)


def test_every_case_is_run(programs: dict[str, CaseProgram]) -> None:
    for name, program in programs.items():
        assert program.names() == case_names(name)


def test_two_kinds_of_device_copy_through_the_host(tmp_path: Path, compiler: str) -> None:
    headers = headers_with_another_device(tmp_path)
    build = CaseCompiler(tmp_path, compiler, ())
    program = build.program("copy_checks", build.core(TENSORS, headers), headers)
    printed = program.run("devices_of_two_kinds_copy_through_the_host")
    assert printed.splitlines() == ["from 1 to 2", "from 2 to 1"]
