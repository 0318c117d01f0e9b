"""Allocators, their registry, buffers and simulated devices in C++, under sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.project.markdown import blocks
from tests.runtime.case_program import (
    CORE,
    INCLUDE,
    TENSORS,
    CaseCompiler,
    CaseProgram,
    case_names,
    headers_with_another_device,
)
from tests.schema.cpp.building import HEADERS, ROOT, SANITIZERS, compile_cpp

THREAD_SANITIZER = ("-fsanitize=thread", "-g", "-O1")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> dict[str, CaseProgram]:
    build = CaseCompiler(tmp_path_factory.mktemp("allocators"), compiler)
    core = build.core(CORE)
    return {name: build.program(name, core) for name in ("allocator_checks", "simulated_checks")}


@pytest.mark.parametrize("case", case_names("allocator_checks"))
def test_of_allocators_and_buffers(programs: dict[str, CaseProgram], case: str) -> None:
    programs["allocator_checks"].run(case)


@pytest.mark.parametrize("case", case_names("simulated_checks"))
def test_of_simulated_devices(programs: dict[str, CaseProgram], case: str) -> None:
    programs["simulated_checks"].run(case)


def test_every_case_is_run(programs: dict[str, CaseProgram]) -> None:
    for name, program in programs.items():
        assert program.names() == case_names(name)


@pytest.fixture(scope="module")
def report_of_a_race(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> str:
    """What ThreadSanitizer says about a race; skips where it cannot run at all."""
    folder = tmp_path_factory.mktemp("race")
    source = folder / "race.cpp"
    source.write_text(
        "#include <thread>\nint number = 0;\nint main() {\n"
        "  std::thread other([] { ++number; });\n  ++number;\n  other.join();\n}\n"
    )
    race = compile_cpp(source, folder / "race", *THREAD_SANITIZER, "-pthread", compiler=compiler)
    result = subprocess.run([race], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in result.stderr:
        pytest.skip("NOT RUN: ThreadSanitizer needs `sysctl vm.mmap_rnd_bits=28` on this kernel")
    return result.stderr


def test_the_thread_sanitizer_sees_a_race(report_of_a_race: str) -> None:
    assert "data race" in report_of_a_race


@pytest.fixture(scope="module")
def under_thread_sanitizer(
    tmp_path_factory: pytest.TempPathFactory, compiler: str, report_of_a_race: str
) -> CaseProgram:
    assert report_of_a_race
    folder = tmp_path_factory.mktemp("concurrent")
    build = CaseCompiler(folder, compiler, THREAD_SANITIZER)
    return build.program("concurrent_checks", build.core(TENSORS))


@pytest.mark.parametrize("case", case_names("concurrent_checks"))
def test_of_many_threads(under_thread_sanitizer: CaseProgram, case: str) -> None:
    under_thread_sanitizer.run(case)


def test_a_new_kind_of_device_needs_no_edit(tmp_path: Path, compiler: str) -> None:
    headers = headers_with_another_device(tmp_path)
    build = CaseCompiler(tmp_path, compiler, ())
    program = build.program("allocator_checks", build.core(CORE, headers), headers)
    assert "kind VULKAN" in program.run("every_kind_of_the_schema_can_be_registered")


def test_the_allocator_in_the_docs_does_what_they_show(tmp_path: Path, compiler: str) -> None:
    shown = {block.language: block.text for block in blocks(ROOT / "docs" / "device-memory.md")}
    source = tmp_path / "main.cpp"
    source.write_text(shown["cpp"])
    core = CaseCompiler(tmp_path, compiler).core(CORE)
    program = compile_cpp(
        source,
        tmp_path / "main",
        *(*SANITIZERS, str(core)),
        include=(HEADERS, *INCLUDE),
        compiler=compiler,
    )
    result = subprocess.run([program], capture_output=True, text=True, check=True)
    assert result.stdout == shown["text"]
