"""Compiles the C++ test programs that consist of named cases (`cpp/cases.h`), and runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.schema.cpp.building import HEADERS, ROOT, SANITIZERS, compile_cpp

SOURCES = Path(__file__).parent / "cpp"
RUNTIME = ROOT / "src" / "runtime"
CUDA = ROOT / "src" / "backends" / "cuda"
INCLUDE = (RUNTIME / "include", CUDA / "include")
# What allocators, buffers and simulated devices are made of.
CORE = [
    RUNTIME / f"{name}.cpp"
    for name in (
        "allocator",
        "allocator_registry",
        "buffers",
        "device",
        "host_memory",
        "simulated_device",
        "text",
    )
]
# Tensors, values, and all that is registered.
TENSORS = [
    *CORE,
    *(
        RUNTIME / f"{name}.cpp"
        for name in (
            "backend_registry",
            "evalue",
            "function_kernel",
            "kernel_registry",
            "memory_block",
            "tensor",
            "tensor_ptr",
            "transfer",
        )
    ),
    *sorted((RUNTIME / "kernels").glob("*.cpp")),
]
CUDA_SOURCES = sorted(CUDA.glob("*.cpp"))
SKIPPED = 77
"""Exit code of a case that cannot run here; it has printed why."""


def case_names(program: str) -> list[str]:
    """Return the names of the cases in `cpp/PROGRAM.cpp`, as its list has them."""
    names = re.findall(r"\bCASE\((\w+)\)", (SOURCES / f"{program}.cpp").read_text(encoding="utf-8"))
    assert names, f"{program} has no cases"
    return names


def headers_with_another_device(folder: Path) -> Path:
    """Generate headers into a folder from a schema that has VULKAN besides, and return where."""
    for name in ("schema", "generated"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "pyproject.toml", folder)
    schema = folder / "schema" / "program.fbs"
    text = schema.read_text(encoding="utf-8")
    changed = re.sub(r"( +CUDA = 1 .*\n)", r"\1  VULKAN = 2 (dlpack: 7, alignment: 64),\n", text)
    assert changed != text
    schema.write_text(changed)
    generate = [sys.executable, "-m", "placewire_codegen"]
    subprocess.run(generate, cwd=folder, check=True, capture_output=True)
    return folder / "generated" / "include"


@dataclass(frozen=True)
class CaseProgram:
    """A compiled test program."""

    path: Path

    def run(self, name: str, environment: Mapping[str, str] | None = None) -> str:
        """Run a case and return what it prints; skip the test if the case cannot run here."""
        result = subprocess.run(
            [self.path, name],
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if result.returncode == SKIPPED:
            pytest.skip(result.stdout.strip())
        assert result.returncode == 0, result.stdout + result.stderr[:4000]
        return result.stdout

    def names(self) -> list[str]:
        """Return the names of all cases."""
        return self.run("--list").split()


@dataclass(frozen=True)
class CaseCompiler:
    """Compiles the core once, and programs against it."""

    folder: Path
    compiler: str
    flags: tuple[str, ...] = SANITIZERS

    def core(self, sources: Sequence[Path], headers: Path = HEADERS) -> Path:
        """Compile the core as one object file; its coverage is recorded beside it."""
        flags = ("-c", "-fPIC", *self.flags)
        include = (headers, *INCLUDE, RUNTIME, CUDA)

        def compile_one(source: Path) -> Path:
            output = self.folder / f"{source.parent.name}_{source.stem}.o"
            return compile_cpp(source, output, *flags, include=include, compiler=self.compiler)

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compile_one, sources))
        output = self.folder / "core.o"
        # Not by the compiler, which would link its sanitizers in.
        subprocess.run(["ld", "-r", *map(str, objects), "-o", str(output)], check=True)
        return output

    def program(self, name: str, core: Path, headers: Path = HEADERS) -> CaseProgram:
        """Compile `cpp/NAME.cpp` with a core."""
        flags = (*self.flags, "-pthread", str(core))
        path = compile_cpp(
            SOURCES / f"{name}.cpp",
            self.folder / name,
            *flags,
            "-ldl",
            include=(headers, *INCLUDE, RUNTIME, SOURCES),
            compiler=self.compiler,
        )
        return CaseProgram(path)

    def library(self, name: str, core: Path, *flags: str) -> Path:
        """Compile `cpp/fake_cudart.cpp` with a core to a shared library called `name`."""
        return compile_cpp(
            SOURCES / "fake_cudart.cpp",
            self.folder / name,
            *(*self.flags, "-shared", "-fPIC", "-fvisibility=hidden", *flags, str(core)),
            include=(HEADERS, *INCLUDE, SOURCES),
            compiler=self.compiler,
        )


def lines_never_run(folder: Path, sources: Sequence[Path]) -> list[str]:
    """Return the lines of `sources` that no program compiled with --coverage has run."""
    gcov = shutil.which("gcov")
    if gcov is None:
        pytest.skip("gcov (part of gcc) is not installed")
    command = [gcov, "--json-format", "--stdout", *map(str, sorted(folder.glob("*.gcda")))]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    counts: Counter[tuple[str, int]] = Counter()
    for report in result.stdout.splitlines():
        for file in json.loads(report)["files"]:
            for line in file["lines"]:
                counts[Path(file["file"]).name, line["line_number"]] += line["count"]
    for source in sources:
        assert any(name == source.name for name, _ in counts), f"{source} was not compiled"
    return [
        f"{source.name}:{number}"
        for source in sources
        for (name, number), count in sorted(counts.items())
        if name == source.name and count == 0
    ]
