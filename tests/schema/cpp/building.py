"""Compiles small C++ programs around the generated headers, and talks to them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
HEADERS = ROOT / "generated" / "include"
SOURCES = Path(__file__).parent

WARNINGS = (
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wconversion",
    "-Wsign-conversion",
    "-Wshadow",
    "-Werror",
)
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")
NO_RUNTIME = ("-fno-exceptions", "-fno-rtti")


def compilers() -> list[str]:
    """Return the C++ compilers of this machine: `$CXX`, else gcc and clang."""
    wanted = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++"]
    found = [name for name in wanted if shutil.which(name)]
    return found or [name for name in ("c++",) if shutil.which(name)]


def compile_cpp(
    source: Path, output: Path, *flags: str, include: Sequence[Path] = (HEADERS,), compiler: str
) -> Path:
    """Compile one source file to a program, or fail with what the compiler said."""
    command = [
        *(compiler, "-std=c++17", *WARNINGS, *flags),
        *(f"-I{folder}" for folder in (*include, SOURCES)),
        *(str(source), "-o", str(output)),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr[:4000]}"
    return output


def compile_native(folder: Path, package: str) -> None:
    """Compile the native codec from `bindings` and `include` in `folder` into a package there."""
    nanobind = Path(import_module("nanobind").__file__ or "").parent
    includes = (
        nanobind / "include",
        nanobind / "ext/robin_map/include",
        Path(sysconfig.get_path("include")),
    )
    command = [
        *(compilers()[0], "-std=c++17", "-O0", "-fPIC", "-shared", "-fvisibility=hidden"),
        *("-fno-strict-aliasing", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
        f"-DNB_DOMAIN={package}",  # modules of one C++ namespace would share their types
        *(f"-isystem{path}" for path in includes),
        *("-I", str(folder / "include")),
        *sorted(map(str, (folder / "bindings").glob("*.cpp"))),
        *("-o", str(folder / package / "_native.so")),
    ]
    # nanobind's own source is not compiled with our warnings.
    library = folder / "nanobind.o"
    own = [
        *(compilers()[0], "-std=c++17", "-O0", "-fPIC", "-fvisibility=hidden", "-w", "-c"),
        *("-fno-strict-aliasing", *(f"-isystem{path}" for path in includes)),
        *(str(nanobind / "src/nb_combined.cpp"), "-o", str(library)),
    ]
    for line in (own, [*command, str(library)]):
        result = subprocess.run(line, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr[:4000]


@dataclass(frozen=True)
class Fault:
    """What a verifier says about a buffer that is not sound."""

    rule: str
    path: str
    offset: int
    found: int
    expected: int
    message: str


@dataclass(frozen=True)
class Driver:
    """A compiled `driver.h`."""

    program: Path

    def verify(self, cases: Iterable[tuple[str, bytes | bytearray]]) -> list[Fault | int]:
        """Return a fault, or the sum of a full walk, for each pair of a table type and a buffer."""
        sent = list(cases)
        answers = self._run("verify", sent).splitlines()
        assert len(answers) == len(sent)
        return [_answer(json.loads(line)) for line in answers]

    def verify_one(self, type_: str, buffer: bytes | bytearray) -> Fault | int:
        """Return a fault, or the sum of a full walk."""
        (answer,) = self.verify([(type_, buffer)])
        return answer

    def read(self, type_: str, buffer: bytes | bytearray) -> Any:
        """Return the tree that views see in a sound buffer, as JSON objects."""
        return json.loads(self._run("print", [(type_, buffer)]))

    def read_all(self, cases: Iterable[tuple[str, bytes | bytearray]]) -> list[Any]:
        """Return what `read` does for each pair of a table type and a sound buffer."""
        return self._answers("print", cases)

    def audit(self, cases: Iterable[tuple[str, bytes | bytearray]]) -> list[Any]:
        """Return [rule, path, offset, message] of all findings in each of some sound buffers."""
        return self._answers("audit", cases)

    def mutate(self, count: int, seed: int, cases: Iterable[tuple[str, bytes]]) -> str:
        """Return what `mutate_cases.h` prints about so many damaged copies of sound buffers."""
        return self._run(("mutate", str(count), str(seed)), cases)

    def _answers(self, mode: str, cases: Iterable[tuple[str, bytes | bytearray]]) -> list[Any]:
        # Text in them may hold whatever else ends a line for `splitlines`.
        return [json.loads(line) for line in self._run(mode, cases).split("\n")[:-1]]

    def _run(
        self, mode: str | tuple[str, ...], cases: Iterable[tuple[str, bytes | bytearray]]
    ) -> str:
        sent = b"".join(b"%s %d\n%s" % (type_.encode(), len(data), data) for type_, data in cases)
        arguments = (mode,) if isinstance(mode, str) else mode
        command = [str(self.program), *arguments]
        result = subprocess.run(command, input=sent, capture_output=True, check=False)
        assert result.returncode == 0, result.stderr.decode(errors="replace")[:4000]
        return result.stdout.decode()


def _answer(fields: dict[str, Any]) -> Fault | int:
    return int(fields["sum"]) if "sum" in fields else Fault(**fields)
