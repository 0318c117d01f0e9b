"""CudaAllocator on a test double of the CUDA runtime library, loaded exactly as the real one is.

`tests/gpu` runs the same checks on a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.placewire.module.adding_backend import SOURCE
from tests.placewire.test_cli import run
from tests.runtime.case_program import (
    CORE,
    CUDA_SOURCES,
    CaseCompiler,
    CaseProgram,
    case_names,
    lines_never_run,
)
from tests.schema.cpp.building import SANITIZERS, compilers

VARIABLE = "PLACEWIRE_CUDART"
USUAL_NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so")
PROGRAMS = ("cuda_checks", "cuda_double_checks")


@dataclass(frozen=True)
class Double:
    """The compiled double, and the programs that use it."""

    folder: Path
    compiler: str
    library: Path
    programs: dict[str, CaseProgram]
    probe: CaseProgram

    def run(self, program: str, case: str) -> str:
        return self.programs[program].run(case, {VARIABLE: str(self.library)})

    def reason(self, library: Path | str, **environment: str) -> str:
        """Return why there is no allocator with a library."""
        return self.probe.run("why_there_is_none", {VARIABLE: str(library), **environment})


@pytest.fixture(scope="module")
def double(tmp_path_factory: pytest.TempPathFactory) -> Double:
    found = compilers()
    if not found:
        pytest.skip("no C++ compiler: neither $CXX nor g++, clang++ or c++ is there")
    folder = tmp_path_factory.mktemp("cuda")
    compiler = found[0]
    inside = CaseCompiler(tmp_path_factory.mktemp("double"), compiler)
    library = inside.library("libfake_cudart.so", inside.core(CORE))
    build = CaseCompiler(folder, compiler, (*SANITIZERS, "--coverage"))
    core = build.core([*CORE, *CUDA_SOURCES])
    programs = {name: build.program(name, core) for name in PROGRAMS}
    return Double(folder, compiler, library, programs, build.program("cuda_probe", core))


@pytest.mark.parametrize("case", case_names("cuda_checks"))
def test_of_any_cuda_library(double: Double, case: str) -> None:
    double.run("cuda_checks", case)


@pytest.mark.parametrize("case", case_names("cuda_double_checks"))
def test_of_failures_and_order(double: Double, case: str) -> None:
    double.run("cuda_double_checks", case)


def test_every_case_is_run(double: Double) -> None:
    for name, program in double.programs.items():
        assert program.names() == case_names(name)


def test_a_program_is_run_on_it_from_the_command_line(
    double: Double, corpus: Path, tmp_path: Path
) -> None:
    # Python was not started with the sanitizers that the other double has in it.
    build = CaseCompiler(tmp_path, double.compiler, ("-O0",))
    library = build.library("libfake_cudart.so", build.core(CORE))
    (tmp_path / "adding.py").write_text(
        SOURCE + "class OnGpu(Adding):\n"
        "    def load(self, description):\n"
        "        assert str(description.device) == 'cuda:0'\n"
        "        return self\n"
    )
    x = np.arange(4, dtype=np.float32).reshape(2, 2)
    np.savez(tmp_path / "in.npz", input0=x, input1=x + 1)
    done = run(
        *("run", corpus / "dev_add.pte", "--cuda", "--backend", f"{tmp_path / 'adding.py'}:OnGpu"),
        *("-i", tmp_path / "in.npz", "-o", tmp_path / "out.npz"),
        **{VARIABLE: str(library)},
    )
    assert done.code == 0, done.err
    assert (np.load(tmp_path / "out.npz")["output0"] == 2 * x + 1).all()


def test_a_library_that_is_not_there_is_named(double: Double) -> None:
    assert double.reason("/nowhere/libcudart.so") == (
        "the CUDA runtime library was not found: /nowhere/libcudart.so: cannot open shared object "
        "file: No such file or directory; install it, or set PLACEWIRE_CUDART to its path\n"
    )


def test_without_a_choice_the_usual_names_are_tried(double: Double, tmp_path: Path) -> None:
    reason = double.reason("", **_no_usual_library(tmp_path))
    assert [reason.count(f"{tmp_path / name}:") for name in USUAL_NAMES] == [1, 1, 1]


def _no_usual_library(folder: Path) -> dict[str, str]:
    """Shadow whatever the machine has under the usual names by files that are no libraries."""
    for name in USUAL_NAMES:
        (folder / name).write_text("not a library")
    return {"LD_LIBRARY_PATH": str(folder)}


def test_a_library_of_something_else_is_refused(double: Double) -> None:
    assert double.reason("libm.so.6") == (
        "libm.so.6 is not a CUDA runtime library: it has no function cudaGetDeviceCount\n"
    )


def test_a_driver_that_is_missing_is_named(double: Double) -> None:
    assert double.reason(double.library, FAKE_CUDA_WITHOUT_DRIVER="1") == (
        f"{double.library} finds no CUDA device: CUDA driver version is insufficient for CUDA "
        "runtime version (CUDA error 35)\n"
    )


def test_a_machine_without_devices_is_named(double: Double) -> None:
    assert double.reason(double.library, FAKE_CUDA_DEVICES="0") == (
        f"{double.library} finds no CUDA device: no CUDA-capable device is detected "
        "(CUDA error 100)\n"
    )


def test_no_devices_without_an_error_are_no_devices_either(double: Double) -> None:
    assert double.reason(double.library, FAKE_CUDA_DEVICES="0", FAKE_CUDA_ZERO_IS_FINE="1") == (
        f"{double.library} finds no CUDA device\n"
    )


def test_with_one_device_what_needs_two_is_skipped(double: Double) -> None:
    environment = {VARIABLE: str(double.library), "FAKE_CUDA_DEVICES": "1"}
    with pytest.raises(pytest.skip.Exception, match="this needs 2 GPUs, and there is 1"):
        double.programs["cuda_checks"].run("bytes_move_between_devices", environment)


def test_every_line_of_the_allocator_has_run(double: Double, tmp_path: Path) -> None:
    if "clang" in compilers()[0]:
        pytest.skip("gcov reads what gcc records, and the compiler is clang")
    for program in PROGRAMS:
        for case in case_names(program):
            double.run(program, case)
    double.reason("/nowhere/libcudart.so")
    double.reason("libm.so.6")
    double.reason(double.library, FAKE_CUDA_WITHOUT_DRIVER="1")
    double.reason(double.library, FAKE_CUDA_DEVICES="0", FAKE_CUDA_ZERO_IS_FINE="1")
    double.reason("", **_no_usual_library(tmp_path))
    assert lines_never_run(double.folder, CUDA_SOURCES) == []
