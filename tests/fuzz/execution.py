"""Builds the driver that executes damaged files (`mutate_execution.cpp`), and writes its seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz.primitive_programs import PRIMITIVE_PROGRAMS
from tests.runtime.case_program import INCLUDE, RUNTIME, CaseCompiler
from tests.runtime.method_programs import PROGRAMS
from tests.schema.cpp.building import HEADERS, ROOT, SANITIZERS, compile_cpp

if TYPE_CHECKING:
    from pathlib import Path

EXECUTION_ENVIRONMENT = {
    # A damaged size is an error of the runtime, not of the sanitizer.
    "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=512"
}
SLOW = "endless"
"""Runs ten million instructions each time."""


def execution_driver(folder: Path, compiler: str) -> Path:
    """Compile the whole runtime but the planner, and the driver, under sanitizers."""
    folder.mkdir(parents=True, exist_ok=True)
    build = CaseCompiler(folder, compiler, (*SANITIZERS, "-O1"))
    sources = sorted(file for file in RUNTIME.rglob("*.cpp") if file.parent.name != "plan")
    return compile_cpp(
        ROOT / "tests" / "fuzz" / "mutate_execution.cpp",
        folder / "mutate_execution",
        *(*build.flags, "-pthread", str(build.core(sources)), "-ldl"),
        include=(HEADERS, *INCLUDE),
        compiler=compiler,
    )


def write_seeds(folder: Path) -> list[Path]:
    """Write small programs that do all that a method can do."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, make in {**PROGRAMS, **PRIMITIVE_PROGRAMS}.items():
        if name != SLOW:
            paths.append(folder / f"{name}.pte")
            paths[-1].write_bytes(make().file())
    return paths
