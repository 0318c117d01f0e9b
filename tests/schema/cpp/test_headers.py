"""Every generated header compiles on its own, without a warning, with every compiler there is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .building import HEADERS, NO_RUNTIME, WARNINGS, compilers

OURS = sorted(path.relative_to(HEADERS).as_posix() for path in HEADERS.rglob("*.h"))
READERS = ("wire.h", "verify.h", "enums.h", "views.h", "verifier.h", "audit.h")


def compiles(folder: Path, header: str, compiler: str, *flags: str) -> str:
    """Return what the compiler says about a file that only includes `header`."""
    command = [compiler, "-std=c++17", "-fsyntax-only", *WARNINGS, *flags, f"-I{folder}"]
    source = f'#include "{header}"\n#include "{header}"\nint main() {{}}\n'
    result = subprocess.run(
        [*command, "-x", "c++", "-"], input=source, capture_output=True, text=True, check=False
    )
    return result.stderr


def test_there_are_headers() -> None:
    assert len(OURS) > 8
    assert {Path(header).name for header in OURS} >= set(READERS)


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("header", OURS)
def test_a_header_needs_no_other(compiler: str, header: str) -> None:
    assert compiles(HEADERS, header, compiler) == ""


@pytest.mark.parametrize("compiler", compilers())
@pytest.mark.parametrize("header", [name for name in OURS if Path(name).name in READERS])
def test_a_reader_needs_neither_exceptions_nor_type_information(compiler: str, header: str) -> None:
    assert compiles(HEADERS, header, compiler, *NO_RUNTIME) == ""


@pytest.mark.parametrize("compiler", compilers())
def test_names_that_mean_something_in_cpp_compile(compiler: str, shapes_headers: Path) -> None:
    headers = [path.relative_to(shapes_headers) for path in shapes_headers.rglob("*.h")]
    assert len(headers) > 8
    for header in headers:
        assert compiles(shapes_headers, header.as_posix(), compiler) == ""


def test_reading_and_verifying_allocate_nothing(
    compiler: str, corpus: Path, tmp_path: Path
) -> None:
    program = tmp_path / "allocations"
    source = Path(__file__).with_name("allocations.cpp")
    command = [compiler, "-std=c++17", "-O1", f"-I{HEADERS}", f"-I{source.parent}"]
    subprocess.run([*command, source, "-o", program], check=True)
    result = subprocess.run(
        [program, corpus / "dev_addmul.pte"], capture_output=True, text=True, check=True
    )
    assert result.stdout == "sound: 0 allocations, damaged: 0 allocations\n"
