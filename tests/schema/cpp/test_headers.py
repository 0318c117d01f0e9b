"""Every generated header compiles on its own, without a warning, with every compiler there is."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from .building import HEADERS, NO_RUNTIME, WARNINGS, compilers

READERS = ("wire.h", "verify.h", "verify_result.h", "enums.h", "views.h", "verifier.h")
"""What must not need exceptions or type information; packing may use both."""


def headers(folder: Path) -> list[str]:
    """Return the headers of an include folder as an `#include` spells them."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.h"))


def complaints(folder: Path, included: Iterable[str], compiler: str, *flags: str) -> str:
    """Return what the compiler says about a file that includes headers, each of them twice."""
    lines = [f'#include "{header}"\n' for header in included]
    command = [compiler, "-std=c++17", "-fsyntax-only", *WARNINGS, *flags, f"-I{folder}"]
    result = subprocess.run(
        [*command, "-x", "c++", "-"],
        input="".join(lines + lines),
        capture_output=True,
        text=True,
        check=False,
    )
    return result.stderr


def test_there_are_headers_of_every_kind() -> None:
    assert {Path(header).name for header in headers(HEADERS)} >= {*READERS, "audit.h", "writer.h"}


@pytest.mark.parametrize("header", headers(HEADERS))
def test_a_header_needs_no_other(compiler: str, header: str) -> None:
    flags = NO_RUNTIME if Path(header).name in READERS else ()
    assert complaints(HEADERS, [header], compiler, *flags) == ""


@pytest.mark.parametrize("compiler_name", compilers())
def test_every_compiler_takes_all_headers_without_a_warning(compiler_name: str) -> None:
    assert complaints(HEADERS, headers(HEADERS), compiler_name) == ""


@pytest.mark.parametrize("compiler_name", compilers())
def test_every_compiler_takes_names_that_mean_something_in_cpp(
    compiler_name: str, shapes_headers: Path
) -> None:
    included = headers(shapes_headers)
    assert len(included) > 8
    assert complaints(shapes_headers, included, compiler_name) == ""


def test_modules_that_need_each_other_can_be_included_in_any_order(
    compiler: str, shapes_headers: Path
) -> None:
    both = [f"placewire/schema/{module}/verifier.h" for module in ("shapes", "mirrors")]
    assert complaints(shapes_headers, both, compiler, *NO_RUNTIME) == ""
    assert complaints(shapes_headers, reversed(both), compiler, *NO_RUNTIME) == ""


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
